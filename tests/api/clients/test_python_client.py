"""A Python client generated from the document has every operation, and is told what HTTP tells."""

import io
import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import httpx
import pytest
from fakes.kept_runs import KeptRuns
from support.openapi import inlined
from support.sampled import sampled
from support.services import packaged_service

from api.web.app import create_app

CONFIG = Path(__file__).with_name("openapi-python-client.yaml")
KEPT = KeptRuns()
APP = create_app(packaged_service().changed(runs=KEPT, keeper=KEPT))
DOCUMENT = APP.test_client().get("/openapi.json").json
ASKED = [
    (path, operation)
    for path, methods in inlined(DOCUMENT)["paths"].items()
    for operation in methods.values()
    if path != "/slack/cost" and operation["operationId"] not in ("post_recipes", "delete_recipes_id")
]
SOME = sampled(ASKED, one_in=3)
NAME = "costcalc_client"


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """The generated package, in the path of imports while these tests run, and a client of the application in this process."""
    folder = tmp_path_factory.mktemp("python_client")
    (folder / "openapi.json").write_text(json.dumps(DOCUMENT))
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--path", "openapi.json", "--meta", "none"]
    made = subprocess.run(
        [*command, "--output-path", NAME, "--config", CONFIG],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    left_out = [line for line in made.stdout.splitlines() if line.startswith("WARNING")]
    assert {line.split(" within ")[0] for line in left_out} <= {f"WARNING parsing POST /plan{end}" for end in SHEETS}
    sys.path.insert(0, str(folder))
    transport = httpx.WSGITransport(app=APP)
    yield import_module(NAME).Client(base_url="http://localhost", httpx_args={"transport": transport})
    sys.path.remove(str(folder))


SHEETS = ("", ".csv", ".xlsx")  # it sends rows as JSON alone


def generated(operation):
    name = re.sub("_picture_.*", "_picture", operation["operationId"])
    return import_module(f"{NAME}.api.{operation['tags'][0]}.{name}")


def examples(operation):
    """What the document gives as examples of what is required, and few rows."""
    required = {each["name"]: each["example"] for each in operation["parameters"] if each.get("required")}
    is_list = any(each["name"] == "limit" for each in operation["parameters"])
    return required | ({"limit": 2} if is_list else {})


@pytest.mark.parametrize(("path", "operation"), SOME, ids=[each["operationId"] for _, each in SOME])
def test_every_operation_answers_a_generated_client(client, path, operation):
    asked = examples(operation)
    if "_picture_" in operation["operationId"]:
        asked["picture"] = path.rpartition(".")[2]
    if operation["operationId"].startswith("post_plan"):
        row = import_module(f"{NAME}.models").PlanRow.from_dict({"model": "resnet50", "target": 0.757})
        asked["body"] = [row]
    answered = generated(operation).sync_detailed(client=client, **asked)
    assert answered.status_code == 200
    assert answered.parsed is not None or path == "/cost.atom", "the generator reads no Atom"
    if "json" in answered.headers["Content-Type"] and path != "/openapi.json":
        assert written(answered.parsed.to_dict()) == written(json.loads(answered.content))


def written(document):
    """As text in which equal moments are equal, whichever way the client writes UTC."""
    return json.dumps(document, sort_keys=True).replace('+00:00"', 'Z"')


def test_a_run_is_sent_listed_and_removed(client):
    log = import_module(f"{NAME}.types").File(io.BytesIO(b"epoch,minutes,top1\n1,10,0.5\n2,20,0.7\n"))
    facts = {"accelerator": "1xV100-16GB", "batch_size": 256, "samples_per_epoch": 1281167, "dataset": "imagenet"}
    added = of_recipes("post_recipes").sync_detailed(client=client, body=log, name="sent", **facts)
    assert (added.status_code, added.parsed.id, added.parsed.reached) == (201, "sent", 0.7)
    assert [each.id for each in of_recipes("get_recipes").sync(client=client).recipes] == ["sent"]
    assert of_recipes("delete_recipes_id").sync_detailed("sent", client=client).status_code == 204
    assert of_recipes("get_recipes").sync(client=client).recipes == []


def of_recipes(name):
    return generated({"tags": ["recipes"], "operationId": name})


def test_a_question_at_fault_is_a_problem_with_the_parameter(client):
    answered = generated({"tags": ["cost"], "operationId": "get_cost"}).sync(
        client=client, model="resnet50", target=757
    )
    assert answered.errors.to_dict() == {
        "target": ['must be a fraction above 0 and at most 1 or a percentage, such as 0.757 or 75.7%; got "757"']
    }
