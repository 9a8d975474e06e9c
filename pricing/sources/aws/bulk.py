"""AWS's public bulk price list: no credentials, one JSON file per region (us-east-1: about 450 MB), read as a stream.

Sees on-demand and reserved rates. Cannot see spot, Savings Plans, capacity blocks, or what a machine type newer than our
instance table holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Protocol

import ijson

from costcalc.offers import Offer
from pricing.sources.aws.price_list import Machines, Origin, Product, price_list_offers, product, reading
from pricing.sources.source import SchemaChanged, SourceError

SOURCE = "AWS bulk price list"
PATH = "/offers/v1.0/aws/AmazonEC2/current/{region}/index.json"
BLOCK_BYTES = 1 << 16
LONGEST_KEY_BYTES = 64  # a section's key with the white space after it, which a block may cut in two
# An unescaped quote cannot stand inside a JSON string, so wherever this matches it is a key.
SECTION = re.compile(rb'"(products|terms|OnDemand|Reserved)"\s*:\s*\{')
DEPTHS = {"products": 1, "OnDemand": 2, "Reserved": 2}  # objects around the section; the rest is not parsed


class Readable(Protocol):
    """What `Http.stream` gives."""

    def read(self, amount: int, /) -> bytes:
        """The next bytes; none at the end."""
        ...


def bulk_offers(
    stream: Readable, region: str, machines: Machines, origin: Origin
) -> tuple[tuple[Offer, ...], set[str]]:
    """The offers of one region's file, and the accelerated machine types of which we don't know what they hold.

    Raises SchemaChanged if the file breaks off, is not JSON, or holds no machine we know.
    """
    products: dict[str, Product] = {}
    offers: list[Offer] = []
    unknown: set[str] = set()
    with reading(SOURCE):
        for section, sku, entry in entries(stream):
            if section == "products":
                listed = product(entry, lambda attributes: attributes.get("regionCode", region))
                if listed and listed.region == region and (listed.accelerated or machines(listed.instance_type)):
                    products[sku] = listed
            elif sku in products:
                machine = machines(products[sku].instance_type)
                if machine:
                    offers.extend(price_list_offers(products[sku], {section: entry}, machine, origin))
                else:
                    unknown |= {products[sku].instance_type} if products[sku].accelerated else set()
    if not offers:
        raise SchemaChanged(f"{SOURCE} of {region} prices no machine we know")
    return tuple(offers), unknown


def entries(stream: Readable) -> Iterator[tuple[str, str, object]]:
    """(section, SKU, its JSON) for products, then on-demand terms, then reserved terms.

    One pass: each section is cut out at its key and handed to the C parser as a document of its own, with a stub for
    the objects around it. Raises SchemaChanged.
    """
    section = ""
    try:
        for section, pieces in groupby(_pieces(stream), key=itemgetter(0)):
            if section in DEPTHS:
                prefix = ".".join("_" * DEPTHS[section])
                for sku, entry in ijson.kvitems(_Section(pieces), prefix, buf_size=BLOCK_BYTES):
                    yield section, sku, entry
    except ijson.JSONError as error:
        raise SchemaChanged(f"{SOURCE} breaks off or is not JSON, in its {section}") from error
    if section not in ("OnDemand", "Reserved"):
        raise SchemaChanged(f"{SOURCE} holds no {'terms' if section else 'products'}")


class _Section:
    """One section of the file, readable as a file."""

    def __init__(self, pieces: Iterator[tuple[str, bytes]]) -> None:
        self._pieces = (piece for _, piece in pieces if piece)

    def read(self, amount: int, /) -> bytes:
        """The next piece: about `amount` bytes, none at the end."""
        return next(self._pieces, b"") if amount else b""


def _pieces(stream: Readable) -> Iterator[tuple[str, bytes]]:
    """The file in pieces, each with the section it lies in.

    What stands before a section's key ends in a comma, so a stub member closes it. The last section keeps the file's own
    end, which must close every object that its stub opened.
    """
    section, rest = "", b""
    while block := stream.read(BLOCK_BYTES):
        rest += block
        while match := SECTION.search(rest):
            yield section, rest[: match.start()] + b'"_":0' + b"}" * DEPTHS.get(section, 0)
            section, rest = match[1].decode(), rest[match.end() :]
            yield section, b'{"_":' * DEPTHS.get(section, 0) + b"{"
        yield section, rest[:-LONGEST_KEY_BYTES]
        rest = rest[-LONGEST_KEY_BYTES:]
    yield section, rest


def bulk_url(base: str, region: str) -> str:
    """Where a region's file lies below a base URL. Raises SourceError for what cannot be a region."""
    if not re.fullmatch(r"[a-z]{2}(-[a-z]+)+-\d", region):
        raise SourceError(f"{region!r} is no AWS region: write for instance COSTCALC_AWS_REGIONS=us-east-1,eu-west-1")
    return base.rstrip("/") + PATH.format(region=region)
