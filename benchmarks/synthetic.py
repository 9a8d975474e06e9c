"""Large catalogues in the likeness of the packaged one: its current offers, repeated under new names and other prices."""

from __future__ import annotations

from datetime import UTC, datetime
from math import isqrt

import numpy as np
from msgspec.structs import replace

from costcalc.catalogue.catalogue import Catalogue
from costcalc.catalogue.columns import Columns
from costcalc.catalogue.encoding import ordered
from pricing.packaged.offers import read_packaged

NOW = datetime(2026, 11, 20, tzinfo=UTC)
MONEY = ("hourly", "upfront", "recurring", "monthly", "fee", "metered")


def packaged() -> Catalogue:
    return Catalogue.from_offers(read_packaged().offers, "packaged")


def catalogue(size: int) -> Catalogue:
    """`size` current offers: the packaged ones in as many further regions, and of as many further machine types."""
    base = packaged()
    rows = base.current_offers(NOW).rows
    copies = -(-size // len(rows))
    kinds = max(isqrt(copies), 1)
    copy = np.repeat(np.arange(copies), len(rows))[:size]
    named = _tiled(
        base.columns,
        np.tile(rows, copies)[:size],
        copy,
        kinds,
        (len(base.vocabulary.instances), len(base.vocabulary.regions)),
    )
    return Catalogue(ordered(named), _vocabulary(base, kinds, -(-copies // kinds)), f"synthetic-{size}")


def _tiled(columns: Columns, rows, copy, kinds: int, sizes: tuple[int, int]) -> dict:
    instances, regions = sizes
    named = {name: getattr(columns, name)[rows] for name in Columns.__struct_fields__[2:]}
    named["instance"] = (named["instance"] + copy % kinds * instances).astype(np.int32)
    named["region"] = (named["region"] + copy // kinds * regions).astype(np.int32)
    dearer = 1 + np.random.default_rng(0).uniform(0, 0.3, len(rows))
    for name in MONEY:
        named[name] = np.where(named[name] > 0, named[name] * dearer, named[name]).astype(np.int64)
    return named


def _vocabulary(base: Catalogue, kinds: int, places: int):
    words = base.vocabulary
    return replace(
        words,
        instances=tuple((p, f"{name}~{k}" if k else name, m) for k in range(kinds) for p, name, m in words.instances),
        regions=tuple(f"{region}~{k}" if k else region for k in range(places) for region in words.regions),
    )
