"""The next packaged edition: the present tables with what a store has learned since, and the difference in words.

Rows of the present edition stay as they are. Machines that one owns, free tiers, a user's own rates, and machines of which nobody
counts the accelerators are left out: they have tables of their own, belong to nobody else, or wait for a person to look them up.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from costcalc.evidence import load_evidence
from costcalc.hardware import Machine
from costcalc.offer import COPIED, COUNT_NOT_STATED, ENDED, SECOND_HAND, SUPERSEDED, Offer, PurchaseOption
from costcalc.units import HOURS_PER_MONTH
from pricing.checks import SourceListing, in_words, terms_in_words, violations
from pricing.packaged.catalogue import write_compact
from pricing.packaged.machine_facts import INSTANCE_TYPES, read_machines
from pricing.packaged.offers import OFFERS, read_packaged
from pricing.packaged.price_sources import PRICE_SOURCES, read_hands
from pricing.packaged.tables import Key, Table, packaged_folder

JUDGED = (SECOND_HAND, COPIED, SUPERSEDED)  # flags that follow from tables of their own
NOT_RENTED = (PurchaseOption.OWNED, PurchaseOption.FREE)
NAMED = 5  # changed rates that the difference names for each provider
Cells = Mapping[str, object]


def export(offers: Iterable[Offer], folder: Path, now: datetime) -> Iterator[str]:
    """Write the present tables with these offers to `folder`, read them back, and say how they differ from the present ones.

    Raises TableError if what was written cannot be read.
    """
    present = {offer.key: offer for offer in _in_time(read_packaged().offers)}
    new, left_out = _checked(offers, now)
    folder.mkdir(parents=True, exist_ok=True)
    for table in list(packaged_folder().iterdir()):
        (folder / table.name).write_bytes(table.read_bytes())
    _write(folder, OFFERS, map(_offer_cells, new))
    _write(folder, PRICE_SOURCES, _hands(new))
    _write(folder, INSTANCE_TYPES, _machines(new), replace=True)
    write_compact(folder, folder)
    yield from _differences(present, {offer.key: offer for offer in new}.values())
    yield from ([f"left out: {left_out}"] if left_out else [])
    yield from ([] if new else ["Nothing is new."])


def _in_time(offers: Iterable[Offer]) -> list[Offer]:
    return sorted(offers, key=lambda offer: offer.observed_at)


def _checked(offers: Iterable[Offer], now: datetime) -> tuple[list[Offer], str]:
    """The offers that no packaged row states yet, if their newest rates keep the rules of a listing, and sentences on others."""
    rented = (each for each in offers if each.purchase_option not in NOT_RENTED and COUNT_NOT_STATED not in each.flags)
    packaged = {(*offer.key, offer.observed_at) for offer in read_packaged().offers}
    new = _in_time(offer for offer in rented if (*offer.key, offer.observed_at) not in packaged)
    current = {offer.key: offer for offer in new if ENDED not in offer.flags}
    broken = violations(SourceListing(tuple(current.values()), frozenset(load_evidence().accelerators), {}, now))
    odd = {offer.key for violation in broken for offer in violation.offers}
    return [offer for offer in new if offer.key not in odd], in_words(broken)


def _write(folder: Path, table: Table, rows: Iterable[Cells], replace: bool = False) -> None:
    """Writes the table with these rows, ordered by key. A row replaces one of the same key only if asked to."""
    lines = table.content(folder).decode().splitlines()
    present = list(csv.DictReader(lines))
    by_key: dict[Key, Cells] = {_key(table, row): row for row in present}
    for row in rows:
        by_key[_key(table, row)] = row if replace else by_key.get(_key(table, row), row)
    with (folder / table.name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, next(csv.reader(lines)), lineterminator="\n", restval="")
        writer.writeheader()
        writer.writerows(by_key[key] for key in sorted(by_key))


def _key(table: Table, row: Cells) -> Key:
    return tuple(str(row.get(column) or "") for column in table.key.split())


def _offer_cells(offer: Offer) -> Cells:
    columns = "provider region instance_type term purchase_option payment offering_class currency source"
    amounts = ("hourly_rate", "upfront", "recurring_hourly", "monthly")
    has_months = offer.monthly is not None or offer.hours_in_month != HOURS_PER_MONTH
    return {
        **{name: getattr(offer, name) for name in columns.split()},
        **{name: _text(getattr(offer, name)) for name in amounts},
        "hours_in_month": offer.hours_in_month if has_months else "",
        "parts": ";".join(f"{part.name}={_text(part.hourly)}" for part in offer.parts),
        "effective_from": _moment(offer.effective_from),
        "observed_at": _moment(offer.observed_at),
        "flags": ";".join(flag for flag in offer.flags if not flag.startswith(JUDGED)),
    }


def _text(amount: Decimal | None) -> str:
    return "" if amount is None else f"{amount.normalize():f}"


def _moment(moment: datetime | None) -> str:
    """An ISO date-time; the day alone at its start."""
    return moment.isoformat().replace("T00:00:00+00:00", "").replace("+00:00", "Z") if moment else ""


def _hands(offers: Iterable[Offer]) -> Iterator[Cells]:
    """A row for each source that the table lacks or judges otherwise, first or second hand."""
    first = read_hands().first
    judged = tuple(start for (start,) in PRICE_SOURCES.read(lambda row: None))
    for source, is_first in sorted({(offer.source, SECOND_HAND not in offer.flags) for offer in offers}):
        if is_first != source.startswith(first) or not source.startswith(judged):
            what = "the provider's own answer, as costcalc read it" if is_first else "a collection that costcalc read"
            yield {"source": source, "hand": "first" if is_first else "second", "what": what}


def _machines(offers: Iterable[Offer]) -> Iterator[Cells]:
    """A row for each machine that the table lacks or describes otherwise."""
    packaged = read_machines()
    for name, offer in {(offer.provider, offer.instance_type): offer for offer in offers}.items():
        facts = _facts(offer.machine)
        if name not in packaged or _facts(packaged[name]) != facts:
            yield {"provider": name[0], "instance_type": name[1], **facts, "source": offer.source}


def _facts(machine: Machine) -> Cells:
    names = ("accelerator", "accelerators", "accelerator_memory_gib", "vcpus", "memory_gib")
    facts = {name: getattr(machine, name) for name in names}
    return {name: f"{value:g}" if isinstance(value, float) else value for name, value in facts.items()}


def _differences(present: Mapping[Key, Offer], newest: Iterable[Offer]) -> Iterator[str]:
    """For each provider, how many offers are new, have another rate or have ended, and its largest changes."""
    by_provider: dict[str, list[Offer]] = defaultdict(list)
    for offer in newest:
        by_provider[offer.provider].append(offer)
    for provider, offers in sorted(by_provider.items()):
        gone = [offer for offer in offers if ENDED in offer.flags]
        added = [offer for offer in offers if offer.key not in present and ENDED not in offer.flags]
        pairs = [(present[offer.key], offer) for offer in offers if offer.key in present and ENDED not in offer.flags]
        moved = [
            (after.hourly_rate / before.hourly_rate - 1, before, after)
            for before, after in pairs
            if before.currency == after.currency and before.hourly_rate != after.hourly_rate
        ]
        counted = (f"{len(added):,} new offers", f"{len(moved):,} other rates", f"{len(gone):,} ended")
        yield f"{provider}: {', '.join(counted)}"
        for change, before, after in sorted(moved, key=lambda each: -abs(each[0]))[:NAMED]:
            rates = f"{before.hourly_rate:.4f} to {after.hourly_rate:.4f} {after.currency} an hour ({change:+.1%})"
            yield f"  {after.instance_type} in {after.region}, {terms_in_words(after)}: {rates}"
