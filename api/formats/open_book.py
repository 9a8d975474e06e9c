"""The open book: what may be passed on as plain files, which anybody reads without costcalc.

`latest.csv` has the rates of now in the columns of `/offers.csv`. A file a month has the rates as they were observed, a row where
one was first seen in that month and where it changed, ends among them; rows are only added.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec
import numpy as np

from api.formats import csv_export
from api.questions.schemas.layout import Layout
from api.reports.prices.offers import OfferRow
from api.reports.prices.rates import RateRow
from costcalc.catalogue.catalogue import Catalogue
from costcalc.fields import filled, names_of

KEY = ("provider", "region", "instance_type", "purchase_option", "term", "payment", "offering_class", "effective_from")
NO_CHANGE = frozenset({"observed_at", "available", "available_at", "flags"})
COLUMNS = tuple(names_of(RateRow))
ENDED = "ended"


def latest(catalogue: Catalogue, now: datetime) -> Iterator[bytes]:
    """The rates that stand now."""
    rows, confirmed = catalogue.current_offers(now).listed, catalogue.confirmed(now)
    pairs = zip(map(catalogue.offer, rows.tolist()), confirmed.of(rows).tolist(), strict=True)
    sheet = (filled(OfferRow, offer.machine, offer, confirmed=is_confirmed) for offer, is_confirmed in pairs)
    return csv_export.chunks(csv_export.columns_of(OfferRow), sheet, Layout())


def month(former: str, catalogue: Catalogue, now: datetime) -> str:
    """The file of this month: what it held, and behind that what is new in the catalogue."""
    begins = int(now.replace(day=1, hour=0, minute=0, second=0, microsecond=0).timestamp())
    observed = catalogue.columns.observed
    rows = np.flatnonzero((observed >= begins) & (observed <= int(now.timestamp())) & ~catalogue.own)
    rows = rows[np.argsort(observed[rows], kind="stable")]
    sheet = (filled(RateRow, offer.machine, offer) for offer in map(catalogue.offer, rows.tolist()))
    found = csv_export.document(csv_export.columns_of(RateRow), sheet, Layout()).decode()
    last = {_key(row): row for row in _rows(former)}
    added = io.StringIO()
    writer = csv.DictWriter(added, COLUMNS)
    if not former:
        writer.writeheader()
    for row in _rows(found):
        before = last.get(_key(row))
        if before is None or (row["observed_at"] > before["observed_at"] and _rate(row) != _rate(before)):
            writer.writerow(row)
            last[_key(row)] = row
    return former + added.getvalue()


def schema() -> bytes:
    """The columns of both files as a JSON schema of one row; an empty cell is null."""
    (_, document), *_ = [msgspec.json.schema_components([OfferRow])]
    described: dict[str, Any] = document["OfferRow"]
    properties = {name: _as_in_csv(described["properties"][name], document) for name in names_of(OfferRow)}
    title = "A rate for one whole machine; `confirmed` is in latest.csv alone"
    whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, "type": "object"}
    return msgspec.json.format(msgspec.json.encode(whole | {"properties": properties, "required": COLUMNS}))


def _as_in_csv(described: dict[str, Any], others: dict[str, Any]) -> dict[str, Any]:
    """The type of a cell: amounts are numbers, lists are words joined by semicolons."""
    if "anyOf" in described:
        return {"anyOf": [_as_in_csv(each, others) for each in described["anyOf"]]}
    if "$ref" in described:
        return dict(others[described["$ref"].rpartition("/")[2]])
    if described.get("format") == "decimal":
        return {"type": "number"}
    return {"type": ["string", "null"]} if described.get("type") == "array" else described


def _rows(text: str) -> Iterator[dict[str, str]]:
    return csv.DictReader(io.StringIO(text, newline=""))


def _key(row: dict[str, str]) -> tuple[str, ...]:
    return tuple(row[name] for name in KEY)


def _rate(row: dict[str, str]) -> tuple[str, ...]:
    """What makes the row another rate."""
    return (str(ENDED in row["flags"]), *(row[name] for name in COLUMNS if name not in NO_CHANGE))
