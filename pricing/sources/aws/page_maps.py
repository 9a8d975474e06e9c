"""The documents behind AWS's pricing pages: one names the locations, the others map a location to its rates.

They are not documented. A location's name is taken from the first, since the price list spells nine of them otherwise.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping

from msgspec import Struct, ValidationError, convert

from pricing.sources.common.endpoint import Endpoint
from pricing.sources.common.http import MIB
from pricing.sources.source import SchemaChanged, SourceError

LOCATIONS = "/locations/1.0/aws/current/locations.json"
REGION, LOCAL_ZONE = "AWS Region", "AWS Local Zone"  # beside Wavelength Zones, of which nothing is read
GZIP = b"\x1f\x8b"  # sent packed whether or not that was asked for, and not always said
UNPACK_GZIP = 31  # https://docs.python.org/3/library/zlib.html#zlib.decompress
MOST_MIB = 16


class Location(Struct):
    """A region, or a zone beside one."""

    name: str
    code: str
    type: str


def places_listed(api: Endpoint, *types: str) -> list[Location]:
    """The places of these types. Raises SourceError."""
    try:
        locations = convert(read_map(api, LOCATIONS), dict[str, Location])
    except ValidationError as error:
        raise SchemaChanged(f"{api.source}: the list of locations is unreadable: {error}") from None
    return [each for each in locations.values() if each.type in types]


def read_map(api: Endpoint, path: str) -> dict[str, object]:
    """One document. Raises SourceError."""
    content = api.bytes(path)
    try:
        if content.startswith(GZIP):
            unpacked = zlib.decompressobj(UNPACK_GZIP)
            content = unpacked.decompress(content, MOST_MIB * MIB)
            if unpacked.unconsumed_tail:
                raise SourceError(f"{api.source}: {path} unpacks to more than {MOST_MIB} MiB")
        document = json.loads(content)
    except (ValueError, zlib.error, RecursionError):
        raise SchemaChanged(f"{api.source}: {path} is unreadable") from None
    if not isinstance(document, dict) or not document:
        raise SchemaChanged(f"{api.source}: {path} holds no object")
    return document


def rows_of(document: Mapping[str, object], location: Location) -> object:
    """What a document says of a location, None where it says nothing."""
    regions = document.get("regions")
    return regions.get(location.name) if isinstance(regions, dict) else None
