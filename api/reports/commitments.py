"""`/commitments`: on demand against reserving, committing and renting by the month, on the machines that suit a training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import islice
from typing import ClassVar, Literal

from api.questions.errors import BadParameters
from api.questions.values import Values
from api.reports.compared import Compared, MachineBills, OnDemand
from api.reports.decision import decision
from api.reports.left_out import IF_ALL_ARE_OLD, all_are_old
from api.service import Service, query_of
from costcalc.answers import Answer, Estimate, PriceBasis
from costcalc.catalogue.catalogue import Catalogue
from costcalc.costing.bills import Bill
from costcalc.costing.commitments import FIXED, Demand, PurchaseChoice, fixed_bills, owned_choice, purchase_choices
from costcalc.fields import filled
from costcalc.money import ExchangeRate
from costcalc.offers import PurchaseOption
from costcalc.query import EstimateQuery, OwnMachine
from costcalc.units import HOURS_PER_MONTH

MACHINES = 3
CANDIDATES_PER_MACHINE, MOST_CANDIDATES = 7, 1020
"""How many candidates are asked for at first, which often hold all machines, and how many altogether."""
NO_HOURS = Decimal(0)
NOTES = (
    "A month is 730 hours and a year is twelve months. "
    "On-demand cost is hours of use times the rate, without billing increments.",
    "Use beyond the hours of a month needs further sets of the same machines, each with its own commitment.",
)
OTHER_MACHINE = (
    "This machine is not sold on demand, so it is compared with the cheapest on-demand machine "
    "that has the same accelerators."
)
OWNED = (
    "Owned machines have the same accelerators and are taken to be as fast. Their loss in value is spread over their life; "
    "each hour of use adds electricity. own_price, own_years, own_resale, own_watts, electricity and pue say what one costs."
)
NOTHING = "No reserved, committed or monthly offer matches. Widen provider=, accelerator=, purchase= or term=."
NO_COMMITMENT = "purchase= names no reserved, committed or monthly option, so all of them are compared."
NEVER_ON_DEMAND = "No machine with the same accelerators is sold on demand, so there is no break-even."


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


def question_beside(query: EstimateQuery) -> EstimateQuery:
    """The question about commitments that has the same filters as one about cost; it ranks machines by effective cost, and no
    machine that the asker owns among those for rent."""
    free = {"max_cost": None, "runs": 1, "storage_gb": NO_HOURS, "egress_gb": NO_HOURS, "offset": 0, "frontier": False}
    return replace(query, **free, own=(), basis="effective", sort="cost", limit=MACHINES)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class CommitmentsReport:
    """One question to one service about one snapshot; `table` is the one that CSV has."""

    rest: ClassVar = None
    service: Service
    catalogue: Catalogue
    query: EstimateQuery
    runs_per_month: Decimal | None = None
    table: Literal["break_even", "cash"] = "break_even"
    _answers: dict[EstimateQuery, Answer] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def name(self) -> str:
        return f"commitments-{self.query.model}"

    def document(self) -> CommitmentsDocument:
        return self.with_bills()[0]

    def with_bills(self) -> tuple[CommitmentsDocument, tuple[MachineBills, ...]]:
        """The whole answer, and the bills behind each of its machines."""
        first = self._page(0, self._first_candidates)
        pairs = tuple(islice(self._machines(first), self.query.limit))
        found = tuple(machine for machine, _ in pairs)
        document = CommitmentsDocument(
            query=replace(self.query, as_of=first.prices.as_of),
            runs_per_month=self.runs_per_month,
            hours_per_month=HOURS_PER_MONTH,
            prices=first.prices,
            exchange=first.exchange,
            machines=found,
            notes=(*self._remarks(found, first), *NOTES),
            verdict=tuple(decision(found, self.rental(), self.runs_per_month)),
        )
        return document, tuple(bills for _, bills in pairs)

    def _remarks(self, found: tuple[Compared, ...], first: Answer) -> Iterator[str]:
        if self.query.purchase and not set(self.query.purchase) & set(FIXED):
            yield NO_COMMITMENT
        if not found:
            yield f"All offers are too old: {IF_ALL_ARE_OLD}." if all_are_old(first) else NOTHING
        if any(machine.owned for machine in found):
            yield OWNED

    def rental(self) -> Estimate | None:
        """The cheapest machine of the same question on demand, None where there is none."""
        bought = {"purchase": (PurchaseOption.ON_DEMAND,), "term": (), "payment": ()}
        answer = self._ask(replace(self.query, **bought, basis="billed", offset=0, limit=1))  # type: ignore[arg-type]
        return answer.picks[0].estimate if answer.picks else None

    def _ask(self, query: EstimateQuery) -> Answer:
        """The answer to a question, which many machines ask alike."""
        if query not in self._answers:
            self._answers[query] = self.service.answer(query, self.catalogue)
        return self._answers[query]

    def _page(self, offset: int, limit: int) -> Answer:
        """Candidates for what is compared, in the order of the question."""
        return self._ask(replace(self.query, purchase=self._fixed, offset=self.query.offset + offset, limit=limit))

    def _machines(self, first: Answer) -> Iterator[tuple[Compared, MachineBills]]:
        seen = set()
        for estimate in self._candidates(first):
            machine = (estimate.provider, estimate.instance_type, estimate.nodes)
            if machine not in seen:
                seen.add(machine)
                compared, bills = self._compared(estimate)
                if compared.ways:
                    yield compared, bills

    def _candidates(self, first: Answer) -> Iterator[Estimate]:
        """Those of the first page, then of further ones, each twice as long as the one before: all are ranked for every page."""
        yield from first.estimates
        start = size = self._first_candidates
        last = min(MOST_CANDIDATES, first.count - self.query.offset)
        while start < last:
            size *= 2
            yield from self._page(start, min(size, last - start)).estimates
            start += size

    @property
    def _first_candidates(self) -> int:
        return CANDIDATES_PER_MACHINE * self.query.limit

    def _compared(self, estimate: Estimate) -> tuple[Compared, MachineBills]:
        fixed = self._ask(self._on(estimate, self._fixed))
        on_demand, bill = self._baseline(estimate)
        bills = MachineBills(fixed_bills(bill for _, bill in _on_as_many(fixed, estimate.nodes)), bill)
        rate = bill.effective_hourly(NO_HOURS) if bill else None
        demand = Demand(Decimal(repr(estimate.hours)), self.runs_per_month)
        compared = filled(
            Compared,
            estimate,
            hours_per_run=estimate.hours,
            on_demand=on_demand,
            ways=purchase_choices(bills.ways, demand, rate),
            owned=self._owned(estimate, demand, rate),
            quoted_exchange=fixed.quoted_exchange,
            assumptions=(*_about(on_demand), *estimate.assumptions),
        )
        return compared, bills

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

    def _on(self, estimate: Estimate, purchase: tuple[PurchaseOption, ...]) -> EstimateQuery:
        """The same question about this machine alone, in its region, bought so; in as many as the question asks about, because
        the speeds of those are known already."""
        return replace(
            self._plain(),
            provider=(estimate.provider,),
            region=(estimate.region,),
            instance_type=(estimate.instance_type,),
            purchase=purchase,
        )

    def _plain(self) -> EstimateQuery:
        """The question without limits and order, which only choose machines."""
        free = {"max_cost": None, "max_hours": None, "accelerator": (), "frontier": False}
        return replace(self.query, **free, recipes="best", basis="effective", sort="cost", offset=0, limit=1000)  # type: ignore[arg-type]

    def _baseline(self, estimate: Estimate) -> tuple[OnDemand | None, Bill | None]:
        """The same machine on demand in the same region; where it can't be had, the cheapest with the same accelerators."""
        same = replace(self._on(estimate, (PurchaseOption.ON_DEMAND,)), term=(), payment=())
        for found, bill in _on_as_many(self._ask(same), estimate.nodes):
            return _on_demand(found, bill, True), bill
        alike = replace(same, provider=(), region=(), instance_type=(), accelerator=(estimate.accelerator,))
        for position in self._as_large(alike, estimate):
            cheapest = self._ask(replace(alike, offset=position, limit=1))
            [found], [bill] = cheapest.estimates, cheapest.bills
            return _on_demand(found, bill, False), bill
        return None, None

    def _as_large(self, query: EstimateQuery, estimate: Estimate) -> Iterator[int]:
        """Where the estimates of as many machines with as many accelerators stand in the answer to a question."""
        asked = self.service.asked(query, self.catalogue)
        all_found, catalogue = asked.overview(), asked.catalogue
        instances, per_node = catalogue.columns.instance, estimate.accelerators // estimate.nodes
        for position, (row, nodes) in enumerate(zip(all_found.row.tolist(), all_found.nodes.tolist(), strict=True)):
            *_, machine = catalogue.vocabulary.instances[instances[row]]
            if nodes == estimate.nodes and machine.accelerators == per_node:
                yield position


def _on_as_many(answer: Answer, nodes: int) -> Iterator[tuple[Estimate, Bill]]:
    """The estimates of an answer on so many machines, each with its bill."""
    pairs = zip(answer.estimates, answer.bills, strict=True)
    return ((estimate, bill) for estimate, bill in pairs if estimate.nodes == nodes)


def _on_demand(estimate: Estimate, bill: Bill, is_same: bool) -> OnDemand:
    return filled(
        OnDemand,
        estimate,
        hourly_rate=bill.effective_hourly(NO_HOURS),
        same_machine=is_same,
        price=estimate.sources.price,
    )


def _about(on_demand: OnDemand | None) -> tuple[str, ...]:
    if on_demand is None:
        return (NEVER_ON_DEMAND,)
    return () if on_demand.same_machine else (OTHER_MACHINE,)


def commitments_report(service: Service, catalogue: Catalogue, values: Values) -> CommitmentsReport:
    """The report that parsed parameters of `/commitments` ask for."""
    runs, table = values.pop("runs_per_month", None), values.pop("table", "break_even")
    query = query_of(values, basis="effective", limit=MACHINES)
    return CommitmentsReport(service, catalogue, query, runs, table)
