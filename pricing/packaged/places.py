"""Where the regions of the large clouds are, and what the names of places mean.

`regions.csv` has each region with its city, `cities.csv` where a city is, to a degree. `places.csv` has other words for places
and for groups of them, the usual word first; `country_codes.csv` has ISO 3166's letters for the countries of the regions, but for
those that are a state's too (CA, CO, IL). Government clouds and separate partitions are known by their codes alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from functools import cache, cached_property
from math import acos, cos, radians, sin
from string import digits
from unicodedata import normalize

from msgspec import Struct

from costcalc.offer import ANY_REGION
from pricing.packaged.names import REGION_CODE, spelled_regions
from pricing.packaged.tables import Row, Table

REGIONS = Table("regions.csv", "provider region", "kind city country source")
CITIES = Table("cities.csv", "city country", "area continent latitude longitude")
PLACES = Table("places.csv", "words", "means")
COUNTRY_CODES = Table("country_codes.csv", "code", "country")
EVERYBODY_S = ("region", "local zone", "wavelength zone")
_BETWEEN = re.compile(r"[\s\-_]+")


class City(Struct, frozen=True):
    """Where a region is; `area` is a state of a large country, empty elsewhere."""

    name: str
    country: str
    area: str
    continent: str
    latitude: float
    longitude: float

    @property
    def names(self) -> tuple[str, ...]:
        """The places that it is in, from the smallest to the largest."""
        return tuple(filter(None, (self.name, self.area, self.country, self.continent)))

    def degrees_from(self, other: City) -> float:
        """The angle between the two, seen from the middle of the earth."""
        north, to = radians(self.latitude), radians(other.latitude)
        cosine = sin(north) * sin(to) + cos(north) * cos(to) * cos(radians(self.longitude - other.longitude))
        return acos(max(-1.0, min(1.0, cosine)))


class Region(Struct, frozen=True):
    """A region of a provider, by its code."""

    provider: str
    code: str
    kind: str
    city: City

    def __str__(self) -> str:
        return f"{self.code} ({self.city.name})"


class Places(Struct, frozen=True, dict=True):
    """All regions, and `groups`: by a word's plain form its usual spelling and the places that it means."""

    regions: tuple[Region, ...]
    groups: dict[str, tuple[str, tuple[str, ...]]]

    def word(self, text: str) -> str | None:
        """The usual name of a place, in lower case; None if no region is in a place of this name."""
        plain = plain_name(text)
        if plain in self.groups:
            return self.groups[plain][0]
        return self._usual.get(plain)

    def codes(self, text: str) -> tuple[str, ...]:
        """The codes of all regions in the place that a text names; none if it names no place."""
        plain = plain_name(text)
        names = self.groups[plain][1] if plain in self.groups else (plain,)
        return tuple(dict.fromkeys(region.code for name in names for region in self._by_name.get(plain_name(name), ())))

    def words(self) -> Iterable[str]:
        """Every word for a place."""
        return dict.fromkeys((*self.groups, *self._by_name))

    def of(self, codes: Collection[str], providers: Collection[str] = ()) -> tuple[Region, ...]:
        """The regions with these codes, of these providers if any are given."""
        coded = (region for region in self.regions if region.code in codes)
        return tuple(region for region in coded if not providers or region.provider in providers)

    @cached_property
    def codes_known(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(region.code for region in self.regions))

    @cached_property
    def _by_name(self) -> dict[str, tuple[Region, ...]]:
        by_name: dict[str, tuple[Region, ...]] = {}
        for region in self.regions:
            if region.kind in EVERYBODY_S:
                for name in dict.fromkeys(map(plain_name, region.city.names)):
                    by_name[name] = (*by_name.get(name, ()), region)
        return by_name

    @cached_property
    def _usual(self) -> dict[str, str]:
        """The usual name by plain name: that of the group which means this place alone."""
        alone = {plain_name(means[0]): usual for usual, means in self.groups.values() if len(means) == 1}
        return {plain: alone.get(plain, plain) for plain in self._by_name}


def nearest(wanted: Collection[Region], having: Collection[Region]) -> Region | None:
    """The region that has rates and lies nearest to any of those wanted; None if there is none of either."""

    def distance(region: Region) -> tuple[float, str]:
        return min(region.city.degrees_from(each.city) for each in wanted), region.code

    return min(having, key=distance, default=None) if wanted else None


