"""Large sheets: as many rows as there are, in the memory of a few, and the same rows as JSON."""

import csv
import io
import tracemalloc
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from support.prices import many
from support.services import NOW, packaged_catalogue, service_of

from api.formats import csv_export
from api.questions.schemas.layout import Layout
from api.reports.prices.offers import OfferRow, offers_report
from api.reports.prices.rates import RateRow, selected
from api.stored import FixedPrices
from api.web.app import create_app
from api.web.replay import LARGEST
from api.web.responses import whole_or_streamed
from costcalc.catalogue.catalogue import Catalogue
from costcalc.fields import filled

MANY = 60_000


def report_of(catalogue, rows):
    report = offers_report(service_of(FixedPrices(catalogue)), catalogue, {})
    return replace(report, page=rows)


def chunks_of(report):
    return csv_export.chunks(csv_export.columns_of(OfferRow), report.rows(), Layout())


def peak_bytes(chunks):
    tracemalloc.start()
    size = sum(map(len, chunks))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return size, most


def test_many_rows_take_no_more_memory_than_a_tenth_of_them():
    catalogue = packaged_catalogue()
    rows = np.resize(selected(catalogue, NOW, {}), MANY)
    b"".join(chunks_of(report_of(catalogue, rows[:10])))  # what is worked out once
    tenth, whole = report_of(catalogue, rows[: MANY // 10]), report_of(catalogue, rows)
    small, few = peak_bytes(chunks_of(tenth))
    large, many_ = peak_bytes(chunks_of(whole))
    assert large > 9 * small > 9 * 2**20
    assert many_ < 1.5 * few < large / 2


def test_any_rows_are_written_piece_by_piece():
    columns = csv_export.columns_of(RateRow)
    catalogue = packaged_catalogue()
    taken = []

    def rows():
        for row in range(2000):
            taken.append(row)
            offer = catalogue.offer(row)
            yield filled(RateRow, offer.machine, offer)

    chunks = csv_export.chunks(columns, rows(), Layout())
    assert next(chunks).startswith(b"provider,")
    assert taken == []
    next(chunks)
    assert 0 < len(taken) < 1000
    assert sum(chunk.count(b"\r\n") for chunk in chunks) == 2000 - len(taken[: csv_export.ROWS_AT_ONCE])


@pytest.fixture(scope="module")
def large():
    catalogue = Catalogue.from_offers(many(12_000, "3.06"), "large")
    return create_app(service_of(FixedPrices(catalogue))).test_client()


def test_a_large_sheet_leaves_in_pieces_and_whole(large):
    response = large.get("/offers.csv", buffered=False)
    assert response.is_streamed
    assert "Content-Length" not in response.headers
    rows = list(csv.DictReader(io.StringIO(response.get_data(as_text=True), newline="")))
    assert len(rows) == 12_000
    assert {row["hourly_rate"] for row in rows} == {"3.06"}
    assert len(response.get_data()) > LARGEST
    etag = response.headers["ETag"]
    assert large.get("/offers.csv", headers={"If-None-Match": etag}).status_code == 304


def test_a_small_sheet_leaves_whole_and_is_kept(large):
    response = large.get("/offers.csv?limit=10", buffered=False)
    assert int(response.headers["Content-Length"]) == len(response.get_data())


def test_pieces_are_held_back_only_while_they_are_few():
    assert whole_or_streamed(iter([b"a", b"b"])) == [b"a", b"b"]
    endless = iter(lambda: b"x" * 1000, None)
    streamed = whole_or_streamed(endless)
    assert not isinstance(streamed, list)
    assert next(iter(streamed)) == b"x" * 1000


def test_the_answers_figures_are_the_sheets(client):
    asked = "model=resnet50&target=0.757&limit=30&currency=EUR&label=Q4"
    estimates = client.get(f"/cost?{asked}").json["estimates"]
    rows = list(csv.DictReader(io.StringIO(client.get(f"/cost.csv?{asked}").text, newline="")))
    for row, estimate in zip(rows, estimates, strict=True):
        assert Decimal(row["billed_cost"]) == Decimal(str(estimate["billed_cost"]))
        assert float(row["hours"]) == pytest.approx(estimate["hours"], rel=1e-5)
    assert list(rows[0])[-4:] == ["exchange_rate_per_usd", "exchange_rate_date", "exchange_rate_source", "label"]
    assert rows[0]["label"] == "Q4"
    plain = client.get("/cost.csv?model=resnet50&target=0.757").text.partition("\r\n")[0]
    assert plain.endswith(
        ",recipe_kind,recipe_command,runs_here,confirmed,task,better,epochs_are,pick,offering_class,tokens_per_second"
    )
