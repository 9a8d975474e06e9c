"""Snapshots: all observations as a catalogue, and the gaps that were open when it was published."""

from __future__ import annotations

import zipfile
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, func, select

from costcalc.catalogue.catalogue import Catalogue
from costcalc.hardware import Machine
from costcalc.offers import Offer
from pricing.packaged.networks import packaged_networks
from pricing.store.offer_rows import MACHINE_COLUMNS, Sighting, read_gaps, to_offer
from pricing.store.tables import ROWS_AT_ONCE, catalogues, machines, observations, retractions, sightings, snapshots

Machines = Mapping[tuple[str, str], Machine]


def newest(connection: Connection) -> Any:
    """The newest row of `snapshots`, or None in an empty store."""
    return connection.execute(select(snapshots).order_by(snapshots.c.sequence.desc()).limit(1)).first()


def load(connection: Connection, snapshot_id: str) -> Catalogue | None:
    """The catalogue of a snapshot, or None if it is no longer kept. Rebuilt if another version of the code wrote it."""
    columns = (snapshots.c.gaps, catalogues.c.document)
    found = connection.execute(select(*columns).join(catalogues).where(snapshots.c.id == snapshot_id)).first()
    if found is None:
        return None
    gaps = read_gaps(found.gaps)
    try:
        return Catalogue.from_bytes(found.document, snapshot_id, gaps)
    except (ValueError, KeyError, TypeError, zipfile.BadZipFile):
        return Catalogue.from_offers(all_offers(connection), snapshot_id, gaps)


def all_offers(connection: Connection, without: Collection[str] = ()) -> Iterator[Offer]:
    """Every observation that was not retracted: once as first observed, and once for each later sighting; `without` names sources
    whose rates are left out."""
    machine_of, seen_again = all_machines(connection), _sightings(connection)
    wanted = standing().where(observations.c.origin.not_in(without)).order_by(observations.c.id)
    rows = connection.execute(wanted, execution_options={"yield_per": ROWS_AT_ONCE})
    for row in rows:
        machine = machine_of[row.provider, row.instance_type]
        yield to_offer(row, machine)
        for again in seen_again.get(row.id, ()):
            yield to_offer(row, machine, again)


def standing() -> Select[Any]:
    """The observations that no later edition of the packaged prices retracted."""
    retracted = select(retractions.c.observation_id)
    return select(observations).where(observations.c.id.not_in(retracted))


def all_machines(connection: Connection) -> Machines:
    """The machine of each instance type, by provider and instance type, with the network that the packaged tables know."""
    networks = packaged_networks()
    return {
        (row.provider, row.instance_type): networks.joined(
            row.provider, row.instance_type, Machine(*(getattr(row, column) for column in MACHINE_COLUMNS))
        )
        for row in connection.execute(select(machines))
    }


def newest_observations(connection: Connection) -> dict[str, datetime]:
    """By source, the moment at which it last saw one of its rates."""
    known = observations.outerjoin(sightings)
    seen = func.max(observations.c.observed_at), func.max(sightings.c.seen_at)
    rows = connection.execute(select(observations.c.origin, *seen).select_from(known).group_by(observations.c.origin))
    return {origin: max(first, again or first) for origin, first, again in rows}


def _sightings(connection: Connection) -> dict[int, list[Sighting]]:
    seen_again: dict[int, list[Sighting]] = defaultdict(list)
    for row in connection.execute(select(sightings.c.observation_id, sightings.c.seen_at, sightings.c.flags)):
        seen_again[row.observation_id].append(Sighting(*row))
    return seen_again
