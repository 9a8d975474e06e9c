"""JSON: dataclasses in the order of their fields, decimals as exact numbers, moments ISO with Z."""

from __future__ import annotations

from typing import Any

import msgspec

from costcalc.flat import flat

_ENCODER = msgspec.json.Encoder(decimal_format="number", enc_hook=flat)


def to_json(document: Any) -> bytes:
    """A document of dataclasses as JSON."""
    return _ENCODER.encode(document)
