"""A provider's rows, read one by one: each becomes offers, or is part of a gap that says why not."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from msgspec.structs import replace

from costcalc.offer import Gap, Offer, PurchaseOption
from pricing.offer_flags import SPOT_ABOVE_ON_DEMAND
from pricing.packaged.names import UnknownName
from pricing.scope import EVERYTHING, Scope
from pricing.sources.source import Collected, SchemaChanged, SourceError

T = TypeVar("T")
SHOWN = 6  # names in one sentence
UNREADABLE = "rows that could not be read"


class LeftOut(Exception):
    """A row that becomes no offer; the message is the reason, the same for all rows like it.

    `name` is which, and its instance type unless that is given too.
    """

    def __init__(self, reason: str, name: str, instance_type: str | None = None) -> None:
        super().__init__(reason)
        self.reason, self.name, self.instance_type = reason, name, instance_type or name


def listed(source: str, document: object, *path: str) -> list[object]:
    """The list at `path` of a document. Raises SchemaChanged where there is none, SourceError where it is empty."""
    node = document
    for name in path:
        node = node.get(name) if isinstance(node, dict) else None
    if not isinstance(node, list):
        raise SchemaChanged(f"{source}: the answer holds no list of {path[-1] if path else 'rows'}")
    if not node:
        raise SourceError(f"{source}: the list of {path[-1] if path else 'rows'} is empty")
    return node


def flat(row: object) -> object:
    """An object in which the entries of objects within it stand too, under names such as `cpu.cores`; all else as it is."""
    return dict(_entries(row)) if isinstance(row, dict) else row


def _entries(row: Mapping[str, object], before: str = "") -> Iterator[tuple[str, object]]:
    for name, entry in row.items():
        yield before + name, entry
        if isinstance(entry, dict):
            yield from _entries(entry, f"{before}{name}.")


def read_rows(
    source: str, rows: Iterable[T], read: Callable[[T], Iterable[Offer]], scope: Scope = EVERYTHING
) -> Collected:
    """The offers of all rows, which are all there are of `scope`.

    A row that can't be read is part of a gap, and then nothing was read whole; SchemaChanged if no row at all could be.
    """
    offers: list[Offer] = []
    reasons: defaultdict[str, list[str]] = defaultdict(list)
    left_out: set[str] = set()
    count = 0
    for count, row in enumerate(rows, 1):  # noqa: B007
        try:
            for offer in read(row):  # one by one: what a row gave before its fault stays
                offers.append(offer)
        except UnknownName as unknown:
            reasons[unknown.reason].append(unknown.spelling)
        except LeftOut as left:
            reasons[left.reason].append(left.name)
            left_out.add(left.instance_type)
        except (ValueError, ArithmeticError, IndexError) as error:
            reasons[UNREADABLE].append(str(error))
    gaps = tuple(Gap(source, f"{reason}: {first_few(names)}") for reason, names in reasons.items())
    if not offers:
        reason = "; ".join(gap.reason for gap in gaps) or "no row offers an accelerator"
        raise SchemaChanged(f"{source}: not one rate in {count} rows ({reason})")
    whole = () if UNREADABLE in reasons else (scope.without(frozenset(left_out)),)
    return Collected(flag_dear_spot(cheapest(offers)), gaps, whole=whole)


def cheapest(offers: Iterable[Offer]) -> tuple[Offer, ...]:
    """One offer for each key, the cheapest, in order of first appearance."""
    kept: dict[tuple[str, ...], Offer] = {}
    for offer in offers:
        kept[offer.key] = min(kept.get(offer.key, offer), offer, key=lambda each: each.hourly_rate)
    return tuple(kept.values())


def flag_dear_spot(offers: Iterable[Offer]) -> tuple[Offer, ...]:
    """The offers, with a flag on spot that is dearer than on demand.

    Providers do list such, and of many zones or hosts the cheapest for spot and for on demand may differ.
    """
    flagged = list(offers)
    on_demand = {each.key[:3]: each.hourly_rate for each in flagged if each.purchase_option is PurchaseOption.ON_DEMAND}
    for place, offer in enumerate(flagged):
        limit = on_demand.get(offer.key[:3])
        if offer.purchase_option is PurchaseOption.SPOT and limit is not None and offer.hourly_rate > limit:
            flagged[place] = replace(offer, flags=(*offer.flags, SPOT_ABOVE_ON_DEMAND))
    return tuple(flagged)


def first_few(names: Iterable[str]) -> str:
    """The first few different names, those with the highest number first, which are the newest, as the generation of
    `g7.48xlarge` tells, and how many more there are."""
    different = sorted(set(names), key=lambda name: (-int(next(iter(re.findall(r"\d{1,6}", name)), 0)), name))
    more = f" and {len(different) - SHOWN} more" if len(different) > SHOWN else ""
    return ", ".join(different[:SHOWN]) + more
