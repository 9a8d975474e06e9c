"""Published dollars and hours come back to the cent from the packaged evidence and prices."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from costcalc.convergence.curves import Curves
from costcalc.offer import Payment, PurchaseOption
from costcalc.training import Crossing, Metric

RISEML = {
    "as_of": datetime(2018, 4, 26, 23, 59, 59, tzinfo=UTC),
    "overheads": "none",
    "crossing": Crossing.FIRST,
    "basis": "effective",
    "recipes": "all",
    "recipe": ("riseml-2018-*",),
    "limit": 1000,
}
DAWNBENCH = RISEML | {
    "as_of": datetime(2018, 10, 1, 23, 59, 59, tzinfo=UTC),
    "metric": Metric.TOP5,
    "purchase": (PurchaseOption.ON_DEMAND,),
    "recipe": ("dawnbench-*",),
}


def only(answer, **facts):
    """The one estimate with these facts."""
    found = [e for e in answer.estimates if all(getattr(e, name) == value for name, value in facts.items())]
    assert len(found) == 1, found
    return found[0]


def dollars(text):
    return Decimal(text)


@pytest.mark.parametrize(("target", "hours", "cost"), [(0.757, "8.15", "54.50"), (0.764, "10.95", "73.23")])
def test_riseml_on_a_tpu(ask, target, hours, cost):
    found = only(ask(target, **RISEML), instance_type="v2-8", nodes=1, recipe="riseml-2018-tpuv2")
    assert (f"{found.hours:.2f}", found.effective_cost) == (hours, dollars(cost))
    assert (found.hourly_rate, found.accelerators, found.accelerator) == (dollars("6.69"), 4, "TPU v2")
    assert {(line.name, line.rate) for line in found.components} == {
        ("Cloud TPU v2-8", dollars("6.50")),
        ("host n1-standard-4", dollars("0.19")),
    }


@pytest.mark.parametrize(
    ("purchase", "term", "payment", "rate", "cost"),
    [
        (PurchaseOption.ON_DEMAND, None, None, "12.24", "128.88"),
        (PurchaseOption.RESERVED, "1y", Payment.NO_UPFRONT, "8.354", "87.97"),
    ],
)
def test_riseml_on_four_v100(ask, purchase, term, payment, rate, cost):
    answer = ask(0.757, **RISEML)
    found = only(
        answer,
        instance_type="p3.8xlarge",
        nodes=1,
        recipe="riseml-2018-v100",
        purchase_option=purchase,
        term=term,
        payment=payment,
    )
    assert (f"{found.hours:.2f}", found.effective_cost) == ("10.53", dollars(cost))
    assert found.hourly_rate == dollars(rate)


def test_riseml_on_a_rented_month(ask):
    found = only(ask(0.757, **RISEML), provider="cirrascale", nodes=1, recipe="riseml-2018-v100")
    assert (found.effective_cost, found.billed_cost) == (dollars("108.18"), dollars("7500.00"))
    assert found.hourly_rate == dollars(7500) / 730
    assert found.break_even_hours is None, "Cirrascale rented no such machine on demand"


def test_a_reservation_pays_off_from_its_break_even_hours(ask):
    found = only(
        ask(0.757, **RISEML),
        instance_type="p3.8xlarge",
        nodes=1,
        recipe="riseml-2018-v100",
        term="1y",
        payment=Payment.NO_UPFRONT,
    )
    assert found.break_even_hours == pytest.approx(8760 * 8.354 / 12.24)


def test_the_v100_never_reaches_the_accuracy_of_the_tpu(ask):
    answer = ask(0.764, **RISEML)
    assert {estimate.recipe for estimate in answer.estimates} == {"riseml-2018-tpuv2"}
    assert answer.rejections["target_never_reached"] == 1


@pytest.mark.parametrize(
    ("recipe", "nodes", "cost"),
    [
        ("dawnbench-diux-rn50-p3-tensorpack", 1, "358.22"),
        ("dawnbench-fastai-rn50-p3", 1, "72.40"),
        ("dawnbench-fastai-rn50-4xp3", 4, "48.48"),
        ("dawnbench-fastai-rn50-8xp3", 8, "61.63"),
        ("dawnbench-fastai-rn50-16xp3", 16, "118.07"),
    ],
)
def test_dawnbench_dollars(ask, recipe, nodes, cost):
    found = only(ask(0.93, **DAWNBENCH), instance_type="p3.16xlarge", recipe=recipe, nodes=nodes)
    assert found.effective_cost == dollars(cost)
    assert found.evidence.throughput == "measured"
    assert found.hourly_rate == nodes * dollars("24.48")


def test_the_cases_stand_in_the_whole_answer_too(ask):
    """Asked without naming recipes or machines, as most people will."""
    whole = ask(0.757, **(RISEML | {"recipe": (), "evidence": "measured"}))
    costs = {(e.recipe, e.instance_type, e.effective_cost) for e in whole.estimates}
    assert ("riseml-2018-tpuv2", "v2-8", dollars("54.50")) in costs
    assert ("riseml-2018-v100", "p3.8xlarge", dollars("128.88")) in costs


@pytest.mark.parametrize(
    ("epochs", "target", "minutes"), [(16, 0.737, 14.8), (32, 0.759, 28.7), (40, 0.772, 35.5), (88, 0.759, 71.7)]
)
def test_a_log_is_read_at_its_first_crossing(packaged_evidence, epochs, target, minutes):
    (recipe,) = [r for r in packaged_evidence.recipes if r.name == f"ffcv-rn50-{epochs}ep"]
    reach = Curves([recipe], Metric.TOP1).epochs_to(target, Crossing.FIRST)
    assert reach.own_hours[0] * 60 == pytest.approx(minutes, abs=0.05)
