"""What remains of the known values when some are excluded, in as few words as say it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from api.questions.names import Known
from api.questions.spellings import ALONE
from api.questions.suggestions import Guesses
from api.questions.words.vocabulary import NO_CLOUDS
from costcalc.offers import PurchaseOption
from pricing.packaged.places import Region, places

NOT_RENTED = (PurchaseOption.OWNED, PurchaseOption.FREE)
"""Nobody who writes `no spot` asks for these."""


def others(kind: str, excluded: Iterable[str], names: Known) -> list[str]:
    """Every known value of this kind but the excluded ones."""
    if kind == "purchase":
        known: Iterable[str] = (option.value for option in PurchaseOption if option not in NOT_RENTED)
        return [each for each in known if each not in excluded]
    if kind in ("region", "place"):
        return _elsewhere([code for each in excluded for code in (*places().codes(each), each)])
    guesses = Guesses()
    without = {name for each in excluded for name in names.resolve(kind, each, guesses)}
    if kind == "accelerator":
        return _accelerators(without, names)
    return [name for name in getattr(names, kind) if name not in without and name not in NO_CLOUDS]


def _accelerators(without: Collection[str], names: Known) -> list[str]:
    """Processors are one word unless some of them are excluded."""
    cpus = [name for name in names.processors if name not in without]
    rest = [ALONE.get(name, name) for name in names.accelerator if name not in without and name not in names.processors]
    return [*rest, *(["CPU"] if len(cpus) == len(names.processors) else cpus)]


def _elsewhere(codes: Collection[str]) -> list[str]:
    """The largest places that hold none of these regions."""
    return list(_covered(places().regions, 1, frozenset(codes)))


def _covered(regions: Iterable[Region], depth: int, codes: frozenset[str]) -> Iterator[str]:
    by_name: dict[str, list[Region]] = {}
    for region in regions:
        names = region.city.names
        by_name.setdefault(names[-depth] if depth <= len(names) else region.code, []).append(region)
    for name, inside in by_name.items():
        whole = {*places().codes(name)} or {name}
        if not (whole | {one.code for one in inside}) & codes:
            yield places().word(name) or name
        elif len(inside) > 1 or inside[0].code not in codes:
            yield from _covered(inside, depth + 1, codes) if name != inside[0].code else ()
