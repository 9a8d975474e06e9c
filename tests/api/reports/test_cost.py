"""`GET /cost`: the contract's keys in their order, the same figures in every form, answers kept and tagged."""

import csv
import io
import json
from datetime import datetime
from decimal import Decimal

import pytest
from support.services import NOW, SNAPSHOT, packaged_service, words

from api.web.app import create_app

ASKED = "/cost?model=resnet50&target=0.757&limit=5"
ESTIMATE_KEYS = words(
    """
    rank frontier provider region instance_type nodes accelerator accelerators accelerator_memory_gib
    purchase_option term payment model dataset metric target recipe epochs global_batch_size precision
    images_per_second train_hours overhead_hours hours hours_low hours_high retry_hours calendar_hours
    success_probability hourly_rate effective_cost effective_cost_low effective_cost_high billed_cost
    billed_cost_low billed_cost_high break_even_hours currency evidence components sources assumptions
    vcpus limited_by price_age_days price_first_hand available available_at evidence_notes
    code usual_hours_low usual_hours_high usual_cost_low usual_cost_high energy_kwh carbon_kg
    recipe_kind recipe_command runs_here confirmed task better epochs_are pick offering_class
    tokens_per_second
    """
)
NESTED_COLUMNS = {
    "evidence": ["throughput_evidence", "convergence_evidence"],
    "sources": ["price_source", "price_observed_at", "throughput_source", "convergence_source"],
    "components": [],
    "assumptions": [],
    "evidence_notes": ["throughput_note", "convergence_note"],
}
DOCUMENT_KEYS = words(
    "query prices picks missed count verdict unconfirmed folded freshness estimates free rejections rejection_units "
    "best_reached"
)


@pytest.fixture(scope="module")
def answer(app):
    return json.loads(app.test_client().get(ASKED).data, parse_float=Decimal)


def test_the_answer_has_the_contracts_keys_in_order(answer):
    assert list(answer)[: len(DOCUMENT_KEYS)] == DOCUMENT_KEYS
    assert list(answer["prices"]) == ["snapshot", "as_of", "oldest_observed_at", "newest_observed_at", "gaps"]
    assert answer["prices"]["snapshot"] == SNAPSHOT
    assert len(answer["estimates"]) == 5 < answer["count"]
    for estimate in answer["estimates"]:
        assert list(estimate) == ESTIMATE_KEYS
        assert list(estimate["sources"]) == ["price", "throughput", "convergence"]


def test_the_question_is_repeated_with_every_default(answer):
    query = answer["query"]
    assert (query["metric"], query["limit"], query["max_price_age"], query["currency"]) == ("top1", 5, 540, "USD")
    assert query["as_of"] == answer["prices"]["as_of"] == NOW.isoformat().replace("+00:00", "Z")


def test_money_is_in_cents_and_components_add_up(answer):
    for estimate in answer["estimates"]:
        assert sum(Decimal(part["amount"]) for part in estimate["components"]) == Decimal(estimate["billed_cost"])
        assert -Decimal(estimate["billed_cost"]).as_tuple().exponent <= 2


def test_csv_has_the_same_figures_under_flat_names(client, answer):
    text = client.get(ASKED.replace("/cost?", "/cost.csv?")).get_data(as_text=True)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert list(rows[0]) == [name for key in ESTIMATE_KEYS for name in NESTED_COLUMNS.get(key, [key])]
    for row, estimate in zip(rows, answer["estimates"], strict=True):
        for name in ("hours", "hourly_rate", "billed_cost", "effective_cost_high", "success_probability"):
            assert float(row[name]) == pytest.approx(float(estimate[name]), rel=1e-5)
        assert row["price_source"] == estimate["sources"]["price"]["source"]
        assert row["term"] == (estimate["term"] or "")


@pytest.mark.parametrize(
    ("path", "headers", "kind"),
    [
        ("/cost", {}, "application/json"),
        ("/cost", {"Accept": "text/csv"}, "text/csv; charset=utf-8"),
        ("/cost?format=csv", {"Accept": "application/json"}, "text/csv; charset=utf-8"),
        ("/cost?format=JSON", {"Accept": "text/csv"}, "application/json"),
        ("/cost.csv", {"Accept": "application/json"}, "text/csv; charset=utf-8"),
        ("/cost.csv?format=csv", {}, "text/csv; charset=utf-8"),
    ],
)
def test_the_ending_then_format_then_accept_choose_the_form(client, path, headers, kind):
    joined = path + ("&" if "?" in path else "?") + "model=resnet50&target=0.757&limit=1"
    response = client.get(joined, headers=headers)
    assert (response.status_code, response.content_type) == (200, kind)


