"""How offers become columns: every word gets a number, every amount its nano-units, and rows the order of their keys."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costcalc.catalogue.columns import NAMES, Columns, Int32, Int64, Vocabulary, counts_from
from costcalc.hardware import Machine
from costcalc.money import to_nanos
from costcalc.offer import Offer, PurchaseOption, Tariff, tariff

RECORDS_AT_ONCE = 10_000
LARGEST_CODE = 2**62
Named = dict[str, NDArray[Any]]
Renumbering = dict[str, NDArray[Any]]
OPTION_CODES = {option: code for code, option in enumerate(PurchaseOption)}


class Codes(dict[Any, int]):
    """Words by number; a new one gets the next."""

    def __init__(self, words: Iterable[Any] = ()) -> None:
        super().__init__((word, number) for number, word in enumerate(words))

    def __missing__(self, word: Any) -> int:
        self[word] = len(self)
        return self[word]


class _Builder:
    def __init__(self) -> None:
        self.words = {name: Codes() for name in Vocabulary.__struct_fields__}
        self.machines: dict[tuple[str, str], Machine] = {}

    def record(self, offer: Offer) -> tuple[float, ...]:
        """The offer's entries from `instance` on, in the order of the columns."""
        return (*self._coded(offer), *_figures(offer, tariff(offer)))

    def _coded(self, offer: Offer) -> tuple[int, ...]:
        words, name = self.words, (offer.provider, offer.instance_type)
        if self.machines.setdefault(name, offer.machine) != offer.machine:
            raise ValueError(f"{offer.provider} {offer.instance_type} is given two machines: check its hardware facts")
        return (
            words["instances"][name],
            words["regions"][offer.region],
            OPTION_CODES[offer.purchase_option],
            words["terms"][offer.term or ""],
            words["payments"][offer.payment.value if offer.payment else ""],
            words["classes"][offer.offering_class or ""],
            words["currencies"][offer.currency],
            words["sources"][offer.source],
            words["flags"][";".join(offer.flags)],
            words["parts"][";".join(f"{part.name}={part.hourly}" for part in offer.parts)],
        )

    def sorted(self) -> tuple[Vocabulary, dict[str, Int64]]:
        """The vocabulary in alphabetical order, and by kind of word the new number of every code."""
        ordered = {kind: tuple(sorted(codes)) for kind, codes in self.words.items()}
        renumbered = {kind: _positions(ordered[kind], codes) for kind, codes in self.words.items()}
        instances = tuple((*name, self.machines[name]) for name in ordered.pop("instances"))
        return Vocabulary(instances, **ordered), renumbered


def _positions(ordered: tuple[Any, ...], words: Iterable[Any]) -> Int64:
    position = Codes(ordered)
    return np.array([position[word] for word in words], np.int64)


def _figures(offer: Offer, billed: Tariff) -> tuple[float, ...]:
    """The rates, the tariff, the moments and the quotas of an offer."""
    nan = float("nan")
    amounts = (offer.upfront, offer.recurring_hourly, offer.monthly)
    return (
        to_nanos(offer.hourly_rate),
        *(-1 if amount is None else to_nanos(amount) for amount in amounts),
        offer.hours_in_month,
        to_nanos(billed.fee),
        billed.period_hours,
        billed.minimum_periods,
        billed.sold_singly,
        to_nanos(billed.metered_hourly),
        billed.increment_seconds,
        billed.minimum_seconds,
        int(offer.observed_at.timestamp()),
        -1 if offer.effective_from is None else int(offer.effective_from.timestamp()),
        nan if offer.session_hours is None else offer.session_hours,
        nan if offer.hours_per_week is None else offer.hours_per_week,
    )


_DTYPE_OF: dict[str, Any] = {"Int64": np.int64, "Int32": np.int32, "Int16": np.int16, "Int8": np.int8}
_DTYPES = {name: _DTYPE_OF.get(kind, np.float32) for name, kind in Columns.__annotations__.items()}


KINDS = {"instance": "instances", "region": "regions", "term": "terms", "payment": "payments", "offering": "classes"}
KINDS |= {"currency": "currencies", "source": "sources", "flags": "flags", "parts": "parts"}
"""The kind of word that stands in each column."""


