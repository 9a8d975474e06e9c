"""The region of a provider that a text names: by its code, a zone's, the provider's words for it, or the place where it lies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from string import digits

from costcalc.offer import ANY_REGION
from pricing.packaged.names import REGION_CODE, spelled_regions
from pricing.packaged.places import places, plain_name

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
