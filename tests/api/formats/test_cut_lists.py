"""A list that `limit` cuts says how many rows there are and where the next begin; for Excel in words in its last line."""

import csv
import io
import re
from urllib.parse import quote

import pytest

LISTS = (
    "/cost.csv?model=resnet50&target=0.757&limit=7",
    "/cost?model=resnet50&target=0.757&limit=7&label=%C3%A4%26b",
    "/cost.xlsx?model=resnet50&target=0.757&limit=7",
    "/throughput.csv?model=resnet50",
    "/offers.csv?provider=lambda&limit=3",
    "/offers.csv?provider=lambda&limit=3&currency=EUR",
    "/offers?provider=lambda,aws&provider=gcp&limit=3&offset=4",
    "/offers/changes.csv?since=2025-06-01&limit=5",
    "/offers/history.csv?instance_type=p3.8xlarge&limit=5",
)
WHOLE = (
    "/cost.csv?model=resnet50&target=0.757&instance_type=p3.8xlarge&purchase=on_demand&limit=1000",
    "/cost.csv?model=resnet50&target=0.757&limit=7&offset=1000000",
    "/offers.csv?provider=lambda",
    "/offers.csv?provider=lambda&limit=100000",
    "/accuracy.csv?model=resnet50&budget=20&limit=1",
    "/cost.svg?model=resnet50&target=0.757&limit=1",
)
TOLD = r"(\d[\d,]*) of (\d[\d,]*) rows are left out here. The next row has offset=(\d+)."


def total(response):
    return int(response.headers["X-Total-Count"])


def next_of(response):
    [(path, relation)] = re.findall(r'^<([^>]*)>; rel="(\w+)"$', response.headers["Link"])
    assert relation == "next"
    return path


def rows_of(text, sep=","):
    return list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=sep))[1:]


@pytest.mark.parametrize("path", LISTS)
def test_a_cut_list_says_how_many_there_are_and_where_the_next_begin(client, path):
    first = client.get(path)
    second = client.get(next_of(first))
    assert second.status_code == 200
    assert total(second) == total(first)
    assert next_of(second) != next_of(first)
    assert second.content_type == first.content_type
    if first.is_json:
        name = "estimates" if "estimates" in first.json else "offers"
        assert first.json["count"] == total(first)
        assert second.json[name][0] not in first.json[name]


def test_following_the_links_gives_every_row_once(client):
    path, pages = "/offers.csv?provider=lambda&limit=20&label=x", []
    while path:
        response = client.get(path)
        pages += rows_of(response.text)
        path = next_of(response) if "Link" in response.headers else None
    assert pages == rows_of(client.get("/offers.csv?provider=lambda&label=x").text)
    assert "X-Total-Count" not in response.headers  # the last page is no longer cut


@pytest.mark.parametrize("path", WHOLE)
def test_what_is_whole_or_no_list_says_nothing(client, path):
    headers = client.get(path).headers
    assert "X-Total-Count" not in headers
    assert "Link" not in headers


@pytest.mark.parametrize("path", LISTS[:4])
def test_head_and_repeated_answers_say_the_same(client, path):
    told = [
        [response.headers[name] for name in ("X-Total-Count", "Link")]
        for response in (client.head(path), client.get(path), client.get(path))
    ]
    assert told[0] == told[1] == told[2]


def test_below_a_path_the_link_names_it(client):
    response = client.get("/offers?provider=lambda&limit=2", environ_overrides={"SCRIPT_NAME": "/costs"})
    assert next_of(response).startswith("/costs/offers?")


@pytest.mark.parametrize("path", [path for path in LISTS if ".csv" in path])
@pytest.mark.parametrize("sep", [",", ";"])
def test_a_cut_sheet_for_excel_says_so_in_its_last_line(client, path, sep):
    response = client.get(f"{path}&excel=1&sep={quote(sep)}")
    *rows, last = rows_of(response.text, sep)
    [(left, there, offset)] = re.findall(TOLD, last[0])
    assert len(last) == 1
    assert int(there.replace(",", "")) == total(response)
    assert int(left.replace(",", "")) == total(response) - int(offset)
    assert len(rows) == len(rows_of(client.get(path).text))


NOTHING = "/cost.csv?model=resnet50&target=0.757&accelerator=GB200&accelerators=8"


def test_a_sheet_without_rows_says_why_beside_it_and_to_excel_in_a_last_line(client):
    response = client.get(NOTHING)
    told = response.headers["X-Message"]
    assert told.startswith("no estimate answers this question; left out: ")
    assert "without a filter on accelerators" in told
    assert response.text.startswith("rank,")
    assert rows_of(response.text) == []
    assert rows_of(client.get(f"{NOTHING}&excel=1").text)[-1] == [told]
    assert "X-Message" not in client.get(LISTS[0]).headers
    assert (
        client.get("/offers.csv?provider=kaggle&purchase=spot").headers["X-Message"] == "no row answers this question"
    )


def test_a_whole_sheet_and_one_for_programs_have_rows_alone(client):
    for path in (LISTS[0], f"{WHOLE[0]}&excel=1"):
        assert "left out" not in client.get(path).text
