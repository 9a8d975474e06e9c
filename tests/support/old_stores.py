"""Stores as version 0.2.0 of costcalc left them."""

import sqlalchemy as sa
from alembic import command
from alembic.config import Config

BIG_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
MOMENT = sa.DateTime(timezone=True)
RELEASED = "0002"

metadata = sa.MetaData()
sa.Table(
    "snapshots",
    metadata,
    sa.Column("sequence", BIG_ID, primary_key=True),
    sa.Column("id", sa.String(64), nullable=False, unique=True),
    sa.Column("published_at", MOMENT, nullable=False),
    sa.Column("gaps", sa.Text, nullable=False),
)
sa.Table(
    "catalogues",
    metadata,
    sa.Column("sequence", BIG_ID, sa.ForeignKey("snapshots.sequence"), primary_key=True),
    sa.Column("document", sa.LargeBinary, nullable=False),
)
sa.Table(
    "machines",
    metadata,
    sa.Column("provider", sa.Text, primary_key=True),
    sa.Column("instance_type", sa.Text, primary_key=True),
    sa.Column("accelerator", sa.Text, nullable=False),
    sa.Column("accelerators", sa.Integer, nullable=False),
    sa.Column("accelerator_memory_gib", sa.Float),
    sa.Column("vcpus", sa.Integer),
    sa.Column("memory_gib", sa.Float),
)
observations = sa.Table(
    "observations",
    metadata,
    sa.Column("id", BIG_ID, primary_key=True),
    sa.Column("sequence", BIG_ID, sa.ForeignKey("snapshots.sequence"), nullable=False),
    sa.Column("origin", sa.Text, nullable=False),
    *(sa.Column(name, sa.Text, nullable=False) for name in ("provider", "region", "instance_type", "purchase_option")),
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
sa.Table(
    "sightings",
    metadata,
    sa.Column("observation_id", BIG_ID, sa.ForeignKey("observations.id"), primary_key=True),
    sa.Column("month", sa.String(7), primary_key=True),
    sa.Column("seen_at", MOMENT, nullable=False),
    sa.Column("flags", sa.Text),
)
sa.Table(
    "retractions",
    metadata,
    sa.Column("observation_id", BIG_ID, sa.ForeignKey("observations.id"), primary_key=True),
    sa.Column("sequence", BIG_ID, sa.ForeignKey("snapshots.sequence"), nullable=False),
)
sa.Table(
    "packaged_editions",
    metadata,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("sequence", BIG_ID, sa.ForeignKey("snapshots.sequence"), nullable=False),
)
sa.Table(
    "source_status",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("attempted_at", MOMENT, nullable=False),
    sa.Column("succeeded_at", MOMENT),
    sa.Column("offers", sa.Integer),
    sa.Column("seconds", sa.Float, nullable=False),
    sa.Column("error", sa.Text),
)

sa.Index("observations_of_an_offer", *(observations.c[name] for name in ("origin", "offer_digest", "observed_at")))
sa.Index("observations_of_a_machine", observations.c.instance_type, observations.c.provider)
sa.Table("alembic_version", metadata, sa.Column("version_num", sa.String(32), primary_key=True))

FORBIDDEN = {
    "sqlite": [
        f"CREATE TRIGGER observations_no_{verb.lower()} BEFORE {verb} ON observations "
        "BEGIN SELECT RAISE(ABORT, 'observations are append-only'); END"
        for verb in ("UPDATE", "DELETE")
    ],
    "postgresql": [
        "CREATE FUNCTION observations_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'observations are append-only'; END $$",
        "CREATE TRIGGER observations_append_only BEFORE UPDATE OR DELETE ON observations "
        "FOR EACH STATEMENT EXECUTE FUNCTION observations_append_only()",
    ],
}


def engine_at(url: str, revision: str = RELEASED) -> sa.Engine:
    """The engine of an empty store of version 0.2.0, or as it was upgraded to a later revision."""
    engine = sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        metadata.create_all(connection)
        for statement in FORBIDDEN[engine.dialect.name]:
            connection.exec_driver_sql(statement)
        connection.exec_driver_sql(f"INSERT INTO alembic_version VALUES ('{RELEASED}')")
        config = Config()
        config.set_main_option("script_location", "pricing.store:migrations")
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
    return engine
