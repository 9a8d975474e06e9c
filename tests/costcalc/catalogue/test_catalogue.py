"""The catalogue gives back what it was given, and what is current at a date agrees with a plain search."""

from datetime import datetime, timedelta
from decimal import Decimal
from itertools import groupby

import numpy as np
import pytest
from fakes.offers import DAY, MACHINES, METERED, all_offers, amounts, monthly, offer, reserved
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from costcalc.catalogue import encoding
from costcalc.catalogue.catalogue import MOMENTS_KEPT, Catalogue, OfferFilter
from costcalc.catalogue.columns import Columns
from costcalc.hardware import Machine
from costcalc.offer import Gap, Offer, RatePart

histories = st.lists(
    st.builds(
        offer,
        region=st.sampled_from(["here", "there", "far"]),
        hourly_rate=amounts,
        observed_at=st.integers(0, 20).map(lambda day: DAY + timedelta(days=day)),
    ),
    max_size=12,
    unique_by=lambda one: (one.key, one.observed_at),
)
distinct = st.lists(all_offers, max_size=12, unique_by=lambda one: (one.key, one.observed_at))


def catalogue(*offers: Offer) -> Catalogue:
    return Catalogue.from_offers(offers, "test")


def offers_of(held: Catalogue, rows) -> list[Offer]:
    return [held.offer(row) for row in rows]


def searched(offers: list[Offer], as_of, days) -> tuple[list[Offer], int]:
    """What is current, by the plainest search there is, and how many offers are too old."""
    newest: dict[tuple[str, ...], Offer] = {}
    for rate in offers:
        counts, before = counting(rate), newest.get(rate.key)
        if counts[0] <= as_of and (before is None or counts >= counting(before)):
            newest[rate.key] = rate
    fresh = [one for one in newest.values() if one.observed_at >= as_of - timedelta(days=days)]
    return fresh, len(newest) - len(fresh)


def counting(rate: Offer) -> tuple[datetime, datetime]:
    """When it begins to count, and when it was seen."""
    return rate.announced_for or rate.observed_at, rate.observed_at


def in_order(offers) -> list[Offer]:
    return sorted(offers, key=lambda one: (one.key, *counting(one)))


@given(distinct)
def test_offers_come_back_exactly(offers):
    held = catalogue(*offers)
    assert len(held) == len(offers)
    assert in_order(offers_of(held, range(len(held)))) == in_order(offers)


@given(distinct)
def test_combinations_of_more_words_than_one_number_tells_apart_are_numbered_alike(offers):
    usual = catalogue(*offers).columns
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "LARGEST_CODE", 2)
        narrow = catalogue(*offers).columns
    assert (narrow.key.tolist(), narrow.group.tolist()) == (usual.key.tolist(), usual.group.tolist())


@given(distinct, st.randoms(use_true_random=False))
def test_the_order_of_offers_does_not_matter(offers, random):
    shuffled = random.sample(offers, len(offers))
    one, other = catalogue(*offers), catalogue(*shuffled)
    assert one.vocabulary == other.vocabulary
    for name in Columns.__struct_fields__:
        np.testing.assert_array_equal(getattr(one.columns, name), getattr(other.columns, name))


@given(distinct)
def test_bytes_hold_the_whole_catalogue(offers):
    gaps = (Gap("acme", "silent"),)
    held = catalogue(*offers)
    read = Catalogue.from_bytes(held.to_bytes(), "read", gaps)
    assert (read.snapshot, read.gaps) == ("read", gaps)
    assert read.vocabulary == held.vocabulary
    assert offers_of(read, range(len(read))) == offers_of(held, range(len(held)))
    assert read.to_bytes() == held.to_bytes()


@pytest.mark.parametrize("document", [b"", b"not a catalogue", b"PK\x05\x06" + b"\0" * 18])
def test_other_bytes_are_refused(document):
    with pytest.raises((ValueError, KeyError, EOFError)):
        Catalogue.from_bytes(document, "broken")


