"""What people do to the workbook: they sort and filter it, change its yellow cells, and print it; every figure stays right."""

import io
import re
from datetime import datetime
from decimal import Decimal
from functools import cache
from math import ceil
from random import Random
from urllib.parse import parse_qs
from zipfile import ZipFile

import pytest
from msgspec.structs import replace
from openpyxl import load_workbook
from support.office import convert, name_of, needs_office, recalculated_all, rows_of, sorted_again_and_again
from support.sampled import WHOLE, sampled
from support.services import service_of, words
from support.stores import packaged_edition

from api.stored import FixedPrices
from costcalc import rate_moves
from costcalc.catalogue.catalogue import Catalogue
from costcalc.offer import term_hours

ASKED = "model=resnet50&target=0.757"
MANY = (
    f"{ASKED}&provider=aws,gcp,lambda&purchase=on_demand,spot,reserved,savings_plan,committed_use,monthly&limit=30"
    "&storage_gb=150&egress_gb=10&utilization=0.6&currency=EUR&fx=EUR:0.9"
)
CHANGEABLE = f"{ASKED}&provider=aws,gcp&purchase=on_demand,spot,reserved,savings_plan,committed_use&limit=30"
UNCHANGED = (
    ASKED, MANY, "model=vit_b16&target=0.8&currency=EUR", "model=bert-large&limit=50", "model=resnet18&basis=effective",
    "model=convnext_tiny&purchase=spot", f"{ASKED}&pick=fastest&sort=time", f"{ASKED}&own=1x RTX 4090", f"{ASKED}&provider=verda",
)  # fmt: skip
KEYS = {
    "Estimates": ("rank",),
    "Rates": ("offer", "rate_of"),
    "Discounts": ("provider",),
}
ORDERS = (
    ("hours", "price_observed_at", "provider"),
    ("instance_type", "list_rate", "own_discount"),
    ("billed_cost", "instance_type", "provider"),
    ("recipe", "own_rate", "own_discount"),
    ("price_observed_at", "rate_of", "provider"),
)
SOME_ORDERS = sampled(ORDERS, one_in=3)
MONEY = words("billed_cost billed_cost_low billed_cost_high effective_cost effective_cost_low effective_cost_high")
PLACE = words("provider region instance_type nodes purchase_option term payment recipe")
PADDING = 0.7109375  # of a column, in characters
SEED, ROUNDS = 20261122, 3 if WHOLE else 1


@pytest.fixture(scope="module")
def fetched(app):
    """The workbook of a question, fetched once."""

    @cache
    def workbook(query):
        response = app.test_client().get(f"/cost.xlsx?{query}")
        assert response.status_code == 200, response.text
        return response.data

    return workbook


@pytest.fixture(scope="module")
def opened(fetched):
    """The same as openpyxl has it, for tests that change nothing: its formulas, or their values."""
    return cache(lambda query, values=False: load_workbook(io.BytesIO(fetched(query)), data_only=values))


def by_key(book, sheet):
    rows = rows_of(book[sheet].values)
    found = {tuple(row[name] for name in KEYS[sheet]): row for row in rows}
    assert len(found) == len(rows) > 0
    return found


def same(found, wanted):
    if isinstance(found, float | int) and isinstance(wanted, float | int):
        return found == pytest.approx(float(wanted), rel=1e-9, abs=1e-9)
    return (found or None) == (wanted or None)


def places(sheet):
    """The column of each name, from 0."""
    return {name_of(each.value): each.column - 1 for each in sheet[1]}


@needs_office
def test_sorted_by_any_column_and_filtered_every_figure_stays(fetched, tmp_path):
    path = tmp_path / "cost.xlsx"
    path.write_bytes(fetched(MANY))
    delivered = load_workbook(path, data_only=True)
    columns = {sheet: places(delivered[sheet]) for sheet in KEYS}
    orders = [
        {sheet: (columns[sheet][name], number % 2 == 0) for sheet, name in zip(KEYS, names, strict=True)}
        for number, names in enumerate(SOME_ORDERS)
    ]
    orders.append(
        {"Estimates": (columns["Estimates"]["provider"], "aws"), "Rates": (columns["Rates"]["provider"], "gcp")}
    )
    books = sorted_again_and_again(path, orders)
    ranks = {tuple(row["rank"] for row in rows_of(book["Estimates"].values)) for book in books}
    assert len(ranks) == len(SOME_ORDERS)
    for book in books:
        for sheet in KEYS:
            wanted, found = by_key(delivered, sheet), by_key(book, sheet)
            assert found.keys() == wanted.keys()
            for key, row in wanted.items():
                for name, value in row.items():
                    assert same(found[key][name], value), (sheet, key, name)
        for wanted, found in zip(delivered["Summary"].values, book["Summary"].values, strict=True):
            assert all(map(same, found, wanted))


