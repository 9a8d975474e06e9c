"""JSON: dataclasses in the order of their fields, decimals as exact numbers, moments ISO with Z."""

from __future__ import annotations

from typing import Any

import msgspec

from costcalc.answers import Estimate
from costcalc.flat import flat


def _flat(thing: Any) -> Any:
    if isinstance(thing, Estimate):
        return flat(thing)
    raise NotImplementedError


_ENCODER = msgspec.json.Encoder(decimal_format="number", enc_hook=_flat)


def to_json(document: Any) -> bytes:
    """A document of dataclasses as JSON."""
    return _ENCODER.encode(document)