def plain_name(text: str) -> str:
    """The form in which places are compared: lower case, without accents, words one space apart."""
    letters = normalize("NFKD", text.casefold()).encode("ascii", "ignore").decode()
    return _BETWEEN.sub(" ", letters).strip().removeprefix("the ") or text


@cache
def countries() -> dict[str, str]:
    """The country of ISO 3166's two letters, which no sentence asks for: it has IN and NO too. Raises TableError."""
    return {code: country for (code,), country in COUNTRY_CODES.read(lambda row: row.text("country")).items()}


@cache
def places() -> Places:
    """The packaged table. Raises TableError."""
    cities = CITIES.read(_city)
    regions = REGIONS.read(lambda row: (row.text("kind"), cities[row.text("city"), row.text("country")]))
    groups = {
        plain_name(word): (words.split(";")[0], means)
        for (words,), means in PLACES.read(lambda row: tuple(row.text("means").split(";"))).items()
        for word in words.split(";")
    }
    return Places(tuple(Region(provider, code, *where) for (provider, code), where in regions.items()), groups)


def _city(row: Row) -> City:
    return City(
        row.text("city"), row.text("country"), row.maybe("area") or "", row.text("continent"),
        row.number("latitude"), row.number("longitude"),
    )  # fmt: skip


EVERYWHERE = ("", "any", "all", "global", "*", "-")
_SIGNS = re.compile(r"[\s\-_.]+")
_IN_BRACKETS = re.compile(r".*\(([^()]+)\)")
_CONTINENT = re.compile(r"^\([^()]+\)\s*(?=\S)")  # before the names in Azure's portal: `(US) East US`
_ZONE = re.compile(r"(.+\d)-?[a-z]")


def region_of(provider: str, text: str) -> str:
    """The code of the region, in a provider without a known list the text itself. Raises ValueError saying what to type."""
    typed = _CONTINENT.sub("", text.strip())
    if typed.casefold() in EVERYWHERE:
        return ANY_REGION
    spellings = _spellings(provider)
    if not spellings:
        return typed
    for spelt in (typed, *(match[1] for match in [_ZONE.fullmatch(typed.casefold())] if match)):
        if code := spellings.get(_plain(spelt)):
            return code
    bracketed = _IN_BRACKETS.fullmatch(typed)
    codes = _codes(provider, typed) or (_codes(provider, bracketed[1]) if bracketed else ())
    if len(codes) == 1:
        return codes[0]
    if codes:
        raise ValueError(f"{text!r} has several regions of {provider}: type {' or '.join(codes)}")
    if _may_be_new(provider, typed):
        return typed
    near = next(iter(get_close_matches(_plain(typed), spellings, 1, 0.6)), None)
    raise ValueError(
        f"{text!r} is no region of {provider}: type {spellings[near] if near else 'its code'}, or leave it empty"
    )


def _may_be_new(provider: str, typed: str) -> bool:
    """Whether this looks like the code of a region that the table lacks, and not like a slip in one that it has."""
    form = REGION_CODE.get(provider)
    if form is None:
        return True
    stems = {code.rstrip(digits) for code in _spellings(provider).values()}
    stem = typed.rstrip(digits)
    is_code = stem != typed and form.fullmatch(typed) is not None
    return is_code and (stem in stems or not get_close_matches(stem, stems, 1, 0.8))


@cache
def _spellings(provider: str) -> Mapping[str, str]:
    """The codes of a provider's regions by their plain spellings."""
    coded = {_plain(region.code): region.code for region in places().regions if region.provider == provider}
    if not coded:
        return {}
    return {**{_plain(words): code for owner, words, code in spelled_regions() if owner == provider}, **coded}


def _codes(provider: str, place: str) -> tuple[str, ...]:
    """The provider's regions in a place, zones left out."""
    kinds = {(region.provider, region.code): region.kind for region in places().regions}
    return tuple(code for code in places().codes(place) if kinds.get((provider, code)) == "region")


def _plain(text: str) -> str:
    return _SIGNS.sub("", plain_name(text))
