"""What remains of the known values, or of those asked for, when some are excluded: in as few words as say it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from api.questions.names import Known
from api.questions.spellings import ALONE, MAKERS
from api.questions.suggestions import Guesses
from api.questions.words.vocabulary import NO_CLOUDS
from costcalc.offer import BY_THE_TERM, PurchaseOption
from pricing.packaged.places import EVERYBODY_S, Region, places

NOT_RENTED = (PurchaseOption.OWNED, PurchaseOption.FREE)
"""Nobody who writes `no spot` asks for these."""


def others(kind: str, wanted: Collection[str], excluded: Collection[str], names: Known) -> list[str]:
    """The values of this kind that were asked for, or else every known one, without the excluded ones."""
    if kind == "region":
        return _elsewhere(wanted, frozenset(code for value in excluded for code in (*places().codes(value), value)))
    if kind == "purchase":
        if not wanted and {*excluded} <= BY_THE_TERM:
            return [PurchaseOption.ON_DEMAND.value]  # nobody who writes `no commitments` asks for spot
        values: Iterable[str] = wanted or (option.value for option in PurchaseOption if option not in NOT_RENTED)
        return [value for value in values if value not in excluded]
    guesses = Guesses()
    without = {name for value in excluded for name in names.resolve(kind, value, guesses)}
    allowed = {value: set(names.resolve(kind, value, guesses)) for value in wanted}
    if allowed and not without & set().union(*allowed.values()):
        return list(wanted)
    values = set().union(*allowed.values()) or set(getattr(names, kind)) - NO_CLOUDS
    if kind == "accelerator":
        return _accelerators(values - without, names)
    return [name for name in getattr(names, kind) if name in values - without]


def _accelerators(allowed: Collection[str], names: Known) -> list[str]:
    """These accelerators in few words: one for all of a maker's, and one for all processors, unless some are excluded."""
    left, whole = set(allowed), []
    for word in MAKERS:
        every = {*names.resolve("accelerator", word, Guesses())}
        if every and every <= left:
            whole.append(word)
            left -= every
    rest = [ALONE.get(name, name) for name in names.accelerator if name in left and name not in names.processors]
    cpus = [name for name in names.processors if name in left]
    return [*whole, *rest, *(["CPU"] if len(cpus) == len(names.processors) else cpus)]


def _elsewhere(wanted: Collection[str], codes: frozenset[str]) -> list[str]:
    """The places asked for, each in the largest parts that hold none of these regions."""
    if not wanted:
        return list(_parts(places().regions, 1, codes))
    names: list[str] = []
    for place in wanted:
        inside = {*places().codes(place)} or {place}
        names += _parts(places().of(inside), 1, codes) if inside & codes else [place]
    return names


def _parts(regions: Iterable[Region], depth: int, codes: frozenset[str]) -> Iterator[str]:
    """The names of the places, from continents to regions, of which no region is among the codes; `depth` 1 is the continents."""
    by_name: dict[str, list[Region]] = {}
    for region in (region for region in regions if region.kind in EVERYBODY_S):
        names = region.city.names
        by_name.setdefault(names[-depth] if depth <= len(names) else region.code, []).append(region)
    for name, inside in by_name.items():
        here, whole = {region.code for region in inside}, {*places().codes(name)}
        if not here & codes and whole <= here:
            yield places().word(name) or name
        elif here != {name}:
            yield from _parts(inside, depth + 1, codes)
        elif name not in codes:
            yield name
