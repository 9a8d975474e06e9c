from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import force_setattr, replace
from support.prices import NOW, offer
from support.stores import packaged_edition

from costcalc.evidence import load_evidence
from costcalc.hardware import Machine
from costcalc.offer import Offer, Payment, PurchaseOption, RatePart
from pricing.checks import ListingRefused, SourceListing, in_words, shortened, sound, violations
from pricing.offer_flags import MARKETPLACE, PRICE_JUMP, SPOT_ABOVE_ON_DEMAND

KNOWN = frozenset({"V100", "A100-40GB"})
ON_DEMAND = offer("3.06")


def broken(*offers: Offer, before: dict[tuple[str, ...], Decimal] | None = None) -> list[str]:
    return [violation.sentence for violation in violations(listing(*offers, before=before))]


def listing(*offers: Offer, before: dict[tuple[str, ...], Decimal] | None = None) -> SourceListing:
    return SourceListing(offers, KNOWN, before or {}, NOW)


def spot(rate: str, **changes: Any) -> Offer:
    return offer(rate, purchase_option=PurchaseOption.SPOT, **changes)


def reserved(rate: str, payment: Payment, **changes: Any) -> Offer:
    return offer(rate, purchase_option=PurchaseOption.RESERVED, term="1y", payment=payment, **changes)


def with_v100s(rate: str, count: int, **changes: Any) -> Offer:
    machine = Machine("V100", count, 16.0)
    return offer(rate, instance_type=f"p3.{2 * count}xlarge", machine=machine, **changes)


LADDER = (
    reserved("1.80", Payment.ALL_UPFRONT),
    reserved("1.84", Payment.PARTIAL_UPFRONT),
    reserved("1.99", Payment.NO_UPFRONT),
)


def test_a_sound_listing_breaks_nothing() -> None:
    assert broken(ON_DEMAND, spot("0.92"), *LADDER, with_v100s("12.24", 4), with_v100s("24.48", 8)) == []


def test_a_rate_must_be_positive() -> None:
    free = replace(ON_DEMAND, purchase_option=PurchaseOption.FREE, hourly_rate=Decimal(0))
    assert broken(free) == []
    force_setattr(free, "purchase_option", PurchaseOption.ON_DEMAND)  # Offer itself refuses it
    assert "costs 0" in broken(free)[0]


@pytest.mark.parametrize(
    "changed",
    [
        {"hourly_rate": Decimal("1e10")},
        {"upfront": Decimal("1e40")},
        {"monthly": Decimal("1e10")},
        {"machine": Machine("V100", 2**63)},
        {"machine": Machine("V100", 1, vcpus=2**63)},
        {"minimum_seconds": 2**31},
    ],
)
def test_a_figure_that_no_store_can_keep_costs_one_row(changed: dict[str, Any]) -> None:
    absurd = replace(offer("3.06", region="elsewhere"), **changed)
    kept, _ = sound(listing(ON_DEMAND, absurd))
    assert kept == (ON_DEMAND,)


@pytest.mark.parametrize("kind", ["currency", "offering_class"])
def test_what_has_more_currencies_or_classes_than_there_are_is_refused(kind: str) -> None:
    def of(words: list[str]) -> SourceListing:
        return listing(*(offer("3.06", region=f"region-{at}", **{kind: word}) for at, word in enumerate(words)))

    words = [f"A{first}{second}" for first in "ABCDEFGH" for second in "ABCDE"]
    assert violations(of(words[:30])) == []
    with pytest.raises(ListingRefused, match="of 40"):
        sound(of(words))


def test_a_rate_must_not_come_from_the_future() -> None:
    assert broken(offer(observed_at=NOW + timedelta(minutes=4))) == []
    assert "in the future" in broken(offer(observed_at=NOW + timedelta(minutes=6)))[0]


def test_an_accelerator_must_be_known() -> None:
    assert "unknown accelerator 'V1000'" in broken(offer(machine=Machine("V1000", 1)))[0]
    assert broken(offer(machine=Machine("Xeon", 0))) == []


