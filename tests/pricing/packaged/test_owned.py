"""Machines one owns and machines lent for nothing: their packaged rates, and what a run costs and waits on them."""

from datetime import UTC, datetime
from decimal import Decimal

import numpy as np
import pytest
from support.engine import answer, evidence
from support.services import packaged_catalogue
from support.stores import packaged_edition

from costcalc.answers import Estimate
from costcalc.catalogue.catalogue import OfferFilter
from costcalc.costing.bills import Bill, Terms, break_even_hours
from costcalc.duration.overheads import calendar_hours
from costcalc.offer import Offer, PurchaseOption, tariff
from costcalc.query import Discount, EstimateQuery
from costcalc.units import in_words
from pricing.packaged.offers import read_packaged

OFFERS = packaged_edition().offers
CATALOGUE = packaged_catalogue()
NEWEST = datetime(2026, 11, 20, tzinfo=UTC)
SUMMER_2020 = datetime(2020, 6, 1, tzinfo=UTC)


def only(**facts: object) -> Offer:
    [found] = [each for each in OFFERS if all(getattr(each, name) == value for name, value in facts.items())]
    return found


def estimates(as_of: datetime, **question: object) -> tuple[Estimate, ...]:
    query = EstimateQuery("resnet50", 0.757, as_of=as_of, limit=1000, **question)  # type: ignore[arg-type]
    return answer(query, evidence(), CATALOGUE, NEWEST).estimates


BOX = only(provider="owned", instance_type="RTX 2080 Ti box")


def test_an_owned_machine_is_what_it_loses_in_its_life_and_its_electricity() -> None:
    assert (BOX.upfront, BOX.term, BOX.recurring_hourly) == (Decimal("1762.5"), "3y", Decimal("0.0675"))
    assert BOX.flags == ("stands_alone", "price=2350", "residual_share=0.25", "usd_per_kwh=0.15", "second_hand")
    assert abs(BOX.hourly_rate - (Decimal("1762.5") / 26280 + Decimal("0.0675"))) < Decimal("1e-9")


@pytest.mark.parametrize(("share", "cents"), [("0.1", "0.74"), ("0.5", "0.20")])
def test_an_hour_of_an_owned_machine_costs_more_the_less_it_is_used(share: str, cents: str) -> None:
    """A machine of 2,350 USD at 10 % and at 50 % of the hours of three years, for one of them."""
    hour = Bill(BOX, Terms(utilization=Decimal(share))).effective(Decimal(1))
    assert round(hour, 2) == Decimal(cents)


def on_the_calendar(*figures: float | None) -> float:
    return float(calendar_hours(*np.array(figures, float)[:, None])[0])


def test_an_owned_machine_pays_off_against_one_rented_at_half_a_dollar() -> None:
    hours = break_even_hours(tariff(BOX), Decimal("0.50"))
    assert hours is not None
    assert round(hours) == 4075


def test_a_run_on_an_owned_machine_is_billed_the_whole_of_it() -> None:
    [run] = estimates(SUMMER_2020, purchase=(PurchaseOption.OWNED,), instance_type=("RTX 2080 Ti box",))
    assert (run.provider, run.region) == ("owned", "any")
    assert run.billed_cost == round(Decimal("1762.50") + Decimal(run.hours) * Decimal("0.0675"), 2)
    assert run.effective_cost == round(Decimal(run.hours) * BOX.hourly_rate, 2)
    assert any(
        said.startswith("Owned: billed cost is the machine's loss in value over its 3y life")
        for said in run.assumptions
    )


def test_towers_are_not_joined_to_clusters() -> None:
    asked = {"purchase": (PurchaseOption.OWNED,), "max_price_age": 5000}
    assert {run.nodes for run in estimates(NEWEST, **asked)} == {1}
    joined = {run.instance_type for run in estimates(NEWEST, **asked, nodes=4)}
    assert "DGX-1 (V100)" in joined
    assert "DGX Station (V100)" not in joined


def test_no_discount_lowers_what_an_owned_machine_and_its_electricity_cost() -> None:
    asked = {"purchase": (PurchaseOption.OWNED,), "instance_type": ("RTX 2080 Ti box",)}
    for half in (Discount(Decimal("0.5")), Discount(Decimal("0.5"), "owned")):
        assert [
            (run.billed_cost, run.effective_cost, run.hourly_rate)
            for run in estimates(SUMMER_2020, **asked, discount=(half,))
        ] == [(run.billed_cost, run.effective_cost, run.hourly_rate) for run in estimates(SUMMER_2020, **asked)]


def test_what_is_owned_comes_after_what_is_rented_by_the_hour() -> None:
    options = [each.purchase_option for each in estimates(SUMMER_2020, nodes=1)]
    assert PurchaseOption.OWNED in options
    assert options.index(PurchaseOption.OWNED) > options.index(PurchaseOption.ON_DEMAND)


