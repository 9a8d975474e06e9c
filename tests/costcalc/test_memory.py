"""What answers share: worked out once, forgotten when its room is needed, and keeping nothing else alive."""

import gc
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from weakref import ref

import numpy as np
import pytest
from fakes.offers import offer
from msgspec.structs import replace

from costcalc import Catalogue, EstimateQuery, recall
from costcalc.estimate import Asked, answer
from costcalc.memory import ENTRY_BYTES, Few, Memory, Shelf, about_bytes
from costcalc.offer import PurchaseOption
from costcalc.query import Discount

DAY = datetime(2024, 1, 2, tzinfo=UTC)


class Thing:
    """States its size, and can be known by a weak reference."""

    def __init__(self, about_bytes):
        self.about_bytes = about_bytes


class Counting:
    """Works something of so many bytes out, and counts how often."""

    def __init__(self, size=100):
        self.size, self.times = size, 0

    def __call__(self):
        self.times += 1
        return Thing(self.size)


def test_a_thing_is_worked_out_once():
    shelf, work = Shelf(1000), Counting()
    assert shelf.recall("one", work) is shelf.recall("one", work)
    assert (work.times, shelf.size_bytes) == (1, 100)


def test_what_was_used_least_recently_gives_way():
    shelf, first, second = Shelf(250), Counting(), Counting()
    for name, work in (("first", first), ("second", second), ("first", first), ("third", Counting()), ("first", first)):
        shelf.recall(name, work)
    shelf.recall("second", second)
    assert (first.times, second.times, shelf.size_bytes) == (1, 2, 200)


def test_what_is_larger_than_half_of_the_shelf_is_known_while_somebody_holds_it():
    shelf, work = Shelf(199), Counting()
    held = shelf.recall("one", work)
    assert shelf.recall("one", work) is held
    del held
    shelf.recall("one", work)
    assert (work.times, shelf.size_bytes) == (2, 0)


@pytest.mark.parametrize("nothing", [{}, None, ()])
def test_nothing_is_remembered_too(nothing):
    shelf, asked = Shelf(2 * ENTRY_BYTES), []
    for _ in range(2):
        assert shelf.recall("nothing", lambda: asked.append(1) or nothing) == nothing
    assert len(asked) == 1


def test_a_few_things_are_all_forgotten_where_there_would_be_more():
    few, asked = Few(2, 50), []
    for name in (1, 2, 1, 3, 3, 1):
        assert few.recall(name, lambda number: asked.append(number) or number, name) == name
    assert asked == [1, 2, 3, 1]
    assert about_bytes(few) == 100
    assert few.recall_all(
        lambda number: asked.append(number) or number, [(name, (name,)) for name in (1, 3, 5, 5)]
    ) == [
        1,
        3,
        5,
        5,
    ]
    assert asked == [1, 2, 3, 1, 5]


def test_the_bytes_are_those_of_arrays_and_entries(packaged_evidence, packaged_prices):
    current = packaged_prices.current_offers(DAY)
    arrays = (current.listed, current.rows, current.heads, current.second_hand, current.stale)
    assert about_bytes(current) == sum(each.nbytes for each in arrays) + ENTRY_BYTES
    assert about_bytes(np.zeros(10)) == 80 + ENTRY_BYTES
    memory = Memory()
    assert memory.size_bytes == 0
    answer(EstimateQuery("resnet50", 0.757), packaged_evidence, packaged_prices, DAY, memory=memory)
    assert 5_000_000 < memory.size_bytes < 40_000_000


def test_machines_on_demand_are_found_and_take_sixteen_bytes_each(packaged_prices):
    """A mapping of a million offers left no room for a matrix."""
    current, columns = packaged_prices.current_offers(DAY), packaged_prices.columns
    places = list(zip(*(each.tolist() for each in (columns.instance, columns.region, columns.currency)), strict=True))
    on_demand = [row for row in current.listed.tolist() if packaged_prices.offer(row).purchase_option == "on_demand"]
    known = recall.OnDemandRows.of(packaged_prices, current)
    row_of = {places[row]: row for row in on_demand}
    rows = np.arange(0, len(places), 7)
    expected = [row_of.get(places[row], recall.NOWHERE) for row in rows]
    assert known.at(recall._places(packaged_prices, rows)) == expected
    assert about_bytes(known) == 16 * (len(on_demand) + 1) + ENTRY_BYTES


