"""From version 0.2.0: observations move from rows into a book, whose size does not grow with history."""

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from alembic import op

from pricing.store.migrations.start import create
from pricing.store.tables import books, changes, identity, leases, quarantine, segments, sign_ins

revision = "0009"
down_revision = "0002"

OLD = ("retractions", "sightings", "observations", "catalogues")
NEW = (identity, books, segments, quarantine, sign_ins, changes, leases)


def upgrade() -> None:
    """Create the new tables, fill the first book, drop the old tables. Packaged prices are merged anew on opening."""
    create(op.get_bind(), NEW)
    op.create_table(
        "own_runs",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("owner", sa.String(64)),
        sa.Column("added_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("document", sa.Text, nullable=False),
    )
    _first_book()
    op.execute("DELETE FROM packaged_editions")
    for name in OLD:
        op.drop_table(name)
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION observations_append_only")


def _first_book() -> None:
    """All observations of live sources, with the moments at which they were seen again."""
    import numpy as np

    from pricing.store.book import book_of
    from pricing.store.offer_rows import entry

    connection = op.get_bind()
    old = sa.MetaData()
    old.reflect(connection, only=["snapshots", "machines", "observations", "sightings"])
    newest = connection.execute(
        sa.select(old.tables["snapshots"]).order_by(old.tables["snapshots"].c.sequence.desc()).limit(1)
    ).first()
    if newest is None:
        return
    machines = {(row.provider, row.instance_type): row for row in connection.execute(sa.select(old.tables["machines"]))}
    observations, sightings = old.tables["observations"], old.tables["sightings"]
    live = sa.select(observations).where(observations.c.origin != "packaged").order_by(observations.c.id)
    rows = connection.execute(live).all()
    entries = [entry(row.origin, _offer(row, machines[row.provider, row.instance_type])) for row in rows]
    book, number = book_of(entries, _utc(newest.published_at)), {row.id: at for at, row in enumerate(rows)}
    for again in connection.execute(sa.select(sightings).order_by(sightings.c.seen_at)):
        if (row := number.get(again.observation_id)) is not None:
            seen, flags = int(_utc(again.seen_at).timestamp()), rows[row].flags if again.flags is None else again.flags
            book = book.seen_again(np.array([row]), np.array([seen]), [flags])
    connection.execute(books.insert(), {"sequence": newest.sequence, "document": book.to_bytes()})


def _offer(row: Any, machine: Any) -> Any:
    from costcalc.hardware import Machine
    from costcalc.money import from_nanos
    from costcalc.offer import Offer, Payment, PurchaseOption, RatePart

    def amount(nanos: int | None) -> Any:
        return None if nanos is None else from_nanos(nanos)

    pairs = (part.rpartition("=") for part in row.parts.split(";") if part)
    same = ("provider", "region", "instance_type", "term", "offering_class", "hours_in_month", "currency", "source")
    also = ("billing_increment_seconds", "minimum_seconds", "session_hours", "hours_per_week")
    return Offer(
        **{name: getattr(row, name) for name in (*same, *also)},
        machine=Machine(
            machine.accelerator,
            machine.accelerators,
            machine.accelerator_memory_gib,
            machine.vcpus,
            machine.memory_gib,
        ),
        purchase_option=PurchaseOption(row.purchase_option),
        hourly_rate=from_nanos(row.hourly_nanos),
        observed_at=_utc(row.observed_at),
        payment=Payment(row.payment) if row.payment else None,
        upfront=amount(row.upfront_nanos),
        recurring_hourly=amount(row.recurring_nanos),
        monthly=amount(row.monthly_nanos),
        parts=tuple(RatePart(name, from_nanos(int(nanos))) for name, _, nanos in pairs),
        effective_from=row.effective_from and _utc(row.effective_from),
        flags=tuple(row.flags.split(";")) if row.flags else (),
    )


def _utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
