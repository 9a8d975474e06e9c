"""The book of prices: every observation since it was begun, as columns to which each publication adds its rows.

A row is a rate as it was first seen, with the moment at which it was last seen unchanged. When a book has grown long it becomes
a segment, which never changes any more, and a new book begins with what stands.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from costcalc.catalogue.catalogue import OPTIONS, Catalogue
from costcalc.catalogue.columns import NAMES, Vocabulary, as_array, from_array
from costcalc.catalogue.encoding import KINDS, Named, Renumbering, encode, joined, ordered
from costcalc.hardware import Machine
from costcalc.offer import ENDED, Gap, Offer
from costcalc.units import SECONDS_PER_DAY, Flags, Indices
from pricing.scope import Key

PACKAGED = "packaged"
DIGEST_BYTES = 16
DIGEST = np.dtype((np.void, DIGEST_BYTES))
OWN: dict[str, Any] = {"origin": np.int16, "seen": np.int64, "seen_flags": np.int32, "offer": DIGEST, "rate": DIGEST}
OWN |= {"repeat": np.bool_, "kept": np.bool_}
"""A book's columns beside those of a catalogue: who brought the row, when it was last seen unchanged and with which flags, its
digests, whether it only repeats the row before, and whether it goes on into every later book: packaged and late ones do."""


class Entry(Struct, frozen=True):
    """A new row: the offer, who brought it, what identifies it and what would make it a new rate."""

    origin: str
    offer: Offer
    offer_digest: bytes
    rate_digest: bytes


class Last(NamedTuple):
    """What an origin last said of an offer: its row, the digest of the rate, when it was last seen, and whether it has ended."""

    row: int
    rate_digest: bytes
    seen: int
    flags: str

    @property
    def is_ended(self) -> bool:
        return ENDED in self.flags.split(";")


class Book(Struct, frozen=True, eq=False):
    """Arrays by name, from `instance` on, in the order in which their rows were added; codes into the vocabulary and `origins`.

    `started_at` is the moment, in seconds since 1970, from which on it knows everything; `begun_with` are the rows of then.
    """

    named: Named
    vocabulary: Vocabulary
    origins: tuple[str, ...] = ()
    started_at: int = 0
    begun_with: int = 0

    @classmethod
    def empty(cls) -> Book:
        """A book without rows, which knows everything from the first publication on."""
        named, vocabulary = encode([])
        return cls(named | {name: np.empty(0, kind) for name, kind in OWN.items()}, vocabulary)

    def __len__(self) -> int:
        return len(self.named["seen"])

    def rows_of(self, origin: str) -> Indices:
        """The rows that an origin brought, in the order in which they were added."""
        if origin not in self.origins:
            return np.zeros(0, np.int64)
        return np.flatnonzero(self.named["origin"] == self.origins.index(origin))

    def last(self, origin: str) -> dict[bytes, Last]:
        """What an origin last said of each of its offers, by offer digest."""
        rows = self.rows_of(origin)
        rows = rows[np.argsort(self.named["observed"][rows], kind="stable")]
        newest = dict(zip(digests_in(self.named["offer"][rows]), rows.tolist(), strict=True))
        rows = np.fromiter(newest.values(), np.int64, len(newest))
        flags = [self.vocabulary.flags[code] for code in self.named["seen_flags"][rows].tolist()]
        columns = (rows.tolist(), digests_in(self.named["rate"][rows]), self.named["seen"][rows].tolist(), flags)
        return dict(zip(newest, map(Last, *columns), strict=True))

    def without_known(self, origin: str, entries: Sequence[Entry]) -> list[Entry]:
        """Those that say what no row of this origin says of their moment."""
        rows = self.rows_of(origin) if entries else np.zeros(0, np.int64)
        known: dict[tuple[bytes, bytes], list[tuple[int, int]]] = {}
        digests = (digests_in(self.named[name][rows]) for name in ("offer", "rate"))
        spans = zip(self.named["observed"][rows].tolist(), self.named["seen"][rows].tolist(), strict=True)
        for offer, rate, span in zip(*digests, spans, strict=True):
            known.setdefault((offer, rate), []).append(span)

        def is_known(each: Entry) -> bool:
            seen = int(each.offer.observed_at.timestamp())
            return any(first <= seen <= last for first, last in known.get((each.offer_digest, each.rate_digest), ()))

        return [entry for entry in entries if not is_known(entry)]

    def keys(self, rows: Indices) -> list[Key]:
        """The key of the offer in each row, and its currency behind it."""
        words, named = self.vocabulary, {name: self.named[name][rows].tolist() for name in KEY_PARTS}
        machines = [words.instances[code] for code in named["instance"]]
        columns = (
            [provider for provider, _, _ in machines],
            [words.regions[code] for code in named["region"]],
            [name for _, name, _ in machines],
            [OPTIONS[code].value for code in named["option"]],
            [words.terms[code] for code in named["term"]],
            [words.payments[code] for code in named["payment"]],
            [words.classes[code] for code in named["offering"]],
            [words.currencies[code] for code in named["currency"]],
        )
        return list(zip(*columns, strict=True))

    def taken(self, rows: Indices | Flags) -> Book:
        """These rows only."""
        return replace(self, named={name: values[rows] for name, values in self.named.items()})

    def with_machines(self, machines: Mapping[tuple[str, str], Machine]) -> Book:
        """The same rows, with these machines in place of those they rent."""
        before = self.vocabulary.instances
        instances = tuple((provider, name, machines.get((provider, name), old)) for provider, name, old in before)
        return replace(self, vocabulary=replace(self.vocabulary, instances=instances))

    def and_also(self, other: Book) -> Book:
        """The rows of both, these first. The other states what a machine in both holds."""
        vocabulary, mine, theirs = joined(self.vocabulary, other.vocabulary)
        origins = (*self.origins, *(name for name in other.origins if name not in self.origins))
        codes = np.array([origins.index(name) for name in other.origins], np.int16)
        second = _recoded(other.named, theirs)
        second["origin"] = codes[second["origin"]] if len(codes) else second["origin"]
        first = self.named if vocabulary == self.vocabulary else _recoded(self.named, mine)
        named = {name: np.concatenate([values, second[name]]) for name, values in first.items()}
        return replace(self, named=named, vocabulary=vocabulary, origins=origins)

    def seen_again(self, rows: Indices, moments: Indices, flags: Sequence[str | None]) -> Book:
        """These rows were seen unchanged at these moments; `flags` has new flags for a row, None where its flags did not change.

        The last sighting of each month stays: a row that was last seen in an earlier month is copied, and the copy is marked.
        """
        book, texts = self, {text for text in flags if text is not None}
        if not texts <= {*self.vocabulary.flags}:
            empty = Book.empty()
            book = self.and_also(replace(empty, vocabulary=replace(empty.vocabulary, flags=tuple(sorted(texts)))))
        last_seen, first_seen = book.named["seen"][rows], book.named["observed"][rows]
        copied = (_month(last_seen) != _month(moments)) & (last_seen > first_seen)
        book = book._with_repeats(rows[copied])
        marked = rows.copy()
        marked[copied] = np.arange(len(self), len(book))
        seen, seen_flags = book.named["seen"].copy(), book.named["seen_flags"].copy()
        seen[marked] = moments
        codes = {text: code for code, text in enumerate(book.vocabulary.flags)}
        changed = {row: codes[text] for row, text in zip(marked.tolist(), flags, strict=True) if text is not None}
        seen_flags[list(changed)] = list(changed.values())
        return replace(book, named=book.named | {"seen": seen, "seen_flags": seen_flags})

    def _with_repeats(self, rows: Indices) -> Book:
        """Each of these rows once more at the end, observed when it was last seen; the row itself is as first observed."""
        repeats = {name: values[rows] for name, values in self.named.items()}
        repeats |= {"observed": repeats["seen"], "flags": repeats["seen_flags"], "repeat": np.ones(len(rows), bool)}
        columns = self.named.items()
        named = {name: np.concatenate([values, repeats[name].astype(values.dtype)]) for name, values in columns}
        named["seen"][rows] = named["observed"][rows]
        named["seen_flags"][rows] = named["flags"][rows]
        return replace(self, named=named)

    def without_digests(self) -> Book:
        """The same rows with blank digests, which take no room once they are compressed."""
        return replace(self, named=self.named | {name: np.zeros(len(self), DIGEST) for name in ("offer", "rate")})

    def with_own_words(self) -> Book:
        """The same rows with a vocabulary of only the words that stand in them."""
        kinds = KINDS | {"seen_flags": "flags"}
        columns = {kind: [self.named[name] for name, of in kinds.items() if of == kind] for kind in KINDS.values()}
        codes = {kind: np.unique(np.concatenate(arrays)) for kind, arrays in columns.items()}
        renumbered = {
            name: np.searchsorted(codes[kind], self.named[name]).astype(self.named[name].dtype)
            for name, kind in kinds.items()
        }
        words = {kind: tuple(getattr(self.vocabulary, kind)[code] for code in used) for kind, used in codes.items()}
        return replace(self, named=self.named | renumbered, vocabulary=Vocabulary(**words))

    def begun_anew(self, now: datetime) -> Book:
        """A new book: what each origin last said of each offer, and what is kept."""
        stays = self.named["kept"].copy()
        for origin in self.origins:
            stays[[each.row for each in self.last(origin).values()]] = True
        return replace(self.taken(stays), started_at=int(now.timestamp()), begun_with=int(stays.sum()))

    def catalogue(self, snapshot: str, gaps: tuple[Gap, ...] = ()) -> Catalogue:
        """All rows as a catalogue; a row that was seen again stands there a second time, with the later moment."""
        again = np.flatnonzero(self.named["seen"] > self.named["observed"])
        later = {"observed": self.named["seen"][again], "flags": self.named["seen_flags"][again]}
        named = {}
        for name in NAMES[2:]:
            values = self.named[name]
            named[name] = np.concatenate([later.get(name, values[again]).astype(values.dtype), values])
        live = np.array([origin != PACKAGED for origin in self.origins], bool)
        seen = self.named["seen"][live[self.named["origin"]]]
        refreshed_at = moment(int(seen.max())) if len(seen) else None
        return Catalogue(ordered(named), self.vocabulary, snapshot, gaps, self.started_at, refreshed_at)

    def offers(self, rows: Indices) -> list[Offer]:
        """The offers in these rows as first observed, by key and moment."""
        catalogue = self.taken(rows).first_seen()
        return [catalogue.offer(row) for row in range(len(catalogue))]

    def first_seen(self) -> Catalogue:
        """All rows as a catalogue, each once."""
        return Catalogue(ordered({name: self.named[name] for name in NAMES[2:]}), self.vocabulary, "")

    def to_bytes(self) -> bytes:
        head = json.dumps([self.origins, self.started_at, self.begun_with]).encode()
        buffer = io.BytesIO()
        arrays: dict[str, Any] = {"head": np.frombuffer(head, np.uint8), "vocabulary": as_array(self.vocabulary)}
        np.savez(buffer, **arrays | self.named)
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, document: bytes) -> Book:
        """What `to_bytes` wrote. Raises ValueError or KeyError on anything else."""
        with np.load(io.BytesIO(document), allow_pickle=False) as arrays:
            origins, *begun = json.loads(arrays["head"].tobytes())
            named = {name: arrays[name] for name in (*NAMES[2:], *OWN)}
            return cls(named, from_array(arrays["vocabulary"]), tuple(origins), *begun)


KEY_PARTS = ("instance", "region", "option", "term", "payment", "offering", "currency")


def book_of(entries: Sequence[Entry], now: datetime) -> Book:
    """These rows as a book of their own. Packaged and late ones, observed over a day ago, are kept in every later book."""
    named, vocabulary = encode(entry.offer for entry in entries)
    origins = tuple(dict.fromkeys(entry.origin for entry in entries))
    origin = np.array([origins.index(entry.origin) for entry in entries], np.int16)
    late = named["observed"] < int(now.timestamp()) - SECONDS_PER_DAY
    own = {
        "origin": origin,
        "seen": named["observed"],
        "seen_flags": named["flags"],
        "offer": np.frombuffer(b"".join(entry.offer_digest for entry in entries), DIGEST),
        "rate": np.frombuffer(b"".join(entry.rate_digest for entry in entries), DIGEST),
        "repeat": np.zeros(len(entries), bool),
        "kept": late | np.isin(origin, [code for code, name in enumerate(origins) if name == PACKAGED]),
    }
    return Book(named | {name: values.astype(OWN[name]) for name, values in own.items()}, vocabulary, origins)


def digests_in(digests: NDArray[np.void]) -> list[bytes]:
    """The digests of a column, one by one."""
    raw = digests.tobytes()
    return [raw[start : start + DIGEST_BYTES] for start in range(0, len(raw), DIGEST_BYTES)]


def moment(seconds: int) -> datetime:
    """The moment this many seconds after 1970."""
    return datetime.fromtimestamp(seconds, UTC)


def _recoded(named: Named, codes: Renumbering) -> Named:
    """The arrays with new codes."""
    recoded = {name: new[named[name]] if len(new) else named[name] for name, new in codes.items()}
    flags = codes["flags"]
    return named | recoded | {"seen_flags": flags[named["seen_flags"]] if len(flags) else named["seen_flags"]}


def _month(seconds: Indices) -> NDArray[np.datetime64]:
    return seconds.astype("datetime64[s]").astype("datetime64[M]")