@pytest.mark.parametrize("name", ["p3\ud83d", "p3\n", "p3\x00", "p3\x9b31m", "p3\u202e", "p3\u2028", "p" * 301])
def test_a_name_that_cannot_be_written_costs_one_row(name: str) -> None:
    kept, found = sound(listing(ON_DEMAND, spot("2", instance_type=name)))
    assert kept == (ON_DEMAND,)
    assert "has control characters, half a character, or no end" in found[0].sentence
    in_words(found).encode("utf-8")
    assert broken(offer(instance_type="p" * 300), offer(region="Zürich 東京")) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"source": "a list\nsetup: ls"},
        {"region": "here\x1b[31m"},
        {"flags": ("rounded\u202e",)},
        {"parts": (RatePart("host\n", Decimal(1)),)},
        {"machine": Machine("CPU\x9b31m", 0)},
    ],
)
def test_no_text_of_an_offer_has_signs_that_nobody_sees(changes: dict[str, Any]) -> None:
    kept, [violation] = sound(listing(ON_DEMAND, spot("2", **changes)))
    assert (kept, violation.sentence.isprintable()) == ((ON_DEMAND,), True)


def test_spot_is_at_most_on_demand_or_flagged() -> None:
    assert broken(ON_DEMAND, spot("3.06")) == []
    [sentence] = broken(ON_DEMAND, spot("3.07"))
    assert sentence == "p3.2xlarge in us-east-1, spot, at 3.07 is above on demand at 3.06"
    assert broken(ON_DEMAND, spot("3.07", flags=(SPOT_ABOVE_ON_DEMAND,))) == []
    assert broken(ON_DEMAND, spot("3.07", region="eu-west-1")) == []
    assert broken(ON_DEMAND, spot("3.07", currency="EUR")) == []


@pytest.mark.parametrize(("dear", "rate"), [(0, "1.85"), (1, "2.00"), (2, "3.07")])
def test_more_upfront_costs_less(dear: int, rate: str) -> None:
    ladder = [replace(step, hourly_rate=Decimal(rate)) if at == dear else step for at, step in enumerate(LADDER)]
    [sentence] = broken(ON_DEMAND, *ladder)
    assert f"at {rate} is above" in sentence


def test_upfront_payments_may_be_rounded_and_classes_are_not_compared() -> None:
    rounded = reserved("1.8404", Payment.ALL_UPFRONT)
    assert broken(ON_DEMAND, rounded, *LADDER[1:]) == []
    convertible = [replace(step, offering_class="convertible", hourly_rate=Decimal("2.4")) for step in LADDER]
    assert broken(ON_DEMAND, *LADDER, *convertible) == []


def test_eight_are_not_cheaper_than_four() -> None:
    [sentence] = broken(with_v100s("12.24", 4), with_v100s("12.23", 8))
    assert sentence.endswith("at 12.23 is below half as many at 12.24")
    assert broken(with_v100s("12.24", 4), with_v100s("12.23", 8, region="eu-west-1")) == []
    assert broken(with_v100s("12.24", 4), with_v100s("12.23", 8, flags=(MARKETPLACE,))) == []
    assert broken(with_v100s("12.24", 4), with_v100s("12.23", 8, purchase_option=PurchaseOption.SPOT)) == []


@pytest.mark.parametrize(("rate", "sound"), [("15.3", True), ("15.31", False), ("0.612", True), ("0.611", False)])
def test_a_jump_beyond_five_times_must_be_flagged(rate: str, sound: bool) -> None:
    before = {(*ON_DEMAND.key, "USD"): ON_DEMAND.hourly_rate}
    assert (broken(offer(rate), before=before) == []) is sound
    assert broken(offer(rate, flags=(PRICE_JUMP,)), before=before) == []
    assert broken(offer(rate, currency="EUR"), before=before) == []


def test_on_a_marketplace_the_cheapest_host_may_leave() -> None:
    before = {(*ON_DEMAND.key, "USD"): Decimal("0.11")}
    assert broken(offer("0.60"), before=before)
    assert broken(offer("0.60", flags=(MARKETPLACE,)), before=before) == []


def test_an_odd_offer_is_left_out_and_the_others_are_kept() -> None:
    others = tuple(offer("3", region=f"region-{at}") for at in range(9))
    kept, broken = sound(listing(*others, offer("16"), before={(*ON_DEMAND.key, "USD"): Decimal(3)}))
    assert kept == others
    assert in_words(broken) == "p3.2xlarge in us-east-1, on demand, jumps from 3 to 16"


def test_of_two_offers_that_do_not_fit_neither_is_kept() -> None:
    others = tuple(offer("3", region=f"region-{at}") for at in range(8))
    kept, [violation] = sound(listing(*others, with_v100s("16", 4), with_v100s("15", 8)))
    assert kept == others
    assert violation.sentence.endswith("at 15 is below half as many at 16")


