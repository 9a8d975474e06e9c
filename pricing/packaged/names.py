"""Providers' spellings of accelerators and regions, turned into ours by table; an unknown spelling is never guessed.

The tables are `accelerator_names.csv` (a blank accelerator is known, but has no figures here) and `region_names.csv`; a new
accelerator is also known by the name of its data sheet. Case, punctuation and makers' names ("NVIDIA", "GeForce", "AMD") do not
matter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from difflib import get_close_matches
from functools import cache, lru_cache

from costcalc.hardware import Machine
from pricing.packaged.machine_facts import data_sheet_memory_gib, known_accelerators
from pricing.packaged.tables import Row, Table

ACCELERATOR_NAMES = Table("accelerator_names.csv", "scheme spelling memory_gib", "accelerator")
REGION_NAMES = Table("region_names.csv", "provider spelling", "region")
ANY = "*"  # the naming scheme that every provider shares; every spelling of a region
UNSPECIFIED = "unspecified"  # the provider doesn't say in which region
MEMORY_TOLERANCE = 0.12  # a share: providers report usable memory, in GB, GiB or MiB (an A100 of 40 GB as 39.6 GiB)

# A region's own code, as the provider writes it in its API; a new region is therefore no unknown spelling.
REGION_CODE: Mapping[str, re.Pattern[str]] = {
    "aws": re.compile(r"\A[a-z]{2}(-[a-z]+)+-\d"),
    "azure": re.compile(r"[a-z]{5,}\d?"),
    "gcp": re.compile(r"\A[a-z]+-[a-z]+\d+"),
}
_MAKERS = re.compile("nvidia|geforce|instinct|^amd")
_PUNCTUATION = re.compile("[^a-z0-9]")


class UnknownName(LookupError):
    """A spelling that no table has. `kind` is accelerator or region; the message names the table to add it to."""

    def __init__(self, kind: str, provider: str, spelling: str, near: str | None) -> None:
        hint, article = f", nearest is {near!r}" if near else "", "an" if kind[0] in "aeiou" else "a"
        super().__init__(
            f"{provider} calls {article} {kind} {spelling!r}, which we don't know{hint}: "
            f"add it to pricing/packaged/data/{kind}_names.csv"
        )
        self.kind, self.provider, self.spelling = kind, provider, spelling

    @property
    def reason(self) -> str:
        """Why what is called so is left out."""
        return f"{self.kind}s not known here left out"


class NoFigures(UnknownName):
    """An accelerator that the table knows, and of which there are no figures here."""

    reason = "accelerators without figures here left out"

    def __str__(self) -> str:
        return f"{self.provider} has {self.spelling!r}, an accelerator without figures here"


def accelerator(provider: str, spelling: str, memory_gib: float | None = None) -> str:
    """The canonical accelerator behind a provider's name of it.

    `memory_gib` is per accelerator; it decides where one name covers several (V100, A100). Raises UnknownName, NoFigures.
    """
    names = _accelerators()
    for scheme in (provider, ANY):
        for required, canonical in names.get((scheme, _plain(spelling)), ()):
            if required is None or abs((memory_gib or 0) - required) <= MEMORY_TOLERANCE * required:
                if not canonical:
                    raise NoFigures("accelerator", provider, spelling, None)
                return canonical
    if ours := _as_we_call_it(spelling, memory_gib):
        return ours
    raise UnknownName("accelerator", provider, spelling, _nearest(spelling, _spellings(provider)))


@lru_cache(maxsize=1000)
def _as_we_call_it(spelling: str, memory_gib: float | None) -> str | None:
    """The accelerator of this name, unless there are other forms of it (H100, H100-PCIe) or its data sheet has other memory."""
    ours = known_accelerators()
    name = next((name for name in ours if _plain(name) == _plain(spelling)), None)
    if name is None or any(other.startswith((f"{name}-", f"{name} ")) for other in ours):
        return None
    stated = data_sheet_memory_gib(name)
    is_other = memory_gib and stated and abs(memory_gib - stated) > MEMORY_TOLERANCE * stated
    return None if is_other else name


def region(provider: str, spelling: str) -> str:
    """The provider's own region code behind a code or a place name ("US East (N. Virginia)", "Delhi").

    Providers with one rate everywhere have one region in the table, under the spelling `*`. Those whose codes have no known form
    keep them as they are, unless the table has them. Raises UnknownName.
    """
    text, regions = spelling.strip(), _regions()
    if (everywhere := regions.get((provider, ANY))) is not None:
        return everywhere
    code = REGION_CODE.get(provider)
    if code is not None and code.fullmatch(text):
        return text
    match = regions.get((provider, text.casefold()))
    if match is None and code is None and text:
        return text.lower()
    if match is None:
        places = tuple(name for owner, name in regions if owner == provider)
        raise UnknownName("region", provider, spelling, _nearest(text.casefold(), places))
    return match


def _plain(spelling: str) -> str:
    """A name without case, punctuation and maker, which do not count."""
    return _PUNCTUATION.sub("", _MAKERS.sub("", spelling.casefold()))


@lru_cache(maxsize=1000)  # marketplaces list the same unknown cards thousands of times, and looking takes 10 ms
def _nearest(text: str, names: tuple[str, ...]) -> str | None:
    return next(iter(get_close_matches(text, names, n=1, cutoff=0)), None)


@cache
def _accelerators() -> dict[tuple[str, str], list[tuple[float | None, str]]]:
    """By scheme and plain spelling: the memory a row asks for, and the canonical name."""
    names: dict[tuple[str, str], list[tuple[float | None, str]]] = {}
    for (scheme, spelling, _), meaning in ACCELERATOR_NAMES.read(_meaning).items():
        names.setdefault((scheme, _plain(spelling)), []).append(meaning)
    return names


def _meaning(row: Row) -> tuple[float | None, str]:
    return row.maybe_number("memory_gib"), row.maybe("accelerator") or ""


@cache
def _spellings(provider: str) -> tuple[str, ...]:
    return tuple(spelling for scheme, spelling, _ in ACCELERATOR_NAMES.read(_meaning) if scheme in (provider, ANY))


@cache
def _regions() -> dict[tuple[str, str], str]:
    regions = REGION_NAMES.read(lambda row: row.text("region"))
    return {(provider, spelling.casefold()): region for (provider, spelling), region in regions.items()}


def spelled_regions() -> tuple[tuple[str, str, str], ...]:
    """Each provider, how it spells a region in words ("US East (N. Virginia)"), and the region's code."""
    regions = REGION_NAMES.read(lambda row: row.text("region"))
    return tuple((provider, spelling, code) for (provider, spelling), code in regions.items() if spelling != ANY)


NOT_COUNTED = "types whose number of accelerators is not stated"
_PARTS = re.compile(r"[._-]")


def uncounted(
    provider: str,
    instance_type: str,
    known: Mapping[str, Machine],
    vcpus: int | None = None,
    memory_gib: float | None = None,
) -> Machine | None:
    """The machine, as far as its name says: `g7.16xlarge` has what all `known` machines of its family have, and
    `Standard_ND96isr_MI350X_v6` what it says. None for a name that says nothing."""
    family, dot, _ = instance_type.partition(".")
    chips = {each.accelerator for name, each in known.items() if name.startswith(f"{family}.") and each.accelerators}
    chip = chips.pop() if dot and len(chips) == 1 else None
    parts = iter(_PARTS.split(instance_type)[1:])  # after the family: AWS's `p4` is no Tesla P4
    while not chip and (part := next(parts, None)) is not None:
        with suppress(UnknownName):
            chip = accelerator(provider, part)
    return Machine(chip, 0, data_sheet_memory_gib(chip), vcpus, memory_gib) if chip else None
