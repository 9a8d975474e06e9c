"""From the arrays' chosen entries to exact estimates: offers read back, bills made in decimals, sources named."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from costcalc.answers import ConvergenceSource, Estimate, EvidenceTiers, Sources, ThroughputSource
from costcalc.assumptions import accumulated, assumptions, converted
from costcalc.costing.bills import Bill, Terms
from costcalc.costing.candidates import discount_fraction
from costcalc.costing.spot_rates import rate_moves
from costcalc.costing.storage_and_egress import Market
from costcalc.duration.overheads import calendar_hours
from costcalc.duration.training_matrix import Plan
from costcalc.duration.training_times import Run
from costcalc.money import cents
from costcalc.offers import Offer, PriceSource
from costcalc.query import EstimateQuery
from costcalc.throughput import TIERS
from costcalc.training import IMAGES_PER_EPOCH, Recipe, Tier

CLUSTER_NETWORK = "Several machines work as one over a network of InfiniBand class; at 10 to 25 Gb/s they are slower."


@dataclass(frozen=True, slots=True)
class Entry:
    """One run on one offer, and where it stands in the whole answer."""

    offer: Offer
    run: Run
    rank: int
    on_frontier: bool


@dataclass(frozen=True, slots=True)
class Renderer:
    """Turns entries into estimates for one question."""

    query: EstimateQuery
    plan: Plan
    market: Market
    as_of: datetime

    def estimate(self, entry: Entry, bill: Bill, on_demand_hourly: Decimal | None) -> Estimate:
        """The exact estimate of an entry; the on-demand rate is that of the same machine, if it can be had."""
        offer, run, query = entry.offer, entry.run, self.query
        recipe, site = self.plan.recipes[run.recipe], self.plan.sites[run.site]
        point, low, high = (Decimal(repr(hours)) for hours in (run.hours, run.low, run.high))
        cheaper, dearer = rate_moves(offer.purchase_option, low, point, high)
        even = bill.break_even_hours(on_demand_hourly)
        return Estimate(
            rank=entry.rank,
            frontier=entry.on_frontier,
            provider=offer.provider,
            region=offer.region,
            instance_type=offer.instance_type,
            nodes=site.nodes,
            accelerator=offer.machine.accelerator,
            accelerators=offer.machine.accelerators * site.nodes,
            accelerator_memory_gib=offer.machine.accelerator_memory_gib,
            purchase_option=offer.purchase_option,
            term=offer.term,
            payment=offer.payment,
            model=query.model,
            dataset=query.dataset,
            metric=query.metric,
            target=query.target,
            recipe=recipe.name,
            epochs=run.epochs,
            global_batch_size=recipe.global_batch_size,
            precision=recipe.precision,
            images_per_second=query.runs * run.epochs * IMAGES_PER_EPOCH / (run.train * 3600),
            train_hours=run.train,
            overhead_hours=run.overhead,
            hours=run.hours,
            hours_low=run.low,
            hours_high=run.high,
            retry_hours=run.retry,
            calendar_hours=calendar_hours(run.hours, offer.session_hours, offer.hours_per_week),
            success_probability=run.success,
            hourly_rate=bill.effective_hourly(point),
            effective_cost=cents(bill.effective(point)),
            effective_cost_low=cents(bill.effective(low, cheaper)),
            effective_cost_high=cents(bill.effective(high, dearer)),
            billed_cost=cents(bill.billed(point)),
            billed_cost_low=cents(bill.billed(low, cheaper)),
            billed_cost_high=cents(bill.billed(high, dearer)),
            break_even_hours=None if even is None else float(even),
            currency=query.currency,
            evidence=EvidenceTiers(self._tier(run), Tier.INTERPOLATED if recipe.is_interpolated else Tier.MEASURED),
            components=bill.components(point),
            sources=self._sources(offer, run, recipe),
            assumptions=self._assumptions(offer, recipe, run),
        )

    def bill(self, entry: Entry) -> Bill:
        """What the entry's machines cost under the question's terms."""
        terms = self._terms(entry.offer, self.plan.sites[entry.run.site].nodes)
        return Bill(entry.offer, terms, self.market.extras(self.query, entry.offer.provider))

    def _terms(self, offer: Offer, nodes: int) -> Terms:
        own = 1 - Decimal(repr(discount_fraction(self.query, offer.provider)))
        exchange = self.market.exchange
        into = exchange[self.query.currency].per_usd / exchange[offer.currency].per_usd
        return Terms(nodes, own, Decimal(repr(self.query.utilization)), into)

    def _assumptions(self, offer: Offer, recipe: Recipe, run: Run) -> tuple[str, ...]:
        query = self.query
        own = assumptions(query, offer, recipe, run, self._notes(run), self.as_of)
        beside = self.market.extra_rates.notes(query, offer.provider)
        return (*own, *converted(query.currency, offer, self.market.exchange), *beside)

    def _speed(self, run: Run) -> tuple[int, int]:
        """Where the speed table speaks of this run."""
        return int(self.plan.kind[run.recipe]), run.site

    def _tier(self, run: Run) -> Tier:
        return Tier.MEASURED if run.replayed else TIERS[int(self.plan.speeds.tier[self._speed(run)])]

    def _notes(self, run: Run) -> tuple[str, ...]:
        if run.replayed:
            return ("Speed as logged on this very system.",)
        site, speeds = self.plan.sites[run.site], self.plan.speeds
        steps = int(speeds.steps[self._speed(run)])
        network = (CLUSTER_NETWORK,) if site.nodes > 1 else ()
        split = accumulated(self.plan.recipes[run.recipe], steps, site.accelerators * site.nodes)
        return (*speeds.notes(*self._speed(run)), *network, *split)

    def _sources(self, offer: Offer, run: Run, recipe: Recipe) -> Sources:
        measured = None if run.replayed else self.plan.speeds.source(*self._speed(run))
        speed = ThroughputSource(recipe.source, recipe.year)
        if measured is not None:
            speed = ThroughputSource(measured.source, measured.year)
        return Sources(PriceSource(offer.source, offer.observed_at), speed, ConvergenceSource(recipe.source))
