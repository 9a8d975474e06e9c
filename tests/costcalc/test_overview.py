"""All estimates as columns: the figures of the exact ones."""

import pytest
from msgspec.structs import replace
from support.services import packaged_service


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"basis": ["effective"], "utilization": ["0.3"], "sort": ["time"]},
        {"currency": ["EUR"], "storage_gb": ["100"], "runs": ["3"], "discount": ["aws:0.2"]},
        {"purchase": ["free"]},
        {"frontier": ["true"], "max_cost": ["50"]},
    ],
)
def test_each_has_the_figures_of_the_exact_estimate_of_its_rank(given):
    service = packaged_service()
    catalogue = service.catalogue()
    query, _ = service.question({"model": ["resnet50"], "target": ["0.757"], **given}, catalogue)
    exact = service.answer(replace(query, limit=10_000), catalogue).estimates
    asked = service.asked(query, catalogue)
    found = asked.overview()
    assert len(exact) == len(found.row) > 3
    assert found.nodes.tolist() == [each.nodes for each in exact]
    assert found.hours.tolist() == [each.calendar_hours for each in exact]
    assert found.on_frontier.tolist() == [each.frontier for each in exact]
    ranges = asked.ranges(found.position)
    for column, end in ((found.cost, 0), (ranges.cost_low, 1), (ranges.cost_high, 2)):
        costs = [float(each.cost(query.basis)[end]) for each in exact]
        assert column.tolist() == pytest.approx(costs, abs=0.0051)


def test_those_to_pick_from_keep_their_ranks_among_all():
    service = packaged_service()
    catalogue = service.catalogue()
    query, _ = service.question({"model": ["resnet50"], "target": ["0.757"], "provider": ["aws"]}, catalogue)
    asked = service.asked(query, catalogue)
    every, some = asked.overview(), asked.overview(pickable=True)
    assert 0 < len(some.rank) == some.every < len(every.rank) == every.every == asked.totals.every
    assert some.cost.tolist() == every.cost[some.rank - 1].tolist()
    assert some.row.tolist() == every.row[some.rank - 1].tolist()
    assert {each.estimate.rank for each in asked.answer().picks} <= set(some.rank.tolist())


def test_a_page_by_the_questions_order_alone_is_of_all_estimates():
    service = packaged_service()
    catalogue = service.catalogue()
    query, _ = service.question({"model": ["resnet50"], "target": ["0.757"]}, catalogue)
    every = service.answer(replace(query, limit=100_000), catalogue).estimates
    by_cost = sorted((each.billed_cost, each.calendar_hours) for each in every)
    page = service.asked(query, catalogue).page(20, 5)
    assert [(each.billed_cost, each.calendar_hours) for each in page] == by_cost[20:25]


def test_bills_are_those_of_the_estimates():
    service = packaged_service()
    catalogue = service.catalogue()
    query, _ = service.question({"model": ["resnet50"], "target": ["0.757"], "currency": ["EUR"]}, catalogue)
    asked = service.asked(query, catalogue)
    answer, found = asked.answer(), asked.overview()
    for rank in (0, 5, 19):
        assert asked.bills([int(found.row[rank])], int(found.nodes[rank])) == [answer.estimates[rank].bill]
