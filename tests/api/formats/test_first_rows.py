"""What one may act on comes first in every export, and what a row says of itself holds."""

import csv
import io
import random
from functools import cache
from itertools import islice
from urllib.parse import parse_qsl

import pytest
from openpyxl import load_workbook
from support.office import rows_of
from support.sampled import sampled
from support.services import packaged_service

from api.python import Session

GOALS = ("resnet50", "resnet50&target=0.757", "resnet50&target=0.93&metric=top5", "vit_b16&target=0.75", "bert-large",
         "llama2-70b-lora", "convnext_tiny", "mask-rcnn", "stable-diffusion-v2", "nanogpt")  # fmt: skip
TERMS = (
    "purchase=spot", "purchase=on_demand,reserved", "basis=effective", "sort=time", "recipes=all", "regions=all",
    "provider=aws,gcp,azure", "accelerator=H100,A100", "max_hours=30", "currency=EUR", "as_of=2026-06-01", "frontier=true",
    "own=1x RTX 4090&own_price=0", "rates=confirmed", "training=record", "overheads=none", "nodes=1", "pick=fastest",
    "region=europe", "hour_worth=100",
)  # fmt: skip
SAME = (
    "provider",
    "region",
    "instance_type",
    "nodes",
    "purchase_option",
    "term",
    "payment",
    "recipe",
    "offering_class",
)
SHOWN = ("provider", "region", "instance_type", "recipe", "purchase_option", "pick")


def drawn(number):
    """A question with up to three terms."""
    chance = random.Random(number)
    return "&".join([f"model={chance.choice(GOALS)}", "limit=50", *chance.sample(TERMS, chance.randrange(4))])


QUESTIONS = [drawn(number) for number in range(400)]


@cache
def asked(client, question):
    return client.get(f"/cost?{question}").get_json()


@pytest.fixture(scope="module")
def client(slack_app):
    return slack_app.test_client()


def first_of(row):
    """What a row of any export says of its estimate; None for an empty cell."""
    return tuple(row[name] if isinstance(row[name], str) and row[name] else None for name in SHOWN)


def csv_of(client, address):
    return list(csv.DictReader(io.StringIO(client.get(address).get_data(as_text=True))))


@pytest.mark.parametrize("question", sampled(QUESTIONS, one_in=16))
def test_every_export_begins_with_the_picks(client, question):
    whole = asked(client, question)
    rows = whole["estimates"]
    names = {}
    for pick in whole["picks"]:
        names.setdefault(pick["estimate"]["rank"], []).append(pick["name"])
    assert [*names] == list(range(1, len(names) + 1))
    assert [row["pick"] for row in rows] == [" ".join(names.get(row["rank"], ())) or None for row in rows]
    assert [row["rank"] for row in rows] == list(range(1, len(rows) + 1))
    assert len({tuple(row[name] for name in SAME) for row in rows}) == len(rows)
    listed = [first_of(row) for row in rows]
    assert [first_of(row) for row in csv_of(client, f"/cost.csv?{question}")] == listed
    if not rows:
        return
    focus = csv_of(client, f"/cost.csv?{question}&profile=focus")
    assert (focus[0]["x_Rank"], focus[0]["x_Pick"]) == ("1", rows[0]["pick"] or "")
    book = load_workbook(io.BytesIO(client.get(f"/cost.xlsx?{question}").data), read_only=True)
    [first, *_] = rows_of(islice(book["Estimates"].values, 2))
    assert (first["rank"], first_of(first)) == (1, listed[0])


@pytest.mark.parametrize("question", sampled(QUESTIONS, one_in=40, first=7))
def test_frames_and_the_explanation_begin_so_too(client, question):
    rows, given = asked(client, question)["estimates"], dict(parse_qsl(question))
    answer = Session(packaged_service()).cost(given.pop("model"), **given)
    assert list(map(first_of, answer.df().to_dict("records"))) == list(map(first_of, rows))
    lead, explained = answer.answer.lead if rows else None, client.get(f"/estimate?{question}").get_json()["estimate"]
    assert (explained and explained["rank"]) == (lead and lead.rank)
    if rows:
        assert client.get(f"/estimate?{question}&offset=0").get_json()["estimate"] == rows[0]