def build(offers: Iterable[Offer]) -> tuple[Columns, Vocabulary]:
    """The columns and vocabulary of these observations."""
    named, vocabulary = encode(offers)
    return ordered(named), vocabulary


def encode(offers: Iterable[Offer]) -> tuple[Named, Vocabulary]:
    """These observations, in their order, as arrays by name, from `instance` on, and their vocabulary."""
    builder, names = _Builder(), NAMES[2:]
    blocks: dict[str, list[NDArray[Any]]] = {name: [np.empty(0, _DTYPES[name])] for name in names}
    records = map(builder.record, offers)
    while some := list(islice(records, RECORDS_AT_ONCE)):  # never more than a block of records is in memory
        for name, values in zip(names, zip(*some, strict=True), strict=True):
            blocks[name].append(np.array(values, _DTYPES[name]))
    named = {name: np.concatenate(arrays) for name, arrays in blocks.items()}
    vocabulary, renumbered = builder.sorted()
    for name, kind in KINDS.items():
        named[name] = renumbered[kind][named[name]].astype(_DTYPES[name]) if len(named[name]) else named[name]
    return named, vocabulary


def joined(first: Vocabulary, second: Vocabulary) -> tuple[Vocabulary, Renumbering, Renumbering]:
    """One vocabulary for both, and what every code of each becomes in it, by column.

    Of two machines with one name, the second says what it holds.
    """
    machines = {(provider, name): machine for provider, name, machine in (*first.instances, *second.instances)}
    kinds = [kind for kind in KINDS.values() if kind != "instances"]
    words = {kind: tuple(sorted({*getattr(first, kind), *getattr(second, kind)})) for kind in kinds}
    both = Vocabulary(tuple((*name, machines[name]) for name in sorted(machines)), **words)
    return both, _renumbering(first, both), _renumbering(second, both)


def extended(columns: Columns, vocabulary: Vocabulary, offers: Iterable[Offer]) -> tuple[Columns, Vocabulary]:
    """These columns and observations together, with a vocabulary for both."""
    named, words = encode(offers)
    both, first, second = joined(vocabulary, words)
    old = {name: getattr(columns, name) for name in NAMES[2:]}
    old |= {name: codes[old[name]] for name, codes in first.items()}
    named |= {name: codes[named[name]] for name, codes in second.items()}
    return ordered({name: np.concatenate([old[name], named[name]]) for name in old}), both


def _renumbering(old: Vocabulary, new: Vocabulary) -> Renumbering:
    """By column, the new code of every old one."""
    positions = {name: _positions(_names(new, kind), _names(old, kind)) for name, kind in KINDS.items()}
    return {name: codes.astype(_DTYPES[name]) for name, codes in positions.items()}


def _names(vocabulary: Vocabulary, kind: str) -> tuple[Any, ...]:
    """The words of a kind; of machines, their names."""
    words: tuple[Any, ...] = getattr(vocabulary, kind)
    return tuple(word[:2] for word in words) if kind == "instances" else words


def ordered(named: dict[str, NDArray[Any]]) -> Columns:
    """Columns made of arrays by name: with `key` and `group`, and in their order."""
    parts = ("instance", "option", "term", "payment", "offering")
    group = _dense([named[name] for name in parts])
    key = _dense([group, named["region"]])
    counting = counts_from(named["observed"], named["effective_from"])
    order = np.lexsort((named["observed"], counting, key))
    return Columns(key=key[order], group=group[order], **{name: values[order] for name, values in named.items()})


def _dense(parts: list[NDArray[Any]]) -> Int32:
    """One small number for each combination of codes, in their lexical order."""
    combined, size = np.zeros(len(parts[0]), np.int64), 1
    for part in parts:
        words = int(part.max(initial=0)) + 1
        if size * words > LARGEST_CODE:
            combined = np.unique(combined, return_inverse=True)[1].astype(np.int64)
            size = len(combined)
        combined, size = combined * words + part, size * words
    return np.unique(combined, return_inverse=True)[1].astype(np.int32)
