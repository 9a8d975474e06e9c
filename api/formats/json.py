"""JSON: dataclasses in the order of their fields, decimals as exact numbers, moments ISO with Z."""

from __future__ import annotations

import msgspec

from costcalc.flat import flat

to_json = msgspec.json.Encoder(decimal_format="number", enc_hook=flat).encode
"""A document of dataclasses as JSON."""
