"""Editions: the current rates of a store that may be passed on, as one document that can be signed.

The signature is Ed25519 (RFC 8032) over a name of the format, the length of the head, the head and the rates; keys are written as
64 hexadecimal digits. The head names the key, so that a signature holds for one key, one moment and one place in the row.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from hashlib import blake2b

import numpy as np
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from msgspec import DecodeError, Struct, ValidationError, json, msgpack
from msgspec.structs import replace

from costcalc.catalogue.catalogue import Catalogue
from costcalc.offer import Offer
from costcalc.units import SECONDS_PER_DAY
from pricing.edition_head import EditionHead

KEY = re.compile(r"[0-9a-fA-F]{64}")
DOMAIN = b"costcalc edition 2"
LONGEST_LIFE = timedelta(days=7)
CLOCK_TOLERANCE = timedelta(minutes=5)
MOST_DAYS = 540  # beyond which no answer uses a rate unless it is asked to
MOST_BYTES = 64 * 2**20  # of the rates, unpacked; ten thousand take 2 MiB


class NoEdition(ValueError):
    """The document is no edition that can be taken; the message says why."""


class Edition(Struct, frozen=True):
    """An edition as it was read."""

    head: EditionHead
    rates: Catalogue


class _Document(Struct, array_like=True):
    format: str
    head: bytes
    rates: bytes
    signature: bytes = b""

    @property
    def signed(self) -> bytes:
        return DOMAIN + len(self.head).to_bytes(8, "big") + self.head + self.rates


def make(offers: Iterable[Offer], now: datetime, key: str | None = None, before: EditionHead | None = None) -> bytes:
    """An edition of these offers, signed if there is a key; the next after the edition `before`, or one without a number. Raises
    ValueError for an invalid key."""
    rates = zlib.compress(Catalogue.from_offers(offers, "").to_bytes(), 9)
    number, previous = (before.number + 1, before.digest) if before else (0, "")
    head = EditionHead("", number, now, previous, expires_at=now + LONGEST_LIFE)
    content = msgpack.encode(_Document(DOMAIN.decode(), json.encode(head), rates))
    return signed(content, key) if key else content


def signed(content: bytes, key: str) -> bytes:
    """An edition that nobody has signed yet, signed with a key. Raises NoEdition, and ValueError for an invalid key."""
    document = _decoded(content)
    head = replace(_head(document, ()), key=public_key(key))
    document.head = json.encode(head)
    document.signature = Ed25519PrivateKey.from_private_bytes(_bytes(key)).sign(document.signed)
    return msgpack.encode(document)


def passed_on(catalogue: Catalogue, now: datetime, without: Collection[str] = ()) -> list[Offer]:
    """The offers of an edition: the newest by now of each, ends too, and what was announced by now for a later day. The providers
    in `without` are left out."""
    columns, moment = catalogue.columns, int(now.timestamp())
    rows = np.flatnonzero((columns.observed <= moment) & (columns.observed > moment - MOST_DAYS * SECONDS_PER_DAY))
    left_out = np.array([provider in without for provider, _, _ in catalogue.vocabulary.instances], bool)
    rows = rows[~catalogue.own[rows] & ~left_out[columns.instance[rows]]]
    ahead = columns.effective_from[rows] > moment
    counting, keys = rows[~ahead], columns.key[rows[~ahead]]
    newest = np.ones(len(counting), bool)
    newest[:-1] = keys[1:] != keys[:-1]
    return list(map(catalogue.offer, np.sort(np.concatenate([counting[newest], rows[ahead]])).tolist()))


def read(content: bytes, trusted: Collection[str], now: datetime) -> Edition:
    """An edition that one of these public keys has signed within the last seven days. Raises NoEdition."""
    edition = read_at_any_age(content, trusted)
    if fault := unfit_at(edition.head, now):
        raise NoEdition(f"the edition {fault}")
    return edition


def unfit_at(head: EditionHead, now: datetime) -> str | None:
    """Why an edition cannot be taken at a moment; None if it can."""
    if head.made_at > now + CLOCK_TOLERANCE:
        return f"says that it was made at {head.made_at:%Y-%m-%d %H:%M} UTC, which lies ahead"
    if (age := now - head.made_at) > LONGEST_LIFE:
        return f"is {age.days} days old, made on {head.made_at:%Y-%m-%d}; one is taken for {LONGEST_LIFE.days} days"
    if head.expires_at and now > head.expires_at:
        return f"expired at {head.expires_at:%Y-%m-%d %H:%M} UTC"
    return None


def read_at_any_age(content: bytes, trusted: Collection[str]) -> Edition:
    """An edition that one of these public keys has signed; without a key, one that nobody has. Raises NoEdition."""
    document = _decoded(content)
    head = _head(document, trusted)
    try:
        rates = Catalogue.from_bytes(zlib.decompressobj().decompress(document.rates, MOST_BYTES), "")
    except (zlib.error, ValueError, KeyError):
        raise NoEdition("the edition was made by another version of costcalc") from None
    return Edition(replace(head, digest=digest_of(content)), rates)


def digest_of(content: bytes) -> str:
    """What the next edition calls this one."""
    return blake2b(content, digest_size=32).hexdigest()


def public_key(key: str) -> str:
    """The public half of a key, as others trust it. Raises ValueError."""
    return Ed25519PrivateKey.from_private_bytes(_bytes(key)).public_key().public_bytes_raw().hex()


def _decoded(content: bytes) -> _Document:
    try:
        document = msgpack.decode(content, type=_Document)
    except (DecodeError, UnicodeDecodeError) as error:
        raise NoEdition(f"what was read is no edition of this format: {error}") from None
    if document.format != DOMAIN.decode():
        raise NoEdition("the edition is of another format than this version of costcalc reads")
    return document


def _head(document: _Document, trusted: Collection[str]) -> EditionHead:
    """The head of a document that the key it names has signed, if that key is trusted. Whoever trusts none reads what is not
    signed."""
    try:
        head = json.decode(document.head, type=EditionHead)
    except (DecodeError, UnicodeDecodeError, ValidationError) as error:
        raise NoEdition(f"the head of the edition cannot be read: {error}") from None
    if not trusted and not head.key:
        return head
    try:
        if head.key in {key.casefold() for key in trusted}:
            Ed25519PublicKey.from_public_bytes(_bytes(head.key)).verify(document.signature, document.signed)
            return head
    except InvalidSignature:
        pass
    raise NoEdition("the edition is not signed by a key of COSTCALC_EDITION_TRUSTED")


def _bytes(key: str) -> bytes:
    if not KEY.fullmatch(key):
        raise ValueError("write a key as 64 hexadecimal digits")
    return bytes.fromhex(key)
