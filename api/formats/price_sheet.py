"""The price sheet as text, column by column and a few thousand rows at a time: as fast as the file can be written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from api.formats.csv_export import cell_writer, chosen, written
from api.questions.schemas.layout import Layout
from costcalc.catalogue.catalogue import OPTIONS, SCARCITY, Catalogue
from costcalc.catalogue.confirmation import Confirmation
from costcalc.money import NANOS_PER_UNIT
from costcalc.offer import COMMITMENTS, PurchaseOption, is_available
from costcalc.units import Indices

ROWS_AT_ONCE = 4096
AMOUNTS_KEPT = 8192
COMMITTED = [code for code, option in enumerate(OPTIONS) if option in COMMITMENTS]
MONTHLY = OPTIONS.index(PurchaseOption.MONTHLY)

Texts = Sequence[str | None]


class PriceSheet:
    """Writes rows of one catalogue: words are made safe once, however many rows carry them."""

    def __init__(self, catalogue: Catalogue, confirmed: Confirmation, layout: Layout) -> None:
        self._catalogue, self._confirmed, self._layout = catalogue, confirmed, layout
        self._cells = cell_writer(layout)
        self._amounts = lru_cache(AMOUNTS_KEPT)(self._amount)
        self._moments = lru_cache(AMOUNTS_KEPT)(self._moment)
        self._by_name = {**self._of_machines(), **self._of_words(), **self._of_rates()}

    def chunks(self, rows: Indices, names: Sequence[str], words: Mapping[str, str]) -> Iterator[bytes]:
        """These rows as CSV in pieces: the chosen columns of those with these names, and the user's own words behind, the same
        in every row."""
        wanted = chosen([*names, *words], self._layout)
        columns = [self._repeated(words[name]) if name in words else self._by_name[name] for name in wanted]
        return written(wanted, _lines(rows, columns), self._layout)

    def _of_machines(self) -> dict[str, Callable[[Indices], Texts]]:
        codes, instances = self._catalogue.columns.instance, self._catalogue.vocabulary.instances
        names = ("accelerator", "accelerators", "accelerator_memory_gib", "vcpus", "memory_gib")
        return {
            "provider": self._words(codes, [provider for provider, _, _ in instances]),
            "instance_type": self._words(codes, [name for _, name, _ in instances]),
            **{name: self._words(codes, [getattr(machine, name) for *_, machine in instances]) for name in names},
        }

    def _of_words(self) -> dict[str, Callable[[Indices], Texts]]:
        columns, words = self._catalogue.columns, self._catalogue.vocabulary
        flags = [tuple(flag for flag in text.split(";") if flag) for text in words.flags]
        return {
            "region": self._words(columns.region, words.regions),
            "purchase_option": self._words(columns.option, OPTIONS),
            "term": self._words(columns.term, words.terms),
            "payment": self._words(columns.payment, words.payments),
            "currency": self._words(columns.currency, words.currencies),
            "source": self._words(columns.source, words.sources),
            "flags": self._words(columns.flags, flags),
            "offering_class": self._words(columns.offering, words.classes),
            "available": self._words(columns.flags, [is_available(each) for each in flags]),
            "available_at": self._available_at,
            "confirmed": self._are_confirmed,
        }

    def _of_rates(self) -> dict[str, Callable[[Indices], Texts]]:
        columns = self._catalogue.columns
        return {
            "hourly_rate": self._hourly,
            "upfront": self._written(columns.upfront, self._amounts),
            "recurring_hourly": self._written(columns.recurring, self._amounts),
            "monthly": self._written(columns.monthly, self._amounts),
            "effective_from": self._written(columns.effective_from, self._moments),
            "observed_at": self._written(columns.observed, self._moments),
        }

    def _are_confirmed(self, rows: Indices) -> Texts:
        no, yes = self._cells(False), self._cells(True)
        return [yes if confirmed else no for confirmed in self._confirmed.of(rows).tolist()]

    def _repeated(self, words: str) -> Callable[[Indices], Texts]:
        safe = self._cells(words)
        return lambda rows: [safe] * len(rows)

    def _words(self, codes: NDArray[Any], words: Sequence[Any]) -> Callable[[Indices], Texts]:
        return self._written(codes, list(map(self._cells, words)).__getitem__)

    @staticmethod
    def _written(values: NDArray[Any], write: Callable[[int], str | None]) -> Callable[[Indices], Texts]:
        return lambda rows: list(map(write, values[rows].tolist()))

    def _available_at(self, rows: Indices) -> Texts:
        """From when a machine was free: only few offers say it."""
        texts: list[str | None] = [None] * len(rows)
        for position in np.flatnonzero(self._catalogue.scarcity[rows] == SCARCITY[True]).tolist():
            texts[position] = self._cells(self._catalogue.offer(int(rows[position])).available_at)
        return texts

    def _hourly(self, rows: Indices) -> Texts:
        """Rates that an upfront payment or a month spreads over hours have more digits than the column holds."""
        columns = self._catalogue.columns
        upfront, recurring = columns.upfront[rows], columns.recurring[rows]
        committed = np.isin(columns.option[rows], COMMITTED) & (recurring >= 0)
        hourly = np.where(committed & (upfront == 0), recurring, columns.hourly[rows])
        texts = list(map(self._amounts, hourly.tolist()))
        monthly = (columns.option[rows] == MONTHLY) & (columns.monthly[rows] >= 0)
        for position in np.flatnonzero(monthly | (committed & (upfront > 0))).tolist():
            texts[position] = self._cells(self._catalogue.hourly_rate(int(rows[position])))
        return texts

    def _amount(self, nanos: int) -> str | None:
        """Billionths as a number with one decimal at least; none where unknown."""
        if nanos < 0:
            return None
        whole, rest = divmod(nanos, NANOS_PER_UNIT)
        return f"{whole}{self._layout.decimal}{f'{rest:09d}'.rstrip('0') or '0'}"

    def _moment(self, seconds: int) -> str | None:
        return None if seconds < 0 else self._cells(datetime.fromtimestamp(seconds, UTC))


def _lines(rows: Indices, columns: Sequence[Callable[[Indices], Texts]]) -> Iterator[tuple[str | None, ...]]:
    for start in range(0, len(rows), ROWS_AT_ONCE):
        part = rows[start : start + ROWS_AT_ONCE]
        yield from zip(*(column(part) for column in columns), strict=True)