def test_a_csv_path_is_not_asked_for_json(client):
    response = client.get("/cost.csv?model=resnet50&target=0.757&format=json")
    assert response.status_code == 400
    assert response.get_data(as_text=True).startswith('"Error 400: format: /cost.csv is CSV: use /cost for json')


def test_names_are_understood_however_they_are_spelt(client):
    plain = client.get("/cost?model=resnet50&target=0.757&provider=aws&accelerator=V100-16GB&limit=1").json
    fancy = client.get("/cost?model=ResNet-50&target=.757&provider=AWS&accelerator=v100+16gb&limit=1&_=9").json
    assert plain == fancy
    assert plain["query"]["accelerator"] == ["V100"]


def test_a_currency_names_its_rate_and_day(client):
    answer = client.get("/cost?model=resnet50&target=0.757&currency=eur&as_of=2024-06-30&limit=1").json
    assert answer["query"]["currency"] == "EUR"
    assert answer["exchange"]["date"] == "2024-06-28"
    assert 0.9 < answer["exchange"]["per_usd"] < 0.97


def test_a_target_nobody_reached_is_an_answer(client):
    answer = client.get("/cost?model=resnet50&target=0.99").json
    assert (answer["count"], answer["estimates"]) == (0, [])
    assert answer["rejections"]["target_never_reached"] > 0
    assert answer["best_reached"]["accuracy"] < 0.99


class TestKeptAnswers:
    """A repeated question costs nothing; an answer from other prices is never repeated."""

    @pytest.fixture
    def counted(self):
        service = packaged_service()
        calls = []

        class Counting(type(service)):
            def answered(self, asked):
                calls.append(asked.query)
                return super().answered(asked)

        prices = Swappable(service.prices.catalogue())
        return create_app(Counting(service.evidence, prices, lambda: NOW)).test_client(), calls, prices

    def test_the_second_time_the_bytes_are_replayed(self, counted):
        client, calls, _ = counted
        first, second = client.get(ASKED), client.get(ASKED)
        assert first.data == second.data
        assert dict(first.headers) == dict(second.headers)
        assert len(calls) == 1

    def test_a_client_that_has_the_answer_gets_304_before_it_is_computed(self, counted):
        client, calls, _ = counted
        etag = client.get(ASKED).headers["ETag"]
        reordered = "/cost?limit=5&target=.757&model=rn50"
        for url in (ASKED, reordered):
            response = client.get(url, headers={"If-None-Match": f'"other", {etag}'})
            assert (response.status_code, response.data, response.headers["ETag"]) == (304, b"", etag)
        assert len(calls) == 1

    def test_a_new_snapshot_is_a_new_answer(self, counted):
        client, calls, prices = counted
        etag = client.get(ASKED).headers["ETag"]
        prices.swap("another-snapshot")
        response = client.get(ASKED, headers={"If-None-Match": etag})
        assert response.status_code == 200
        assert response.headers["ETag"] != etag
        assert response.json["prices"]["snapshot"] == "another-snapshot"
        assert len(calls) == 2

    def test_another_form_or_question_has_another_tag(self, counted):
        client, _, _ = counted
        urls = (
            ASKED,
            f"{ASKED}&format=csv",
            f"{ASKED}&format=csv&excel=1",
            f"{ASKED}&sort=time",
            f"{ASKED}&as_of=2024-01-01",
        )
        assert len({client.get(url).headers["ETag"] for url in urls}) == len(urls)

    def test_errors_are_not_kept(self, counted):
        client, _, _ = counted
        bad = client.get("/cost?model=resnet50&target=200")
        assert "ETag" not in bad.headers
        assert bad.headers["Cache-Control"] == "no-store"

    def test_head_has_the_headers_of_get(self, counted):
        client, _, _ = counted
        head, get = client.head(ASKED), client.get(ASKED)
        assert (head.status_code, head.data) == (200, b"")
        assert head.headers["ETag"] == get.headers["ETag"]