class Edited:
    """A workbook in which some yellow cells are changed, and the questions whose answers it must show then."""

    def __init__(self, workbook, random):
        self.book = load_workbook(io.BytesIO(workbook))
        self.random = random
        self.offers = {}
        self.discounts = {}
        self.hours = {}

    def change_a_rate(self):
        sheet = self.book["Rates"]
        columns = places(sheet)
        row = self.random.randrange(2, sheet.max_row + 1)
        cell = sheet.cell(row, columns["list_rate"] + 1)
        rate = round(Decimal(repr(cell.value)) * Decimal(repr(self.random.uniform(0.3, 3))), 4)
        cell.value = float(rate)
        line = rows_of(sheet.values)[row - 2]
        known = next(offer for offer in known_offers() if is_of(offer, line))
        self.offers[known] = with_rate(self.offers.get(known, known), line, rate)

    def change_a_discount(self):
        sheet = self.book["Discounts"]
        row = self.random.randrange(2, sheet.max_row + 1)
        sheet.cell(row, 2).value = round(self.random.uniform(0.01, 0.5), 3)
        self.discounts[sheet.cell(row, 1).value] = sheet.cell(row, 2).value

    def change_hours(self):
        sheet = self.book["Estimates"]
        columns, row = places(sheet), self.random.randrange(2, sheet.max_row + 1)
        cell = sheet.cell(row, columns["hours"] + 1)
        cell.value = round(cell.value * self.random.uniform(0.2, 20), 3)
        self.hours[sheet.cell(row, 1).value] = cell.value

    @cache  # noqa: B019  three of them, for two tests each
    def service(self):
        offers = [self.offers.get(offer, offer) for offer in known_offers()]
        return service_of(FixedPrices(Catalogue.from_offers(offers, "changed")))

    def answer(self, service):
        """What the service answers where these rates and discounts hold: every region, so that each row has its match."""
        return service.answer(replace(self.query(service), regions="all", limit=1000), service.catalogue())

    def query(self, service):
        arguments = parse_qs(CHANGEABLE) | {"discount": [f"{name}:{share}" for name, share in self.discounts.items()]}
        return service.question(arguments, service.catalogue())[0]


@cache
def known_offers():
    """Of any age: what a recipe's own machine fed it with tells what its data pipeline does."""
    return [offer for offer in packaged_edition().offers if offer.provider in ("aws", "gcp")]


def is_of(offer, line):
    names = words("provider region instance_type purchase_option term payment offering_class")
    return all((getattr(offer, name) or None) == line[name] for name in names) and (
        offer.observed_at.replace(tzinfo=None) == line["price_observed_at"]
    )


def with_rate(offer, line, rate):
    """The offer with one of its list rates changed."""
    if line["rate_of"].endswith((" upfront", " recurring")):
        changed = replace(offer, **{"upfront" if line["rate_of"].endswith(" upfront") else "recurring_hourly": rate})
        return replace(changed, hourly_rate=changed.upfront / term_hours(changed.term) + changed.recurring_hourly)
    if offer.parts:
        parts = tuple(replace(part, hourly=rate) if part.name == line["rate_of"] else part for part in offer.parts)
        return replace(offer, parts=parts, hourly_rate=sum(part.hourly for part in parts))
    return replace(offer, hourly_rate=rate)


@pytest.fixture(scope="module")
def edited(fetched, tmp_path_factory):
    """Workbooks with four edits each, and their values as LibreOffice calculates them."""
    random = Random(SEED)
    all_edits = [Edited(fetched(CHANGEABLE), random) for _ in range(ROUNDS)]
    folder = tmp_path_factory.mktemp("edited")
    paths = [folder / f"{number}.xlsx" for number in range(ROUNDS)]
    for each, path in zip(all_edits, paths, strict=True):
        each.change_a_rate()
        each.change_a_rate()
        each.change_a_discount()
        each.change_hours()
        each.book.save(path)
    return list(zip(all_edits, recalculated_all(paths), strict=True))


def cents(value):
    return round(Decimal(repr(float(value))), 2)


@needs_office
def test_edits_change_estimates_as_the_service_answers(edited):
    for edit, book in edited:
        answer = edit.answer(edit.service())
        known = {tuple(getattr(estimate, name) for name in PLACE): estimate for estimate in answer.estimates}
        rows = {tuple(row[name] for name in PLACE): row for row in rows_of(book["Estimates"].values)}
        assert len(rows.keys() & known) >= 20  # the picks may stand beyond the thousand
        for place in rows.keys() & known:
            row, estimate = rows[place], known[place]
            wanted = figures(estimate, estimate.bill, edit.hours.get(row["rank"], estimate.hours))
            for name, value in wanted.items():
                if name in MONEY:
                    assert abs(cents(row[name]) - cents(value)) <= Decimal("0.01") * name.endswith(("_low", "_high")), (
                        name
                    )
                else:
                    assert same(row[name], value), (row["rank"], name)