def test_a_free_tier_costs_nothing_and_says_that_nobody_guarantees_it() -> None:
    found = estimates(NEWEST, purchase=(PurchaseOption.FREE,))
    assert {(each.provider, each.nodes) for each in found} == {("kaggle", 1), ("colab", 1)}
    for each in found:
        assert (each.billed_cost, each.effective_cost, each.hourly_rate) == (0, 0, 0)
        assert [said for said in each.assumptions if "not guaranteed" in said]
        assert any(said.startswith("Price flags: not guaranteed") for said in each.assumptions)
    long = estimates(NEWEST, purchase=(PurchaseOption.FREE,), recipe=("ffcv-rn50-88ep",), recipes="all")
    [slow] = [each for each in long if each.instance_type == "GPU T4 x2"]
    assert slow.calendar_hours == pytest.approx(on_the_calendar(slow.hours, 12, 30))
    assert slow.calendar_hours > slow.hours > 12


@pytest.mark.parametrize(
    ("day", "offered"),
    [
        (
            "2020-02-15",
            {
                *("baidu-ai-studio V100 12 84", "kaggle GPU K80 9 None", "kaggle GPU P100 9 30"),
                *(f"colab {machine} 12 None" for machine in ("K80", "P100", "T4", "TPU v2-8")),
            },
        ),
        (
            "2026-09-09",
            {
                *("colab T4 12 None", "colab TPU v5e-1 1.5 None"),
                *("kaggle GPU P100 12 30", "kaggle GPU T4 x2 12 30", "kaggle TPU v3-8 9 20"),
            },
        ),
        (
            "2026-11-22",
            {
                *("colab T4 12 None", "colab TPU v5e-1 1.5 None"),
                *("kaggle GPU T4 x2 12 30", "kaggle TPU v5e-8 9 20"),
            },
        ),
    ],
)
def test_a_free_tier_is_known_while_it_is_offered(day: str, offered: set[str]) -> None:
    current = CATALOGUE.current_offers(datetime.fromisoformat(day).replace(tzinfo=UTC))
    rows = CATALOGUE.allowed_rows(current, OfferFilter(purchase=(PurchaseOption.FREE,)))
    hours = "{0.provider} {0.instance_type} {0.session_hours:g} {1}"
    found = {
        hours.format(each, each.hours_per_week and f"{each.hours_per_week:g}") for each in map(CATALOGUE.offer, rows)
    }
    assert found == offered


def test_retired_machines_of_free_tiers_are_in_no_answer_of_today() -> None:
    found = {each.instance_type for each in estimates(NEWEST, purchase=(PurchaseOption.FREE,))}
    assert found
    assert not found & {"TPU v3-8", "GPU P100", "TPU v2-8"}


@pytest.mark.parametrize(("day", "hours_a_day"), [("2020-05-15", 12), ("2021-02-28", 10), ("2022-11-10", 8)])
def test_a_daily_quota_is_a_quota_of_seven_sessions_a_week(day: str, hours_a_day: float) -> None:
    seen = datetime.fromisoformat(f"{day}T00:00:00+00:00")
    tier = only(provider="baidu-ai-studio", observed_at=seen)
    assert (tier.session_hours, tier.hours_per_week) == (hours_a_day, 7 * hours_a_day)


def test_sixty_hours_of_work_take_some_five_days_at_twelve_hours_a_day() -> None:
    tier = only(provider="baidu-ai-studio", observed_at=datetime(2020, 5, 15, tzinfo=UTC))
    days = on_the_calendar(60, tier.session_hours, tier.hours_per_week) / 24
    assert days == pytest.approx(5.05)  # 60 h and six restarts of 6 min, at 12 h a day
    assert in_words(days * 24) == "5.1 days"


def test_a_corrupt_row_is_refused_by_file_and_line(tmp_path) -> None:  # type: ignore[no-untyped-def]
    import shutil

    from costcalc.evidence.tables import TableError
    from pricing.packaged.offers import EDITION
    from pricing.packaged.tables import packaged_folder

    for table in EDITION:
        shutil.copy(packaged_folder() / table.name, tmp_path / table.name)
    for name, old, new, complaint in [
        ("owned.csv", ",0.25,3,", ",1.25,3,", "line 2: a machine keeps 1.25 of its price after 3 years"),
        ("owned.csv", ",0.25,3,", ",0.25,0,", "line 2: a machine keeps 0.25 of its price after 0 years"),
        ("free_tiers.csv", ",12,84,", ",12,840,", "line 2: hours_per_week 840 is no number of hours in a week"),
        (
            "free_tiers.csv",
            ",12,84,",
            ",0.05,84,",
            "line 2: session_hours 0.05: write more than the 6 min that each session",
        ),
        ("free_tiers.csv", ",offered,", ",gone,", "line 2: status 'gone' is neither offered nor ended"),
        ("price_sources.csv", ",first,", ",third,", "line 3: hand 'third' is neither first nor second"),
    ]:
        whole = (packaged_folder() / name).read_text()
        (tmp_path / name).write_text(whole.replace(old, new, 1))
        with pytest.raises(TableError, match=f"{name}, {complaint}"):
            read_packaged(tmp_path)
        (tmp_path / name).write_text(whole)