def test_runs_of_askers_push_nothing_else_out():
    memory, shared = Memory(1000, 1000), Counting(500)
    memory.shelf(of_own_run=False).recall("shared", shared)
    for number in range(20):
        memory.shelf(of_own_run=True).recall(number, Counting(500))
    memory.shelf(of_own_run=False).recall("shared", shared)
    assert (shared.times, memory.size_bytes) == (1, 1500)


def test_an_answer_finds_what_an_earlier_one_worked_out(packaged_evidence, monkeypatch):
    made = []

    def counted(*asked):
        made.append(asked)
        return training_matrix(*asked)

    training_matrix = recall.training_matrix
    monkeypatch.setattr(recall, "training_matrix", counted)
    memory, dear = Memory(), offer(hourly_rate=offer().hourly_rate * 2)
    for prices in (Catalogue.from_offers([each], "made up") for each in (offer(), dear)):
        for target in (0.75, 0.757):
            assert answer(
                EstimateQuery("resnet50", target, nodes=1), packaged_evidence, prices, DAY, memory=memory
            ).count
    assert len(made) == 1, "catalogues that differ in their rates alone have the same speeds"
    other = Catalogue.from_offers([offer(instance_type="other")], "made up")
    answer(EstimateQuery("resnet50", 0.757, nodes=1), packaged_evidence, other, DAY, memory=memory)
    assert len(made) == 2


def test_another_number_of_machines_takes_little_more(packaged_evidence):
    memory, prices = Memory(), Catalogue.from_offers([offer()], "made up")
    sizes = []
    for nodes in (1, 2):
        answer(EstimateQuery("resnet50", 0.757, nodes=nodes), packaged_evidence, prices, DAY, memory=memory)
        sizes.append(memory.size_bytes)
    assert sizes[1] - sizes[0] < 2**20, "what is said of estimates has one place for all matrices"


def test_questions_of_other_terms_share_no_bills(packaged_evidence):
    spot = offer(purchase_option=PurchaseOption.SPOT, hourly_rate=Decimal(1))
    memory, prices = Memory(), Catalogue.from_offers([offer(), spot], "made up")
    terms = [
        {},
        {"discount": (Discount(Decimal("0.2")),)},
        {"overheads": "none"},
        {"utilization": 0.5},
        {"nodes": None},
        {"storage_gb": Decimal(500), "storage_rate": Decimal("0.02")},
        {"storage_gb": Decimal(500), "storage_rate": Decimal("0.03")},
        {"as_of": DAY + timedelta(days=40)},
    ]
    for each in (*terms, *terms):
        asked = EstimateQuery("resnet50", **{"target": 0.757, "nodes": 1, **each}), packaged_evidence, prices, DAY
        one, other = (replace(each, options=None) for each in (answer(*asked, memory=memory), answer(*asked)))
        assert one == other, each


def test_what_an_answer_needed_is_free_at_once(packaged_evidence):
    asked = Asked(EstimateQuery("resnet50", 0.757), packaged_evidence, Catalogue.from_offers([offer()], "made up"), DAY)
    gc.disable()
    try:
        assert asked.answer().count
        left = ref(asked)
        del asked
        assert left() is None, "a cycle keeps its arrays until the collector comes"
    finally:
        gc.enable()


def test_it_keeps_no_catalogue_alive(packaged_evidence):
    memory, prices = Memory(), Catalogue.from_offers([offer()], "made up")
    answer(EstimateQuery("resnet50", 0.757, nodes=1), packaged_evidence, prices, DAY, memory=memory)
    left = ref(prices)
    del prices
    gc.collect()
    assert left() is None
