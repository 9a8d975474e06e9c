"""What an entity tag stands for, and which answers are kept: the same figures have the same tag, others never."""

from datetime import timedelta
from urllib.parse import unquote

import pytest
from flask import Response
from prometheus_client import REGISTRY
from support.services import NOW, packaged_catalogue, packaged_service, service_of

from api.questions.schemas.layout import Layout
from api.settings import Settings
from api.stored import FixedPrices
from api.web.app import create_app
from api.web.responses import name_file
from costcalc.catalogue.catalogue import Catalogue

ASKED = "/cost?model=resnet50&target=0.757&limit=1"


def replays():
    """How many answers came from memory so far."""
    [counted] = [each for each in REGISTRY.collect() if each.name == "costcalc_http_replays"]
    return sum(sample.value for sample in counted.samples if sample.name.endswith("_total"))


def tag(path=ASKED, now=NOW, snapshot=None):
    prices = packaged_catalogue() if snapshot is None else Catalogue.from_offers((), snapshot)
    return create_app(service_of(FixedPrices(prices), now)).test_client().get(path).headers["ETag"]


def test_a_tag_holds_for_a_day_and_for_whatever_is_asked_alike():
    assert tag() == tag() == tag(now=NOW + timedelta(hours=3)) == tag("/cost?target=0.7570&limit=1&model=ResNet-50")
    assert tag(f"{ASKED}&as_of=2026-06-30") == tag(f"{ASKED}&as_of=2026-06-30", now=NOW + timedelta(days=3))
    others = [
        tag(),
        tag(now=NOW + timedelta(days=1)),
        tag(snapshot="another"),
        tag(f"{ASKED}&as_of=2026-06-30"),
        tag(f"{ASKED}&as_of=2026-06-29"),
        tag(ASKED.replace("/cost", "/cost.csv")),
        tag(f"{ASKED}&format=csv&sep=;"),
        tag(ASKED.replace("0.757", "0.758")),
        tag(ASKED.replace("/cost", "/commitments")),
        tag("/offers/history?instance_type=p3.2xlarge"),
        tag("/offers/history?instance_type=p3.2xlarge&until=2025-01-01"),
    ]
    assert len(set(others)) == len(others)


@pytest.mark.parametrize("path", [ASKED, ASKED.replace("/cost", "/cost.csv"), "/offers?instance_type=p3.2xlarge"])
def test_who_has_the_answer_gets_no_body_and_the_second_answer_comes_from_memory(path):
    client = create_app(packaged_service()).test_client()
    before, first, between, again = replays(), client.get(path), replays(), client.get(path)
    assert (between, replays()) == (before, before + 1)
    assert again.data == first.data
    assert again.headers["ETag"] == first.headers["ETag"]
    for asked in (path, f"{path}&label="):  # from memory, and from Flask
        unchanged = client.get(asked, headers={"If-None-Match": first.headers["ETag"]})
        assert (unchanged.status_code, unchanged.data) == (304, b"")


@pytest.mark.parametrize(
    ("path", "asked", "spellings"),
    [
        ("/cost", "model=resnet50&target=0.757", ("target=.757&model=rn50", "model=ResNet-50&target=75.7%25&limit=")),
        ("/cost.csv", "model=resnet50&target=0.757", ("target=.7570&model=rn50",)),
        ("/cost.xlsx", "model=resnet50&target=0.757", ("target=.7570&model=rn50",)),
        ("/offers", "instance_type=p3.2xlarge", ("instance_type=P3.2xlarge",)),
    ],
)
def test_another_spelling_is_answered_from_memory(path, asked, spellings):
    client = create_app(packaged_service()).test_client()
    first = client.get(f"{path}?{asked}")
    for spelling in spellings:
        before, again = replays(), client.get(f"{path}?{spelling}")
        assert (replays(), again.data, again.headers) == (before + 1, first.data, first.headers), spelling
        assert client.get(f"{path}?{spelling}").data == first.data
        assert replays() == before + 2, "the second time without being parsed"