def figures(estimate, bill, hours):
    """What depends on rates, discounts and hours, as the engine bills so many hours; the range keeps its proportions."""
    times = Decimal(repr(hours)) / Decimal(repr(estimate.hours))
    point, low, high = (
        Decimal(repr(each)) * times for each in (estimate.hours, estimate.hours_low, estimate.hours_high)
    )
    width = bill.terms.moves.after_days(estimate.price_age_days + estimate.hours / 24)
    factors = rate_moves.factors(width, float(point), float(low), float(high))
    cheaper, dearer = (Decimal(repr(each)) for each in factors)
    return {
        "hours": hours,
        "hours_low": float(low),
        "hours_high": float(high),
        "train_hours": estimate.train_hours * float(times),
        "overhead_hours": estimate.overhead_hours * float(times),
        "retry_hours": estimate.retry_hours * float(times),
        "calendar_hours": hours,
        "images_per_second": estimate.images_per_second / float(times),
        "hourly_rate": float(bill.effective_hourly(point)),
        "break_even_hours": estimate.break_even_hours,
        "billed_cost": bill.billed(point),
        "billed_cost_low": bill.billed(low, cheaper),
        "billed_cost_high": bill.billed(high, dearer),
        "effective_cost": bill.effective(point),
        "effective_cost_low": bill.effective(low, cheaper),
        "effective_cost_high": bill.effective(high, dearer),
    }


@needs_office
def test_the_summary_names_the_cheapest_and_fastest_after_the_edits(edited):
    for _, book in edited:
        rows = rows_of(book["Estimates"].values)
        told = {row[0]: row for row in book["Summary"].values}
        rows = [row for row in rows if row["share_if_picked"] is not None]
        assert told["cheapest to pay"][1] == min(row["billed_cost"] for row in rows if row["to_pay_if_picked"])
        assert told["cheapest by share of use"][2] == min(row["effective_cost"] for row in rows)
        fastest = min((row for row in rows if row["hours_if_picked"]), key=lambda row: row["hours"])
        assert told["fewest hours"][3] == fastest["hours"]
        assert fastest["instance_type"] in told["fewest hours"]


@needs_office
def test_after_no_changes_it_names_the_picks(fetched, tmp_path):
    paths = [tmp_path / f"{number}.xlsx" for number in range(len(UNCHANGED))]
    for path, query in zip(paths, UNCHANGED, strict=True):
        path.write_bytes(fetched(query))
    for query, book in zip(UNCHANGED, recalculated_all(paths), strict=True):
        lines = list(book["Summary"].values)
        told = {row[0]: row[1 : len(PLACE)] for row in lines}
        least = "cheapest by share of use" if "basis=effective" in query else "cheapest to pay"
        assert told[least] == told["cheapest"], query
        assert told["fewest hours"] == told["fastest"], query


def test_the_summary_starts_with_the_picks_and_free_tiers_and_their_reasons(client, opened):
    asked = client.get(f"/cost?{ASKED}").json
    book = opened(ASKED, values=True)
    rows = list(book["Summary"].values)
    first = next(number for number, row in enumerate(rows) if row[0] == "picked")
    assert first < 12
    shown = [(row[0], row[1], row[3], row[7], row[10]) for row in rows[first + 1 : first + 1 + len(asked["picks"])]]
    for row, pick in zip(shown, asked["picks"], strict=True):
        known = pick["estimate"]
        assert row == (
            pick["name"],
            known["billed_cost"],
            pytest.approx(known["hours"]),
            known["instance_type"],
            pick["reason"],
        )
    tiers = [row[7] for row in rows if row[0] == "free tier"]
    assert tiers == [tier["instance_type"] for tier in asked["free"]]


def test_picks_on_the_sheet_of_estimates_are_formulas_by_rank(client, opened):
    sheet = opened(ASKED)["Summary"]
    [cheapest] = [row for row in sheet.values if row[0] == "cheapest"]
    rank = client.get(f"/cost?{ASKED}").json["picks"][0]["estimate"]["rank"]
    assert cheapest[1] == f"=INDEX(estimates_billed_cost,MATCH({rank},estimates_rank,0))"


def test_dates_of_the_rates_shown_are_on_the_summary(opened):
    book = opened(CHANGEABLE, values=True)
    seen = [row["price_observed_at"] for row in rows_of(book["Estimates"].values)]
    [told] = [row for row in book["Summary"].values if row[0] == "rates shown, observed (UTC)"]
    assert told[1:3] == (min(seen), max(seen))


