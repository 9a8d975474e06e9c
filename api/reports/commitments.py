"""`/commitments`: on demand against reserving, committing and renting by the month, on the machines that suit a training."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import islice
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from api.questions.asked import query_of
from api.questions.errors import BadParameters
from api.questions.links import command_of, to_url
from api.questions.schemas.training import TrainingSchema, schema
from api.questions.values import Values, taken
from api.reports.decision import Compared, OnDemand, decision
from api.reports.left_out import IF_ALL_ARE_OLD, all_are_old
from api.reports.paging import OfQuery
from api.reports.unused import unused
from api.service import Service
from costcalc.answers import Answer, Estimate, PriceBasis
from costcalc.catalogue.catalogue import Catalogue
from costcalc.costing.bills import Bill
from costcalc.costing.commitments import FIXED, Demand, PurchaseChoice, fixed_bills, owned_choice, purchase_choices
from costcalc.estimate import Asked
from costcalc.fields import filled
from costcalc.money import ExchangeRate
from costcalc.offer import PriceSource, PurchaseOption
from costcalc.parameters import Param
from costcalc.query import Basis, EstimateQuery, OwnMachine, parameters_of, reset, usual_basis
from costcalc.units import HOURS_PER_MONTH

MACHINES = 3
CANDIDATES_PER_MACHINE, MOST_CANDIDATES = 7, 1020
"""How many candidates are asked for at first, which often hold all machines, and how many altogether."""
NO_HOURS = Decimal(0)
NOTES = (
    "A month is 730 hours and a year is twelve months. "
    "On-demand cost is hours of use times the rate, without billing increments.",
    "Use beyond the hours of a month needs more sets of the same machines, each with its own commitment.",
)
OTHER_MACHINE = (
    "This machine is not sold on demand, so it is compared with the cheapest on-demand machine "
    "that has the same accelerators."
)
OWNED = (
    "Owned machines have the same accelerators and are assumed to be as fast. Their loss in value is spread over their life; "
    "each hour of use adds electricity. own_price, own_years, own_resale, own_watts, electricity and pue set their cost."
)
NOTHING = "No reserved, committed or monthly offer matches. Widen provider=, accelerator=, purchase= or term=."
NO_COMMITMENT = "purchase= names no reserved, committed or monthly option, so all of them are compared."
NEVER_ON_DEMAND = "No machine with the same accelerators is sold on demand, so there is no break-even."


class CommitmentsParameters(Struct):
    """What a question about commitments asks beside its training."""

    # fmt: off
    runs_per_month: Annotated[Decimal | None, Param(
        "runs of this training per month",
        "limit", 20, above=0, high=10**6, use="everyday")] = None
    limit: Annotated[int, Param("maximum number of machines; default 3", "page", 3, low=1, high=20, use="usual")] = MACHINES
    basis: Annotated[Basis, Param("cost by which the machines are chosen; default effective", "share")] = "effective"
    table: Annotated[Literal["break_even", "cash"], Param(
        "CSV table: break_even for costs by utilization, cash for payments by month; default break_even",
        "sheet")] = "break_even"
    # fmt: on


CommitmentsSchema = schema(TrainingSchema, CommitmentsParameters, without=parameters_of("bill", "own", "pick"))
"""A comparison by month has no single run."""


@dataclass(frozen=True, slots=True)
class CommitmentsDocument:
    """The JSON answer; machines in the order of the question, by effective cost unless it says otherwise."""

    query: EstimateQuery
    runs_per_month: Decimal | None
    hours_per_month: int
    prices: PriceBasis
    exchange: ExchangeRate | None
    machines: tuple[Compared, ...]
    notes: tuple[str, ...]
    verdict: tuple[str, ...]


def question_of_runs(query: EstimateQuery, *beside: str) -> tuple[str, str]:
    """The question about commitments that has the same filters as one about cost: as a command, with further options, and its
    address. It ranks machines by effective cost, and no machine that the user owns among those for rent."""
    asked = reset(query, "bill", "order", "page", "own", max_cost=None, basis="effective")
    taken = CommitmentsSchema().fields.keys() - {"basis"}
    link = to_url(asked, "/commitments", {*asked.__struct_fields__} - taken)
    return command_of("commitments", asked, taken, *beside), link


@dataclass(frozen=True)
class CommitmentsReport(OfQuery):
    """The ways to commit to machines; `table` is the one that sheets have."""

    runs_per_month: Decimal | None = None
    table: Literal["break_even", "cash"] = "break_even"

    @property
    def name(self) -> str:
        return f"commitments-{self.query.model}"

    @cached_property
    def machines(self) -> tuple[Compared, ...]:
        """The machines of the answer."""
        return tuple(islice(self._machines(), self.query.limit))

    def in_vain(self) -> Iterator[str]:
        """What the question states that changes nothing; costs are effective ones unless it says otherwise."""
        usual = replace(self.query, basis=usual_basis(self.query.purchase))
        return unused(
            usual, lambda query: [self.service.answer(replace(query, basis=self.query.basis), self.catalogue)]
        )

    def document(self) -> CommitmentsDocument:
        return filled(
            CommitmentsDocument,
            self,
            self._first,
            query=replace(self.query, as_of=self._first.prices.as_of),
            hours_per_month=HOURS_PER_MONTH,
            notes=(*self._remarks(), *NOTES),
            verdict=(*decision(self.machines, self.rental, self.runs_per_month), *self.in_vain()),
        )

    @cached_property
    def _candidates(self) -> Asked:
        """The question about what is bought for a fixed time."""
        return self.service.asked(replace(self.query, purchase=self._fixed, limit=1), self.catalogue)

    @cached_property
    def _first(self) -> Answer:
        return self.service.answered(self._candidates)

    def _remarks(self) -> Iterator[str]:
        if self.query.purchase and not set(self.query.purchase) & set(FIXED):
            yield NO_COMMITMENT
        if not self.machines:
            yield f"All offers are too old: {IF_ALL_ARE_OLD}." if all_are_old(self._first) else NOTHING
        if any(machine.owned for machine in self.machines):
            yield OWNED

    @cached_property
    def rental(self) -> Estimate | None:
        """The cheapest machine of the same question on demand, None where there is none."""
        bought = {"purchase": (PurchaseOption.ON_DEMAND,), "term": (), "payment": ()}
        return self.ask(**bought, basis="billed", offset=0, limit=1).picked.get("cheapest")

    def _machines(self) -> Iterator[Compared]:
        """The candidates' machines: those of the first page, then of further pages, each twice as long as the last."""
        seen: set[tuple[str, str, int]] = set()
        start = self.query.offset
        last = min(start + MOST_CANDIDATES, self._first.count)
        page = self._candidates.page(start, CANDIDATES_PER_MACHINE * self.query.limit)
        while page:
            machines: dict[tuple[str, str, int], Estimate] = {}
            for each in page:
                machines.setdefault((each.provider, each.instance_type, each.nodes), each)
            yield from self._with_ways([each for name, each in machines.items() if name not in seen])
            seen |= machines.keys()
            start += len(page)
            page = self._candidates.page(start, min(2 * len(page), last - start))

    def _with_ways(self, estimates: Sequence[Estimate]) -> Iterator[Compared]:
        """The machines that can be committed to. What a region offers of all of them is asked at once: in another region other
        rates may give way to first-hand ones."""
        by_region: dict[str, tuple[Offered, Offered]] = {}
        for estimate in estimates:
            region = estimate.region
            if region not in by_region:
                by_region[region] = self._there([each for each in estimates if each.region == region])
            fixed, on_demand = by_region[region]
            if ways := fixed_bills(fixed.bills(estimate)):
                beside = self._on_demand(estimate, on_demand.bills(estimate))
                yield self._compared(estimate, ways, beside, fixed.quoted_exchange(estimate))

    def _there(self, estimates: Sequence[Estimate]) -> tuple[Offered, Offered]:
        """The offers of these machines in their region, for a fixed time and on demand."""
        names = ("provider", "region", "instance_type")
        where = {name: tuple(dict.fromkeys(getattr(each, name) for each in estimates)) for name in names}
        return Offered(self._bought(self._fixed, **where)), Offered(self._sold_on_demand(**where))

    def _compared(
        self, estimate: Estimate, ways: Sequence[Bill], on_demand: OnDemand | None, quoted: Sequence[ExchangeRate]
    ) -> Compared:
        demand = Demand(Decimal(repr(estimate.hours)), self.runs_per_month)
        rate = on_demand.hourly_rate if on_demand else None
        return filled(
            Compared,
            estimate,
            hours_per_run=estimate.hours,
            on_demand=on_demand,
            ways=purchase_choices(ways, demand, rate),
            owned=self._owned(estimate, demand, rate),
            quoted_exchange=quoted,
            assumptions=(*_about(on_demand), *estimate.assumptions),
        )

    def _on_demand(self, each: Estimate, same: Sequence[Bill]) -> OnDemand | None:
        """The cheapest bill of these for the same machine, else of another one with the same accelerators."""
        for bill in same or self._alike(each):
            price, rate = PriceSource(bill.offer.source, bill.offer.observed_at), bill.effective_hourly(NO_HOURS)
            return filled(OnDemand, bill.offer, hourly_rate=rate, same_machine=bool(same), price=price)
        return None

    def _alike(self, estimate: Estimate) -> Iterator[Bill]:
        """The machines on demand with the same accelerators, in the same number, the cheapest first."""
        question = self._sold_on_demand(accelerator=(estimate.accelerator,), provider=(), region=(), instance_type=())
        overview, catalogue = question.overview(), question.catalogue
        instances, per_node = catalogue.columns.instance, estimate.accelerators // estimate.nodes
        for row, nodes in zip(overview.row.tolist(), overview.nodes.tolist(), strict=True):
            *_, machine = catalogue.vocabulary.instances[instances[row]]
            if nodes == estimate.nodes and machine.accelerators == per_node:
                yield from question.bills([row], nodes)

    def _owned(self, estimate: Estimate, demand: Demand, on_demand_hourly: Decimal | None) -> PurchaseChoice | None:
        nodes = estimate.nodes
        alike = OwnMachine(estimate.accelerators // nodes, estimate.accelerator)
        try:
            [offer] = self.service.own_offers(replace(self.query, own=(alike,)))
        except BadParameters:
            return None
        return owned_choice(offer, nodes, demand, on_demand_hourly)

    @property
    def _fixed(self) -> tuple[PurchaseOption, ...]:
        return tuple(option for option in self.query.purchase if option in FIXED) or FIXED

    def _sold_on_demand(self, **where: Any) -> Asked:
        """The question for on-demand offers there."""
        return self._bought((PurchaseOption.ON_DEMAND,), term=(), payment=(), **where)

    def _bought(self, purchase: tuple[PurchaseOption, ...], **changes: Any) -> Asked:
        """The question for this way to buy, with its own number of machines, whose speeds are known. Limits and order only
        choose machines."""
        plain = {"accelerator": (), "basis": "effective", "limit": 1000, "purchase": purchase}
        return self.service.asked(reset(self.query, "limit", "order", "page", **plain | changes), self.catalogue)


class Offered:
    """What a question about one region offers of each machine, in its order."""

    def __init__(self, question: Asked) -> None:
        overview, machines = question.overview(), question.catalogue.vocabulary.instances
        instances = question.catalogue.columns.instance[overview.row].tolist()
        self._question = question
        self._rows: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
        for row, nodes, instance in zip(overview.row.tolist(), overview.nodes.tolist(), instances, strict=True):
            self._rows[machines[instance][:2]].append((row, nodes))

    def bills(self, of: Estimate) -> list[Bill]:
        """The bills of this many such machines."""
        rows = self._rows[of.provider, of.instance_type]
        return self._question.bills([row for row, nodes in rows if nodes == of.nodes], of.nodes)

    def quoted_exchange(self, of: Estimate) -> tuple[ExchangeRate, ...]:
        """The rates of the currencies that such machines are quoted in."""
        return self._question.quoted_exchange(
            np.array([row for row, _ in self._rows[of.provider, of.instance_type]], int)
        )


def _about(on_demand: OnDemand | None) -> tuple[str, ...]:
    if on_demand is None:
        return (NEVER_ON_DEMAND,)
    return () if on_demand.same_machine else (OTHER_MACHINE,)


def commitments_report(service: Service, catalogue: Catalogue, values: Values) -> CommitmentsReport:
    """The report that parsed parameters of `/commitments` ask for."""
    months = taken(CommitmentsParameters, values)
    query = query_of(values, basis=months.basis, limit=months.limit)
    return CommitmentsReport(service, catalogue, query, months.runs_per_month, months.table)
