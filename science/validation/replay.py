"""How many published results of tasks are answered with their official minutes on their own systems."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

from costcalc.answers import Estimate
from costcalc.catalogue.catalogue import Catalogue
from costcalc.estimate import answer
from costcalc.evidence import Evidence
from costcalc.hardware import Machine
from costcalc.memory import Memory
from costcalc.offer import Offer, PurchaseOption
from costcalc.query import EstimateQuery
from costcalc.tasks.evidence import task_evidence
from costcalc.tasks.tables import Result, Task, results, tasks

MOMENT = datetime(2026, 12, 1, tzinfo=UTC)
EXACT = 1e-9  # of the minutes


def replayed(beside: Evidence) -> str:
    """A line that counts them."""
    exact = [is_exact for task in tasks().values() for is_exact in replayed_exactly(task, beside)]
    return f"official minutes on their own systems: {sum(exact):,} of {len(exact):,} exact"


def replayed_exactly(task: Task, beside: Evidence) -> list[bool]:
    """Whether each result of a task is answered exactly where one can rent its system for a dollar an hour."""
    evidence, memory = task_evidence(task, beside), Memory()
    catalogue = Catalogue.from_offers([offer_of(one) for one in results()[task.name]], "systems of results")
    return [
        _is_exact(one, answer(query_of(task, one), evidence, catalogue, MOMENT, memory=memory).estimates)
        for one in results()[task.name]
    ]


def _is_exact(one: Result, estimates: tuple[Estimate, ...]) -> bool:
    return bool(estimates) and abs(estimates[0].train_hours * 60 / one.minutes - 1) < EXACT


def offer_of(one: Result) -> Offer:
    """Its system for a dollar an hour."""
    machine = Machine(
        one.accelerator,
        one.accelerators // one.nodes,
        vcpus=1024,
        memory_gib=8192,
        network_gbits_per_second=3200,
        most_machines=one.nodes,
    )
    return Offer("own", "anywhere", one.name, machine, PurchaseOption.ON_DEMAND, Decimal(1), MOMENT, "made up")


def query_of(task: Task, one: Result) -> EstimateQuery:
    """What the result took on it."""
    return EstimateQuery(
        task.name,
        one.target,
        metric=task.metric,
        dataset=task.dataset,
        recipe=(one.name,),
        instance_type=(one.name,),
        nodes=one.nodes,
        overheads="none",
        training="record",
        confidence=0.0,
        limit=1,
    )