def test_every_sheet_prints_landscape_with_its_headings_repeated_and_in_some_six_points(opened):
    book = opened(CHANGEABLE)
    for sheet in book:
        setup = sheet.page_setup
        shown = (each for each in sheet.column_dimensions.values() if not each.hidden)
        width = sum((each.width - PADDING) * (each.max - each.min + 1) for each in shown)
        assert (setup.orientation, setup.fitToHeight) == ("landscape", 0)
        assert (setup.fitToWidth or 1) == (1 if sheet.title == "Summary" else ceil(width / 270))
        assert sheet.sheet_properties.pageSetUpPr.fitToPage
        if sheet.title != "Summary":
            assert sheet.print_title_rows == "$1:$1"
            assert sheet.freeze_panes.endswith("2")
            assert sheet.auto_filter.ref
    [chart] = book["Summary"]._charts
    assert chart.anchor._from.row + 19 < 45  # within the first page


def test_money_has_its_unit_in_the_heading_and_dates_are_dates(opened):
    book = opened(MANY, values=True)
    headings = {sheet.title: [cell.value for cell in sheet[1]] for sheet in book}
    assert "Billed cost (EUR)" in headings["Estimates"]
    assert "Hourly rate (EUR per hour)" in headings["Estimates"]
    assert "List rate (EUR per unit)" in headings["Rates"]
    for sheet in ("Estimates", "Rates"):
        rows = rows_of(book[sheet].values)
        assert all(isinstance(row["price_observed_at"], datetime | None) for row in rows)


def test_amounts_have_the_sign_of_their_currency_and_the_chart_the_names_of_the_picks(client, fetched, opened):
    book = opened(ASKED)
    columns = places(book["Estimates"])
    assert book["Estimates"].cell(2, columns["billed_cost"] + 1).number_format == '"$"#,##0.00'
    assert book["Rates"].cell(2, places(book["Rates"])["list_rate"] + 1).number_format.startswith('"$"')
    in_euro = opened(f"{ASKED}&currency=EUR")
    assert in_euro["Estimates"].cell(2, columns["billed_cost"] + 1).number_format.startswith('"€"')
    picks = {pick["name"] for pick in client.get(f"/cost?{ASKED}").json["picks"]}
    with ZipFile(io.BytesIO(fetched(ASKED))) as parts:
        chart = parts.read("xl/charts/chart1.xml").decode()
    assert picks <= {name for text in re.findall("<a:t>(.*?)</a:t>", chart) for name in text.split(", ")}


def test_columns_asked_for_are_shown_and_the_others_folded(opened):
    sheet = opened(f"{ASKED}&columns=vcpus,hours")["Estimates"]
    folded = {number for group in sheet.column_dimensions.values() if group.hidden
              for number in range(group.min, group.max + 1)}  # fmt: skip
    assert {name for name, place in places(sheet).items() if place + 1 not in folded} == {"vcpus", "hours"}


def test_an_as_of_of_the_question_is_a_date(opened):
    book = opened(f"{ASKED}&as_of=2026-05-01")
    told = {row[0]: row[1] for row in book["Summary"].values}
    assert isinstance(told["as_of"], datetime)
    assert told["prices of (UTC)"] == told["as_of"]


def test_what_a_sheet_cannot_compute_cannot_be_typed_over_and_has_an_address(client, opened):
    sheet = opened(CHANGEABLE)["Summary"]
    [refused] = sheet.data_validations.dataValidation
    rows = {row[0].value: row[1] for row in sheet.iter_rows() if row[0].value}
    assert rows["target"].coordinate in refused.sqref
    assert "Ask again" in refused.error
    address = rows["address on the service"].value
    assert address.startswith("http://localhost/cost.xlsx?model=resnet50&target=0.757&")
    assert rows["address on the service"].hyperlink.target == address
    assert client.get(address).status_code == 200


def test_a_rate_that_is_old_or_second_hand_is_marked(opened):
    book = opened(CHANGEABLE)
    for sheet in (book["Estimates"], book["Rates"]):
        columns, seen = places(sheet), set()
        for row in sheet.iter_rows(min_row=2):
            age, first_hand = row[columns["price_age_days"]], row[columns["price_first_hand"]]
            marked = [cell.fill.fgColor.rgb == "FFF8CBAD" for cell in (age, first_hand)]
            assert marked == [age.value > 30, not first_hand.value]
            assert first_hand.number_format.endswith('"FALSE"')  # LibreOffice shows 0 otherwise
            seen.add(tuple(marked))
        assert len(seen) > 1


@needs_office
@pytest.mark.parametrize("limit", sampled([20, 5], one_in=2))
def test_the_workbook_prints_on_five_pages(fetched, tmp_path, limit):
    path = tmp_path / "cost.xlsx"
    path.write_bytes(fetched(f"{ASKED}&limit={limit}"))
    printed = convert(path, "pdf", profile=tmp_path / "as_installed").read_bytes()
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 5
