"""Machines that cost nothing, as offers: sessions end, weekly quotas run out, and nobody guarantees a machine."""

from __future__ import annotations

from decimal import Decimal

from costcalc.duration.overheads import SPOT_RESTART_HOURS
from costcalc.hardware import Machine
from costcalc.offers import ANY_REGION, ENDED, Offer, PurchaseOption
from pricing.packaged.tables import Row, Table, day

FREE_TIERS = Table(
    "free_tiers.csv",
    "provider instance_type observed_at",
    "accelerator accelerators accelerator_memory_gib session_hours hours_per_week status source",
)
STATUS_FLAGS = {"offered": (), "ended": (ENDED,)}
NOT_GUARANTEED = "not_guaranteed"


def free_offer(row: Row) -> Offer:
    """A row of `free_tiers.csv`; an empty `hours_per_week` means that no quota is published. Raises ValueError.

    From the day of a row with the status `ended` on, nobody can have the machine any more.
    """
    status = row.text("status")
    if status not in STATUS_FLAGS:
        raise ValueError(f"status {status!r} is neither offered nor ended")
    memory_gib = row.maybe_number("accelerator_memory_gib")
    machine = Machine(row.text("accelerator"), row.integer("accelerators"), memory_gib)
    return Offer(
        *(row.text("provider"), ANY_REGION, row.text("instance_type"), machine, PurchaseOption.FREE),
        hourly_rate=Decimal(0),
        observed_at=day(row, "observed_at"),
        source=row.text("source"),
        flags=(NOT_GUARANTEED, *STATUS_FLAGS[status]),
        session_hours=_session(row),
        hours_per_week=_hours(row, "hours_per_week"),
    )


def _session(row: Row) -> float | None:
    hours = _hours(row, "session_hours")
    if hours is not None and hours <= SPOT_RESTART_HOURS:
        minutes = f"{SPOT_RESTART_HOURS * 60:.0f} min"
        raise ValueError(f"session_hours {hours:g}: write more than the {minutes} that each session takes to restart")
    return hours


def _hours(row: Row, column: str) -> float | None:
    hours = row.maybe_number(column)
    if hours is not None and not 0 < hours <= 168:
        raise ValueError(f"{column} {hours:g} is no number of hours in a week")
    return hours
