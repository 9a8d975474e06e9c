"""Whatever goes wrong is told in our form: problem+json, or one cell of a sheet, and never a stack trace."""

import csv
import io

import pytest
from support.services import packaged_service, service_of

from api.questions.errors import NotReady
from api.settings import Settings
from api.web.app import create_app

GOOD = "model=resnet50&target=0.757"


def told(response, status):
    assert response.status_code == status
    assert response.content_type == "application/problem+json"
    problem = response.json
    assert set(problem) == {"type", "title", "status", "detail", "errors", "code", "links"}
    assert problem["status"] == status
    assert "Traceback" not in problem["detail"]
    return problem


@pytest.mark.parametrize(
    ("query", "parameter", "says"),
    [
        ("", "model", "missing: add model=resnet50"),
        ("model=resnetaa50d", "target", "missing: add target=0.757"),
        (f"{GOOD}&target=0.7", "target", "give it once"),
        ("model=resnet50&target=757", "target", "0.757"),
        ("model=resnet50&target=0", "target", "above 0"),
        ("model=resnet50&target=100.5", "target", "at most 1"),
        ("model=resnet50&target=nan", "target", "fraction"),
        ("model=resnet50&target=1e400", "target", "fraction"),
        (f"{GOOD}&targt=1", "targt", "did you mean target"),
        (f"{GOOD}&provider=amazn", "provider", "did you mean"),
        (f"{GOOD}&provider=awss", "provider", "did you mean aws"),
        (f"{GOOD}&region=us-east-11", "region", "us-east-1"),
        (f"{GOOD}&instance_type=p3.8xlrge", "instance_type", "p3.8xlarge"),
        (f"{GOOD}&accelerator=A100-40", "accelerator", "A100-40GB"),
        (f"{GOOD}&recipe=riseml-2018", "recipe", "riseml-2018-"),
        (f"{GOOD}&recipe=mlprf-*", "recipe", "did you mean mlperf-*"),
        (f"{GOOD}&discount=awss:0.1", "discount", "did you mean aws"),
        (f"{GOOD}&currency=EUQ", "currency", "EUR"),
        (f"{GOOD}&currency=HRK", "currency", "no rate of HRK"),
        (f"{GOOD}&as_of=2001-01-01", "as_of", "before our first price, of 2016"),
        (f"{GOOD}&limit=0", "limit", "from 1 to 1000"),
        (f"{GOOD}&limit=1000000", "limit", "from 1 to 1000"),
        (f"{GOOD}&dataset=cifar10", "dataset", "imagenet"),
        (f"{GOOD}&format=xml", "format", "xlsx"),
        (f"{GOOD}&provider={'x' * 10_000}", "provider", "10000 characters"),
        (f"{GOOD}&{'y' * 10_000}=1", f"{'y' * 60}...", "10000 characters"),
        (f"{GOOD}&region=%00%1b[31m", "region", '"??[31m"'),
        (f"{GOOD}&region=%ff%fe", "region", "unknown region"),
    ],
)
def test_bad_input_names_the_parameter_and_what_to_type(client, query, parameter, says):
    problem = told(client.get(f"/cost?{query}"), 400)
    assert says in problem["errors"][parameter][0]
    assert problem["errors"][parameter][0] in problem["detail"]
    assert len(problem["detail"]) < 1500


def test_every_fault_is_told_at_once(client):
    problem = told(client.get("/cost?model=resnet5&target=757&provider=awss&limt=3"), 400)
    assert set(problem["errors"]) == {"model", "target", "provider", "limt"}


def test_an_unknown_model_is_404_and_names_the_nearest(client):
    for path in ("/cost?model=resnet-51&target=0.7", "/models/resnet-51", "/throughput?model=resnet-51"):
        problem = told(client.get(path), 404)
        assert "did you mean resnet51q, resnet50" in problem["errors"]["model"][0]


def test_an_unknown_path_names_the_nearest(client):
    assert "did you mean /offers" in told(client.get("/ofers"), 404)["detail"]
    assert told(client.get("/robots.txt"), 404)["detail"].endswith("/docs lists every path")
    assert "/docs lists every path" in told(client.get("/" + "z" * 3000), 404)["detail"]