@pytest.mark.parametrize("headers", [{"Accept": "text/csv"}, {"Accept-Encoding": "gzip"}, {"Host": "b.example"}])
def test_an_answer_in_another_form_or_encoding_or_to_another_host_is_another(headers):
    client = create_app(packaged_service(), Settings(hosts=("b.example",))).test_client()
    client.get(ASKED)
    before = replays()
    client.get(f"{ASKED}&label=", headers=headers)
    assert replays() == before


def test_a_page_comes_from_memory_and_names_the_host_that_was_asked():
    client = create_app(packaged_service(), Settings(hosts=("a.example", "b.example"))).test_client()
    for host in ("a.example", "b.example"):
        first = client.get(ASKED.replace("/cost", "/"), headers={"Host": host})
        before, again = replays(), client.get(ASKED.replace("/cost", "/"), headers={"Host": host})
        assert (replays(), again.data) == (before + 1, first.data)
        assert f"http://{host}/cost.csv" in again.text


@pytest.mark.parametrize(
    "path", ["/cost?target=0.757", "/?model=none&target=0.7", "/nowhere", "/cost?model=none&target=0.7"]
)
def test_no_error_is_kept(path):
    client, before = create_app(packaged_service()).test_client(), replays()
    for _ in "ab":
        answer = client.get(path)
        assert answer.status_code >= 400
        assert "ETag" not in answer.headers
    assert replays() == before


@pytest.mark.parametrize(("tokens", "wanted"), [((), "public, max-age=60"), (("sesame",), "private, max-age=60")])
def test_only_an_open_service_lets_others_keep_its_answers(tokens, wanted):
    client = create_app(packaged_service(), Settings(api_tokens=tokens)).test_client()
    answer = client.get(ASKED, headers={"Authorization": "Bearer sesame"})
    assert answer.headers["Cache-Control"] == wanted
    asker = {"Authorization", "Cookie"} if tokens else set()
    assert {*answer.headers["Vary"].split(", ")} - {"Accept-Encoding"} == {"Accept", *asker}


@pytest.mark.parametrize("path", ["/cost?format=json&", "/cost.csv?", "/cost.svg?", "/cost?format=csv&"])
def test_an_answer_whose_address_names_its_form_varies_by_its_encoding_alone(path):
    answer = create_app(packaged_service()).test_client().get(f"{path}model=resnet50&target=0.757")
    assert answer.headers["Vary"] == "Accept-Encoding"


@pytest.mark.parametrize(
    ("spellings", "address"),
    [
        (
            ("/cost?target=75.7%25&model=ResNet-50&limit=20", "/cost?model=rn50&target=.757"),
            "/cost?model=resnet50&target=0.757",
        ),
        (("/cost?format=csv&model=resnet50&target=0.757&sep=;",), "/cost.csv?model=resnet50&target=0.757&sep=;"),
        (("/cost?fields=verdict&model=resnet50",), "/cost?model=resnet50&fields=verdict"),
    ],
)
def test_several_spellings_have_one_address(spellings, address):
    client = create_app(packaged_service()).test_client()
    for path in spellings:
        answer = client.get(path)
        assert unquote(answer.headers["Content-Location"]) == address
        assert client.get(answer.headers["Content-Location"]).data == answer.data


def test_a_large_answer_comes_whole_and_is_not_kept():
    client = create_app(packaged_service()).test_client()
    path = f"{ASKED}000&regions=all&recipes=all&training=record&format=csv&label={'x' * 100}&cost_center={'y' * 100}"
    before, large = replays(), client.get(path)
    assert len(large.data) > 1_048_576
    assert large.data.count(b"\r\n") == 1001
    assert client.get(path).data == large.data
    assert replays() == before


def test_tags_are_weak_for_they_stand_for_figures_not_for_bytes():
    assert tag().startswith('W/"')