@pytest.mark.parametrize(("odd", "is_refused"), [(2, False), (3, True)])
def test_a_listing_of_which_over_a_fifth_is_odd_is_refused(odd: int, is_refused: bool) -> None:
    unknown = Machine("V1000", 1)
    offers = [offer("3", region=f"region-{at}", **({"machine": unknown} if at < odd else {})) for at in range(10)]
    if is_refused:
        with pytest.raises(ListingRefused, match=r"not taken over: .*V1000"):
            sound(listing(*offers))
    else:
        assert len(sound(listing(*offers))[0]) == 8


def test_one_fault_never_refuses_a_listing_unless_nothing_is_left() -> None:
    unknown = offer("3", region="x", machine=Machine("V1000", 1))
    assert sound(listing(ON_DEMAND, unknown))[0] == (ON_DEMAND,)
    with pytest.raises(ListingRefused):
        sound(listing(unknown))


def test_spot_moves_freely_below_on_demand() -> None:
    before = {(*spot("1").key, "USD"): Decimal("0.30")}
    assert broken(ON_DEMAND, spot("3"), before=before) == []
    assert "jumps from 0.30 to 3" in broken(spot("3"), before=before)[0]


@pytest.mark.parametrize(
    "wrong",
    [
        offer(region="p3\n"),
        offer(observed_at=NOW + timedelta(hours=1)),
        offer(machine=Machine("V1000", 1)),
        replace(ON_DEMAND, purchase_option=PurchaseOption.FREE, hourly_rate=Decimal(0)),
    ],
)
def test_what_cannot_be_right_nobody_can_accept(wrong: Offer) -> None:
    if wrong.purchase_option is PurchaseOption.FREE:
        force_setattr(wrong, "purchase_option", PurchaseOption.SPOT)
    accepting = replace(listing(wrong), accepts=lambda _: True)
    assert [violation.is_only_odd for violation in violations(accepting)] == [False]
    assert violations(replace(listing(ON_DEMAND, spot("4")), accepts=lambda _: True)) == []


def test_bounds_belong_to_what_is_allowed() -> None:
    assert broken(offer(observed_at=NOW + timedelta(minutes=5))) == []
    assert broken(with_v100s("12.24", 4), with_v100s("12.24", 8)) == []
    half_a_mill = Decimal("0.0005")
    assert broken(reserved("1.8405", Payment.ALL_UPFRONT), *LADDER[1:]) == []
    assert broken(replace(LADDER[0], hourly_rate=LADDER[1].hourly_rate + half_a_mill * 2), *LADDER[1:])


def test_two_faults_in_most_of_a_listing_refuse_it() -> None:
    unknown = Machine("V1000", 1)
    wrong = [offer("3", region=f"region-{at}", machine=unknown) for at in range(2)]
    with pytest.raises(ListingRefused):
        sound(listing(ON_DEMAND, *wrong))


@pytest.mark.parametrize(("count", "end"), [(3, "3 costs"), (4, "; and 1 more"), (12, "; and 9 more")])
def test_three_faults_are_told_and_the_rest_is_counted(count: int, end: str) -> None:
    said = shortened([f"{number + 1} costs" for number in range(count)])
    assert said == f"1 costs; 2 costs; 3 costs{end.removeprefix('3 costs')}"


def test_commitments_of_another_term_or_class_are_no_steps_of_one_ladder() -> None:
    three_years = replace(reserved("2.5", Payment.ALL_UPFRONT), term="3y")
    convertible = reserved("2.5", Payment.ALL_UPFRONT, offering_class="convertible")
    standard = [replace(step, offering_class="standard") for step in LADDER[1:]]
    assert broken(three_years, *LADDER[1:]) == []
    assert broken(convertible, *standard) == []
    assert broken(replace(convertible, offering_class="standard"), *standard)
    assert broken(reserved("2.5", Payment.ALL_UPFRONT), *LADDER[1:])


def test_packaged_prices_name_known_accelerators_and_past_moments() -> None:
    offers = packaged_edition().offers
    known = frozenset(load_evidence().accelerators)
    found = [violation.sentence for violation in violations(SourceListing(offers, known, {}, NOW))]
    assert [sentence for sentence in found if "unknown accelerator" in sentence or "future" in sentence] == []
