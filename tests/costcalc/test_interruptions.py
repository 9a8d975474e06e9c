"""Spot machines are interrupted as often as their cloud says of them at that time, and by a constant where it says nothing."""

from datetime import UTC, date, datetime
from itertools import pairwise
from math import exp

import pytest
from fakes.offers import offer

from costcalc.catalogue.catalogue import Catalogue
from costcalc.catalogue.stated import Statements
from costcalc.hardware import Machine
from costcalc.interruptions import LIFE_HOURS, MEASURED, RISK_OF_SHARE, RISKS, newest, observed_until
from costcalc.offer import PurchaseOption

FEBRUARY_2021, JUNE_2025 = date(2021, 2, 10), date(2025, 6, 28)
PLACE = ("aws", "p3.2xlarge", "us-west-1")


def test_hours_between_interruptions_follow_from_the_share_of_machines():
    assert [round(hours) for risk in RISKS[1:5] for hours in risk] == [118, 58, 38, 28, 22, 18, 16, 13]
    assert exp(-LIFE_HOURS / RISKS[RISK_OF_SHARE["15-20%"]].pessimistic) == pytest.approx(0.8)
    assert 1 - exp(-LIFE_HOURS / MEASURED.usual) == pytest.approx(0.5, abs=0.01)


def test_neighbouring_ranges_are_no_more_than_some_times_apart():
    usual = [risk.usual for risk in RISKS[1:]]
    assert all(1 < before / after < 4 for before, after in pairwise(usual))


def test_the_open_range_goes_by_machines_that_somebody_kept_running():
    running = {  # hours, and how often a machine was taken back: preemption/ of github.com/skypilot-org/spot-traces
        "us-east-1c": (56, 41), "us-east-1f, April": (105, 60), "us-west-2b": (141, 44), "us-west-2c, April": (130, 57),
        "us-east-1f, August": (420, 195), "us-east-2a": (1250, 75), "us-west-2c, August": (1396, 330),
    }  # fmt: skip
    hours, lost = (sum(counts) for counts in zip(*running.values(), strict=True))
    measured = RISKS[RISK_OF_SHARE[">20%"]]
    assert measured.usual == pytest.approx(hours / lost, rel=0.02)
    assert measured.pessimistic == pytest.approx(min(hours / lost for hours, lost in running.values()), rel=0.05)


def test_the_packaged_statements_are_those_of_two_dates(packaged_evidence):
    observed = packaged_evidence.interruptions
    assert {one.observed_on for one in observed} == {FEBRUARY_2021, JUNE_2025}
    places = [(one.observed_on, one.instance_type, region) for one in observed for region in one.regions.split()]
    assert len(places) == len(set(places)) == 1174
    before, between = (observed_until(observed, day) for day in (date(2021, 2, 9), FEBRUARY_2021))
    assert (before, between) == (0, sum(one.observed_on == FEBRUARY_2021 for one in observed))


@pytest.mark.parametrize(
    ("instance_type", "region", "year", "said"),
    [
        ("g4dn.xlarge", "us-east-1", 2020, "no figure"),
        (
            "g4dn.xlarge",
            "us-west-2",
            2024,
            "interrupted more than 20 % of its g4dn.xlarge in us-west-2 in the month to February 2021",
        ),
        (
            "g4dn.16xlarge",
            "eu-south-1",
            2026,
            "interrupted less than 5 % of its g4dn.16xlarge in eu-south-1 in the month to June 2025",
        ),
        ("made.up", "us-east-1", 2026, "no figure"),
    ],
)
def test_an_answer_says_who_says_it_and_when(ask, instance_type, region, year, said):
    rented = Machine("V100", 1, 16.0)
    spot = offer(
        provider="aws",
        instance_type=instance_type,
        region=region,
        machine=rented,
        purchase_option=PurchaseOption.SPOT,
        observed_at=datetime(year, 1, 1, tzinfo=UTC),
    )
    prices = Catalogue.from_offers([spot], "made up")
    as_of = datetime(year, 1, 2, tzinfo=UTC)
    (one,) = ask(0.757, prices=prices, as_of=as_of, nodes=1, limit=1, purchase=(PurchaseOption.SPOT,)).estimates
    sentence = next(
        text for text in one.assumptions if text.startswith("Spot: ") and "interruption per machine" in text
    )
    assert said in sentence
    assert ("in 48 h, in 12 h" in sentence) == (said == "no figure") == ("by assumption" in sentence)
    assert ("in 4.4 h, in 1.4 h" in sentence) == ("more than" in said) == ("measured in 2023" in sentence)


def test_what_came_with_a_rate_holds_from_then_on(ask, packaged_evidence):
    def spot(day, share, region):
        return offer(
            observed_at=datetime(2026, 11, day, tzinfo=UTC),
            provider="aws",
            instance_type="p3.2xlarge",
            region=region,
            machine=Machine("V100", 1, 16.0),
            purchase_option=PurchaseOption.SPOT,
            flags=(f"interrupted={share}",) if share else (),
        )

    said = ((2, "<5%", "us-west-1"), (4, "5-10%", "us-west-1"), (3, "rarely", "us-west-2"), (3, None, "us-east-1"))
    prices = Catalogue.from_offers([spot(*each) for each in said], "made up")
    statements = Statements.of(prices)
    known = statements.newest(prices, statements.until(date(2026, 11, 5)))
    assert [(one.share, one.regions, one.observed_on.day) for one in known] == [("5-10%", "us-west-1", 4)]
    asked = {"prices": prices, "purchase": (PurchaseOption.SPOT,), "nodes": 1, "regions": "all", "limit": 100}
    sentences = {
        (day, one.region): next(text for text in one.assumptions if "interruption per machine" in text)
        for day in (3, 5)
        for one in ask(0.757, as_of=datetime(2026, 11, day, tzinfo=UTC), **asked).estimates
    }
    assert "the provider interrupted less than 5 % " in sentences[3, "us-west-1"]
    assert "one interruption per machine in 118 h" in sentences[3, "us-west-1"]
    assert "one interruption per machine in 38 h" in sentences[5, "us-west-1"]
    assert all("June 2025" in sentences[5, region] for region in ("us-east-1", "us-west-2"))


def test_the_newest_statement_of_a_place_holds(packaged_evidence):
    known = newest(packaged_evidence.interruptions)
    assert known["aws", "g4dn.xlarge", "us-east-1"].observed_on == JUNE_2025
    assert known["aws", "g2.2xlarge", "ap-northeast-1"].observed_on == FEBRUARY_2021