@pytest.mark.parametrize(
    ("asked", "status", "told"),
    [
        ("/cost.svg?model=resnet50&target=0.757", 200, "image/svg+xml"),
        ("/cost.svg?model=resnet50&target=0.757&format=csv", 400, "use /cost for csv"),
        ("/cost.csv?model=resnet50&target=0.757&format=json", 400, "/cost.csv is CSV: use /cost for json"),
        ("/cost?model=resnet50&target=0.757&profile=focus", 400, "focus is a CSV format"),
        ("/cost?model=resnet50&target=0.757&profile=focus&format=csv", 200, "BilledCost"),
    ],
)
def test_a_form_that_a_path_does_not_have_is_refused(client, asked, status, told):
    answer = client.get(asked)
    assert answer.status_code == status
    assert told in answer.text + answer.content_type


@pytest.mark.parametrize(
    ("method", "path", "accept", "kind"),
    [
        ("GET", "/cost?model=none&target=0.7", "text/html", "text/html"),
        ("GET", "/cost?model=none&target=0.7&format=json", "text/html", "application/problem+json"),
        ("GET", "/cost?model=none&target=0.7", "application/json, text/html;q=0.9", "application/problem+json"),
        ("POST", "/plan?currency=none", "text/html", "application/problem+json"),
        ("GET", "/cost?model=none&target=0.7", "text/csv", "text/csv"),
        ("GET", "/cost?model=none&target=0.7&format=csv", "*/*", "text/csv"),
        ("GET", "/cost.csv?model=none&target=0.7", "*/*", "text/csv"),
        ("GET", "/cost?model=none&target=0.7", "*/*", "application/problem+json"),
    ],
)
def test_an_error_has_the_form_of_the_answer(client, method, path, accept, kind):
    answer = client.open(path, method=method, headers={"Accept": accept}, follow_redirects=True)
    assert answer.status_code >= 400
    assert answer.content_type.partition(";")[0] == kind


def test_a_page_shows_some_rows_of_a_list_and_programs_get_all(client):
    page = client.get("/offers?provider=aws", headers={"Accept": "text/html"}).text
    whole = client.get("/offers?provider=aws").json["offers"]
    assert 10 < page.count("<tr") < len(whole)


@pytest.mark.parametrize(("path", "kind"), [("/plan", "text/html"), ("/plan.csv", "text/csv")])
def test_a_browser_gets_the_page_of_a_path_and_the_files_that_it_asks_for(client, path, kind):
    response = client.get(f"{path}?model=resnet50&target=0.757", headers={"Accept": "text/html"})
    assert (response.status_code, response.mimetype) == (200, kind)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/cost.xlsx?model=resnet50&target=0.757", "cost-resnet50-0.757.xlsx"),
        ("/cost.csv?model=resnet50&target=0.757&excel=1", "cost-resnet50-0.757.csv"),
        ("/cost.csv?model=resnet50&target=0.757", None),
        ("/cost?model=resnet50&target=0.757", None),
    ],
)
def test_only_workbooks_and_sheets_for_excel_are_saved_under_a_name(client, path, name):
    told = client.get(path).headers.get("Content-Disposition")
    assert told == (name and f'attachment; filename="{name}"')


def test_the_name_of_a_file_has_letters_digits_dots_and_hyphens_alone():
    saved = name_file(Response(), 'cost-my "run"/50_v1.5.xlsx', Layout())
    assert saved.headers["Content-Disposition"] == 'attachment; filename="cost-my--run--50_v1.5.xlsx"'
    assert "Content-Disposition" not in name_file(Response(status=304), "cost.xlsx", Layout()).headers


def test_the_address_of_the_next_rows_has_no_token(service):
    client = create_app(service, Settings(api_tokens=("sesame",))).test_client()
    link = client.get("/offers?limit=1&token=sesame").headers["Link"]
    assert "limit=1&offset=1" in link
    assert "sesame" not in link