class Swappable:
    """Prices whose snapshot changes name."""

    def __init__(self, catalogue):
        self._catalogue = catalogue

    def swap(self, snapshot):
        old = self._catalogue
        self._catalogue = type(old)(old.columns, old.vocabulary, snapshot)

    def catalogue(self):
        return self._catalogue

    def trouble(self):
        return None


def test_the_same_evidence_and_prices_tag_the_same_in_every_worker(app):
    other = create_app(packaged_service().changed())
    assert other.test_client().get(ASKED).headers["ETag"] == app.test_client().get(ASKED).headers["ETag"]


def test_each_estimate_says_what_it_rests_on_and_how_old_its_price_is(answer):
    for estimate in answer["estimates"]:
        observed = datetime.fromisoformat(estimate["sources"]["price"]["observed_at"])
        assert estimate["price_age_days"] == (NOW - observed).days
        assert estimate["limited_by"] == "accelerator"
        assert estimate["evidence_notes"]["throughput"] in estimate["assumptions"]
        assert all(note.endswith(".") for note in estimate["evidence_notes"].values())


def test_a_day_that_has_not_come_is_refused_and_a_month_or_year_that_runs_ends_today(client):
    for later in ("2030", "2026-12", "2026-11-21", "2026-11-20T12:05:01Z"):
        (told,) = client.get(f"{ASKED}&as_of={later}").json["errors"]["as_of"]
        assert "has not come" in told
    for now in ("2026", "2026-11", "2026-11-20"):
        assert client.get(f"{ASKED}&as_of={now}").json["query"]["as_of"] == "2026-11-20T23:59:59Z"
    assert "estimates" in client.get(f"{ASKED}&as_of=2026-11-20T12:05:00Z").json, (
        "what a server whose clock is fast has said"
    )


def test_a_training_by_word_takes_the_precision_that_is_asked_for(client):
    asked = "/cost?model=resnet50&epochs=90&accelerator=A100-40GB&accelerators=1&limit=1000"
    answers = {way: client.get(f"{asked}{way}").json["estimates"] for way in ("", "&precision=fp32")}
    hours = {way: min(each["hours"] for each in estimates) for way, estimates in answers.items()}
    assert hours["&precision=fp32"] > 1.5 * hours[""]
    entries = client.get("/cost?model=resnet50&target=0.757&training=record&precision=fp32").json
    assert entries["rejections"]["ran_otherwise"] > 0
    assert {each["precision"] for each in entries["estimates"]} <= {"fp32", "tf32"}
    assert "fp8" in client.get("/cost?model=resnet50&precision=fp8").json["errors"]["precision"][0]


@pytest.mark.parametrize("asked", ["", "&purchase=spot", "&basis=effective&currency=EUR", "&own=1xRTX4090&own_price=0"])
def test_the_verdict_alone_fits_in_three_kilobytes_with_the_figures_of_the_whole(client, asked):
    address = f"/cost?model=resnet50&target=0.757{asked}"
    reply, whole = client.get(f"{address}&fields=verdict"), client.get(address).json
    assert len(reply.data) < 3000
    assert reply.json["verdict"] == whole["verdict"]
    assert reply.json["query"]["model"] == "resnet50"
    assert "by_provider" not in reply.json["freshness"]
    assert [pick["name"] for pick in reply.json["picks"]] == [pick["name"] for pick in whole["picks"]]
    for short, full in zip(reply.json["picks"], whole["picks"], strict=True):
        for name in {*short} - {"name"}:
            figure = full["estimate"][name]
            assert short[name] == (pytest.approx(figure, abs=1e-4) if "hours" in name else figure)
    assert ("effective_cost" in reply.json["picks"][0]) == ("effective" in asked)


def test_the_verdict_alone_is_json(client):
    refused = client.get("/cost.csv?model=resnet50&target=0.757&fields=verdict", headers={"Accept": "application/json"})
    assert refused.status_code == 400
    assert "is for JSON" in refused.text


def test_every_recipe_is_listed_and_what_to_rent_reaches_the_target_surely(client):
    asked = "/cost?model=resnet50&target=0.757&instance_type=p4d.24xlarge&purchase=on_demand"
    best, every = (client.get(f"{asked}{more}").json["picks"][0]["estimate"] for more in ("", "&recipes=all"))
    assert every["success_probability"] >= 0.9
    assert every["billed_cost"] <= 1.1 * best["billed_cost"]
    assert (
        min(row["success_probability"] for row in client.get(f"{asked}&recipes=all&limit=1000").json["estimates"]) < 0.5
    )
