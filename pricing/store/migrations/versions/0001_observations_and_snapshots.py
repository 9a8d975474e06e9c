"""Append-only observations, published snapshots, and how the sources fare."""

import sqlalchemy as sa
from alembic import op

from pricing.store.migrations.append_only import append_only

revision = "0001"
down_revision = None

BIG_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Create the tables and forbid changing what was observed."""
    _snapshots()
    _observations()
    _bookkeeping()
    append_only("observations")


def _snapshots() -> None:
    op.create_table(
        "snapshots",
        sa.Column("sequence", BIG_ID, primary_key=True),
        sa.Column("id", sa.String(64), nullable=False, unique=True),
        sa.Column("published_at", MOMENT, nullable=False),
        sa.Column("gaps", sa.Text, nullable=False),
    )
    op.create_table(
        "catalogues",
        sa.Column("sequence", BIG_ID, sa.ForeignKey("snapshots.sequence"), primary_key=True),
        sa.Column("document", sa.LargeBinary, nullable=False),
    )


def _observations() -> None:
    op.create_table(
        "machines",
        sa.Column("provider", sa.Text, primary_key=True),
        sa.Column("instance_type", sa.Text, primary_key=True),
        sa.Column("accelerator", sa.Text, nullable=False),
        sa.Column("accelerators", sa.Integer, nullable=False),
        sa.Column("accelerator_memory_gib", sa.Float),
        sa.Column("vcpus", sa.Integer),
        sa.Column("memory_gib", sa.Float),
    )
    op.create_table(
        "observations",
        sa.Column("id", BIG_ID, primary_key=True),
        sa.Column("sequence", BIG_ID, sa.ForeignKey("snapshots.sequence"), nullable=False),
        sa.Column("origin", sa.Text, nullable=False),
        *(
            sa.Column(name, sa.Text, nullable=False)
            for name in ("provider", "region", "instance_type", "purchase_option")
        ),
        *(sa.Column(name, sa.Text) for name in ("term", "payment", "offering_class")),
        sa.Column("hourly_nanos", sa.BigInteger, nullable=False),
        *(sa.Column(name, sa.BigInteger) for name in ("upfront_nanos", "recurring_nanos", "monthly_nanos")),
        sa.Column("hours_in_month", sa.Integer, nullable=False),
        sa.Column("currency", sa.String(3), nullable=False),
        sa.Column("parts", sa.Text, nullable=False),
        sa.Column("effective_from", MOMENT),
        sa.Column("observed_at", MOMENT, nullable=False),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("source", "flags")),
        *(sa.Column(name, sa.Integer, nullable=False) for name in ("billing_increment_seconds", "minimum_seconds")),
        *(sa.Column(name, sa.Float) for name in ("session_hours", "hours_per_week")),
        *(sa.Column(name, sa.LargeBinary, nullable=False) for name in ("offer_digest", "rate_digest")),
        sa.ForeignKeyConstraint(["provider", "instance_type"], ["machines.provider", "machines.instance_type"]),
    )
    op.create_index("observations_of_an_offer", "observations", ["origin", "offer_digest", "observed_at"])
    op.create_index("observations_of_a_machine", "observations", ["instance_type", "provider"])


def _bookkeeping() -> None:
    op.create_table(
        "sightings",
        sa.Column("observation_id", BIG_ID, sa.ForeignKey("observations.id"), primary_key=True),
        sa.Column("month", sa.String(7), primary_key=True),
        sa.Column("seen_at", MOMENT, nullable=False),
    )
    op.create_table(
        "retractions",
        sa.Column("observation_id", BIG_ID, sa.ForeignKey("observations.id"), primary_key=True),
        sa.Column("sequence", BIG_ID, sa.ForeignKey("snapshots.sequence"), nullable=False),
    )
    op.create_table(
        "packaged_editions",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("sequence", BIG_ID, sa.ForeignKey("snapshots.sequence"), nullable=False),
    )
    op.create_table(
        "source_status",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("attempted_at", MOMENT, nullable=False),
        sa.Column("succeeded_at", MOMENT),
        sa.Column("offers", sa.Integer),
        sa.Column("seconds", sa.Float, nullable=False),
        sa.Column("error", sa.Text),
    )
