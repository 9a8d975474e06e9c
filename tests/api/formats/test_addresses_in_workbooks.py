"""Every workbook has an address in front that asks for it again, and that address opens."""

import io

import pytest
from openpyxl import load_workbook

from api.forms.register import QUESTIONS

ASKED = "model=resnet50&target=0.757"
OPENED = {"history": "instance_type=p3.8xlarge", "compare": f"{ASKED}&a=aws:p3.8xlarge&b=aws:p3.8xlarge:2",
          "accuracy": "model=resnet50&budget=50", "commitments": f"{ASKED}&runs_per_month=30", "mlperf": "model=rnnt",
          "cost": ASKED, "trend": f"{ASKED}&as_of=2018-06-01", "small": "model=mlp:784-100-10"}  # fmt: skip


@pytest.mark.parametrize("question", [each for each in QUESTIONS if "xlsx" in each.files], ids=lambda each: each.name)
def test_the_address_in_front_opens_the_same_workbook(client, question):
    asked = f"{question.path}.xlsx?{OPENED.get(question.name, 'limit=3' if 'limit' in question.schema.fields else '')}"
    book = load_workbook(io.BytesIO(client.get(asked).data))
    [address] = [cell.hyperlink.target for row in book["Summary"].iter_rows() for cell in row if cell.hyperlink]
    again = client.get(address.removeprefix("http://localhost"))
    assert again.status_code == 200, again.text
    assert load_workbook(io.BytesIO(again.data)).sheetnames == book.sheetnames
