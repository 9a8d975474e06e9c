"""Editions: the current rates of a store that may be passed on, as one document that can be signed.

The signature is Ed25519 (RFC 8032) over the moment and the rates; keys are written as 64 hexadecimal digits.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Collection
from datetime import datetime

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from msgspec import DecodeError, Struct, msgpack

from costcalc.catalogue.catalogue import Catalogue

KEY = re.compile(r"[0-9a-fA-F]{64}")
MOST_BYTES = 64 * 2**20  # of the rates, unpacked; ten thousand take 2 MiB


class NoEdition(ValueError):
    """The document is not an edition, or not signed by a trusted key; the message says which."""


class _Document(Struct, array_like=True):
    made_at: str
    rates: bytes
    signature: bytes = b""

    @property
    def signed(self) -> bytes:
        return self.made_at.encode() + self.rates


def make(catalogue: Catalogue, now: datetime, key: str | None = None) -> bytes:
    """The current rates of a catalogue, signed if there is a key. Raises ValueError for an invalid key."""
    rows = catalogue.current_offers(now).listed
    offers = map(catalogue.offer, rows[~catalogue.own[rows]].tolist())
    rates = zlib.compress(Catalogue.from_offers(offers, "").to_bytes(), 9)
    document = _Document(now.isoformat(), rates)
    if key:
        document.signature = Ed25519PrivateKey.from_private_bytes(_bytes(key)).sign(document.signed)
    return msgpack.encode(document)


def read(content: bytes, trusted: Collection[str]) -> Catalogue:
    """The rates of an edition that one of these public keys has signed. Raises NoEdition."""
    try:
        document = msgpack.decode(content, type=_Document)
    except DecodeError as error:
        raise NoEdition(f"what was read is no edition: {error}") from None
    if not any(_has_signed(key, document) for key in trusted):
        raise NoEdition("the edition is not signed by a key of COSTCALC_EDITION_TRUSTED")
    try:
        return Catalogue.from_bytes(zlib.decompressobj().decompress(document.rates, MOST_BYTES), "")
    except (zlib.error, ValueError, KeyError):
        raise NoEdition("the edition was made by another version of costcalc") from None


def public_key(key: str) -> str:
    """The public half of a key, as others trust it. Raises ValueError."""
    return Ed25519PrivateKey.from_private_bytes(_bytes(key)).public_key().public_bytes_raw().hex()


def _has_signed(key: str, document: _Document) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(_bytes(key)).verify(document.signature, document.signed)
    except InvalidSignature:
        return False
    return True


def _bytes(key: str) -> bytes:
    if not KEY.fullmatch(key):
        raise ValueError("write a key as 64 hexadecimal digits")
    return bytes.fromhex(key)