@given(distinct | histories, st.integers(-2, 25) | st.integers(0, 2010), st.integers(0, 25) | st.integers(0, 2100))
def test_current_is_the_newest_of_each_offer(offers, day, age):
    as_of = DAY + timedelta(days=day)
    held = catalogue(*offers)
    current = held.current_offers(as_of, age)
    fresh, stale = searched(offers, as_of, age)
    assert in_order(offers_of(held, current.listed)) == in_order(fresh)
    assert len(current.stale) == stale


@given(distinct)
def test_current_offers_are_grouped_with_the_cheapest_region_first(offers):
    held = catalogue(*offers)
    current = held.current_offers(DAY + timedelta(days=3000), 3000)
    groups = [list(rows) for _, rows in groupby(current.rows, lambda row: held.columns.group[row])]
    assert current.heads.tolist() == [sum(map(len, groups[:number])) for number in range(len(groups))]
    names = [{held.offer(row).key[:1] + held.offer(row).key[2:] for row in group} for group in groups]
    assert all(len(name) == 1 for name in names)
    assert len(set().union(*names, set())) == len(groups)
    for group in groups:
        rates = held.columns.hourly[group].tolist()
        assert rates == sorted(rates)


second_hand_or_not = st.lists(
    st.builds(
        offer,
        region=st.sampled_from(["here", "there", "far"]),
        purchase_option=st.sampled_from(METERED),
        hourly_rate=amounts,
        flags=st.sampled_from([(), ("zone=a",), ("second_hand",), ("rounded", "without_local_ssd")]),
    ),
    max_size=6,
    unique_by=lambda one: one.key,
)


@given(second_hand_or_not, st.sampled_from([(), ("here",), ("here", "far")]), st.sampled_from(["cheapest", "all"]))
def test_second_hand_rates_give_way_to_first_hand_ones_of_the_same_purchase(offers, regions, wanted):
    held, question = catalogue(*offers), OfferFilter(region=regions, regions=wanted)
    current = held.current_offers(DAY)
    passing = [one for one in offers if not regions or one.region in regions]
    known = {one.purchase_option for one in passing if one.first_hand}
    kept = [one for one in passing if one.first_hand or one.purchase_option not in known]
    if wanted == "cheapest":
        by_option = sorted(kept, key=lambda one: one.hourly_rate, reverse=True)
        kept_rates = {one.purchase_option: one.hourly_rate for one in by_option}
    found = offers_of(held, held.allowed_rows(current, question))
    if wanted == "all":
        assert in_order(found) == in_order(kept)
    else:
        assert {one.purchase_option: one.hourly_rate for one in found} == kept_rates
        assert len(found) == len(kept_rates)
    assert len(held.second_hand_rows(current, question)) == len(passing) - len(kept)
    assert held.first_hand.tolist() == [held.offer(row).first_hand for row in range(len(held))]


def test_of_one_offer_the_newest_observation_holds_whoever_made_it():
    said = offer(hourly_rate=Decimal(4))
    heard = offer(hourly_rate=Decimal(3), observed_at=DAY + timedelta(days=20), flags=("second_hand",))
    held = catalogue(said, heard)
    [row] = held.allowed_rows(held.current_offers(DAY + timedelta(days=30)), OfferFilter())
    assert held.offer(row) == heard


def test_an_offer_that_ended_is_known_only_before():
    end = DAY + timedelta(days=20)
    held = catalogue(offer(), offer(observed_at=end, flags=("ended",)), offer(region="there"))
    before, after = held.current_offers(end - timedelta(seconds=1)), held.current_offers(end)
    assert {one.region for one in offers_of(held, before.listed)} == {"here", "there"}
    assert {one.region for one in offers_of(held, after.listed)} == {"there"}
    assert len(held.current_offers(DAY + timedelta(days=600)).stale) == 1


def test_of_two_equal_observations_the_later_wins():
    first, second = offer(hourly_rate=Decimal(1)), offer(hourly_rate=Decimal(2))
    for pair in ([first, second], [second, first]):
        held = catalogue(*pair)
        assert offers_of(held, held.current_offers(DAY).rows) == [pair[1]]