@pytest.mark.parametrize("method", ["post", "put", "delete", "patch"])
def test_a_wrong_method_says_which_are_right(client, method):
    response = getattr(client, method)("/cost")
    problem = told(response, 405)
    assert "GET" in response.headers["Allow"]
    assert "use GET" in problem["detail"]


def test_a_sheet_shows_the_message_in_one_cell(client):
    for response in (
        client.get("/cost.csv?model=resnet50&target=757"),
        client.get("/cost?model=resnet50&target=757&format=csv"),
        client.get("/cost?model=resnet50&target=757", headers={"Accept": "text/csv"}),
    ):
        assert (response.status_code, response.content_type) == (400, "text/csv; charset=utf-8")
        [[cell]] = csv.reader(io.StringIO(response.get_data(as_text=True)))
        assert cell.startswith("Error 400: target:")
        assert "0.757" in cell
    assert client.get("/cost.csv?model=nope&target=0.7").status_code == 404
    assert client.get("/ofers.csv").content_type == "text/csv; charset=utf-8"


def test_a_large_body_is_413_and_a_long_query_400(client):
    told(client.get("/cost", data=b"x" * (1024 * 1024 + 1)), 413)
    told(client.get("/cost?" + "&".join(f"_{n}={'x' * 90}" for n in range(500))), 400)


class NoPrices:
    def catalogue(self):
        raise NotReady("the price store is out of reach; ask again in a few seconds")

    def trouble(self):
        return "out of reach"

    def quarantined(self):
        return ()

    def answered_at(self):
        return ()

    def failing(self):
        return ()


def test_before_a_snapshot_is_loaded_everything_that_needs_prices_is_503():
    client = create_app(service_of(NoPrices())).test_client()
    for path in (f"/cost?{GOOD}", "/offers", "/throughput", "/readyz"):
        response = client.get(path)
        assert "out of reach" in told(response, 503)["detail"]
        assert response.headers["Retry-After"] == "5"
    assert client.get(f"/cost.csv?{GOOD}").get_data(as_text=True).startswith('"Error 503: the price store')
    for path in ("/healthz", "/models", "/models/resnet50", "/openapi.json", "/docs", "/metrics"):
        assert client.get(path).status_code == 200, path
    page = client.get("/")
    assert page.status_code == 503
    assert "out of reach" in page.get_data(as_text=True)


class BrokenPrices:
    def catalogue(self):
        raise RuntimeError("secret internals")

    def trouble(self):
        return None


def test_a_crash_is_500_without_its_cause_which_goes_to_the_log(caplog):
    client = create_app(service_of(BrokenPrices()), Settings(cache_answers=0)).test_client()
    problem = told(client.get("/readyz"), 500)
    assert "secret" not in problem["detail"]
    assert "secret internals" in caplog.text


class TestTokens:
    """Where tokens are set, one is needed, in a header or in the address; liveness stays open."""

    @pytest.fixture
    def guarded(self):
        return create_app(packaged_service(), Settings(api_tokens=("sesame", "other"))).test_client()

    def test_without_a_token_401(self, guarded):
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic sesame"}):
            response = guarded.get("/models", headers=headers)
            told(response, 401)
            assert response.headers["WWW-Authenticate"] == "Bearer"
        assert guarded.get("/offers.csv").get_data(as_text=True).startswith('"Error 401:')
        assert guarded.get("/healthz").status_code == 200

    def test_a_token_opens_and_what_was_kept_stays_closed_to_others(self, guarded):
        url = f"/cost?{GOOD}&limit=1"
        opened = guarded.get(url, headers={"Authorization": "Bearer sesame"})
        assert opened.status_code == 200
        assert opened.headers["Cache-Control"].startswith("private")
        assert guarded.get(url).status_code == 401
        assert guarded.get(url + "&token=other").status_code == 200

    def test_a_token_is_not_repeated(self, guarded):
        body = guarded.get(f"/cost?{GOOD}&limit=1&token=sesame").get_data(as_text=True)
        assert "sesame" not in body
