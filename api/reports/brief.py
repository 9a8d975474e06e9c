"""What a bot needs of `/cost`, in three kilobytes: the verdict, the next step and the picks."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from msgspec import Struct

from api.questions.links import pairs
from api.reports.advice import Advice
from costcalc.answers import Estimate
from costcalc.fields import filled
from costcalc.offer import PurchaseOption
from costcalc.query import Basis

HOURS = ("hours", "hours_low", "hours_high")
EFFECTIVE = ("effective_cost", "effective_cost_low", "effective_cost_high")


class BriefEstimate(Struct, frozen=True, omit_defaults=True):
    """What is rented, with its time and what must be paid; its effective cost where the question goes by that."""

    provider: str
    region: str
    instance_type: str
    accelerator: str
    nodes: int
    purchase_option: PurchaseOption
    recipe: str
    hours: float
    hours_low: float
    hours_high: float
    billed_cost: Decimal
    billed_cost_low: Decimal
    billed_cost_high: Decimal
    effective_cost: Decimal | None = None
    effective_cost_low: Decimal | None = None
    effective_cost_high: Decimal | None = None


class BriefPick(BriefEstimate, frozen=True, kw_only=True):
    """An estimate to act on, by its name."""

    name: str


class BriefStep(Struct, frozen=True):
    """What to do next; `estimate` has the figures of what it starts."""

    text: str
    command: str | None
    link: str | None
    estimate: BriefEstimate | None


class BriefFreshness(Struct, frozen=True):
    """How old the rates are that the question allows."""

    median_age_days: float | None
    share_within_30_days: float | None
    refreshed_at: datetime | None


class Brief(Struct, frozen=True):
    """The answer under `fields=verdict`; `query` has what differs from the defaults."""

    query: dict[str, str]
    verdict: tuple[str, ...]
    next: BriefStep | None
    freshness: BriefFreshness
    picks: tuple[BriefPick, ...]


def brief(report: Advice) -> Brief:
    """The answer without its lists."""
    answer, step = report.answer, report.answer.next
    by = answer.query.basis
    starts = filled(BriefEstimate, step.estimate, **_in_brief(step.estimate, by)) if step and step.estimate else None
    return Brief(
        query=dict(pairs(answer.query)),
        verdict=answer.verdict,
        next=filled(BriefStep, step, estimate=starts) if step else None,
        freshness=filled(BriefFreshness, answer.freshness),
        picks=tuple(
            filled(BriefPick, pick.estimate, name=pick.name, **_in_brief(pick.estimate, by)) for pick in answer.picks
        ),
    )


def _in_brief(estimate: Estimate, basis: Basis) -> dict[str, Any]:
    """Hours to a third of a second; no effective cost where costs are billed ones."""
    hours = {name: round(getattr(estimate, name), 4) for name in HOURS}
    return hours if basis == "effective" else hours | dict.fromkeys(EFFECTIVE)