def test_an_offer_is_current_from_its_observation_to_its_last_day():
    held = catalogue(offer())
    assert len(held.current_offers(DAY).rows) == 1
    assert len(held.current_offers(DAY - timedelta(seconds=1)).rows) == 0
    assert (
        len(held.current_offers(DAY + timedelta(days=540)).rows),
        len(held.current_offers(DAY + timedelta(days=540)).stale),
    ) == (1, 0)
    late = held.current_offers(DAY + timedelta(days=540, seconds=1))
    assert (len(late.rows), len(late.stale)) == (0, 1)


def test_an_old_price_is_not_revived_by_the_age_of_the_newest():
    held = catalogue(offer(), offer(observed_at=DAY + timedelta(days=100), hourly_rate=Decimal(9)))
    assert [one.hourly_rate for one in offers_of(held, held.current_offers(DAY + timedelta(days=50)).rows)] == [3]
    assert [one.hourly_rate for one in offers_of(held, held.current_offers(DAY + timedelta(days=600)).rows)] == [9]


def test_what_is_current_is_kept_and_the_oldest_forgotten():
    held = catalogue(*(offer(observed_at=DAY + timedelta(days=day)) for day in range(20)))
    first = held.current_offers(DAY)
    assert held.current_offers(DAY + timedelta(hours=3)) is first, "nothing was observed between"
    for day in range(MOMENTS_KEPT):
        held.current_offers(DAY + timedelta(days=day))
    assert held.current_offers(DAY) is first
    for day in range(MOMENTS_KEPT + 1):
        held.current_offers(DAY + timedelta(days=day))
    assert held.current_offers(DAY) is not first


def test_the_first_observation_is_known():
    assert catalogue(offer(), offer(observed_at=DAY - timedelta(days=7))).first_observed_at == DAY - timedelta(days=7)
    assert catalogue().first_observed_at is None
    assert len(catalogue().current_offers(DAY).rows) == 0


def test_rates_that_do_not_end_are_kept_exactly():
    month = monthly(monthly=Decimal(7500), hourly_rate=Decimal(7500) / 730)
    term = reserved(upfront=Decimal(1), hourly_rate=Decimal(1) / 8760 + 1)
    held = catalogue(month, term)
    assert {one.hourly_rate for one in offers_of(held, range(2))} == {month.hourly_rate, term.hourly_rate}


def test_a_month_known_by_its_hour_keeps_that_hour():
    month = monthly(monthly=None, hourly_rate=Decimal("1.5"))
    assert catalogue(month).offer(0) == month


def test_parts_keep_their_names():
    tpu = offer(parts=(RatePart("Cloud TPU v2-8", Decimal("6.50")), RatePart("host n1=4", Decimal("0.19"))))
    assert catalogue(tpu).offer(0).parts == tpu.parts


def test_shapes_and_instances_are_known():
    held = catalogue(*(offer(instance_type=name, machine=machine) for name, machine in MACHINES.items()))
    assert held.shapes == (("V100", 1, 0), ("V100", 8, 0), ("Xeon", 0, 64))
    for name, machine in MACHINES.items():
        code = held.instance_code["acme", name]
        assert held.shapes[held.shape_of_instance[code]] == machine.shape


def test_one_instance_type_is_one_machine():
    with pytest.raises(ValueError, match="acme one is given two machines: check its hardware facts"):
        catalogue(offer(), replace(offer(), region="there", machine=Machine("T4", 1)))


def test_a_catalogue_of_the_newest_knows_the_present_and_no_earlier_than_it_says():
    whole = catalogue(offer())
    newest = Catalogue(whole.columns, whole.vocabulary, "newest", known_since=int(DAY.timestamp()))
    moments = (None, DAY, DAY - timedelta(seconds=1))
    assert [newest.knows(moment) for moment in moments] == [True, True, False]
    assert all(map(whole.knows, moments))


def test_it_says_when_what_passes_a_filter_was_last_observed():
    held = catalogue(offer(), replace(offer(), observed_at=DAY - timedelta(days=900), region="long ago"))
    seen = {
        region: held.last_seen(DAY, OfferFilter(region=(region,))) for region in (offer().region, "long ago", "never")
    }
    assert seen == {offer().region: DAY, "long ago": DAY - timedelta(days=900), "never": None}
