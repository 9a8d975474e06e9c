"""Puts our spelling in place of the names that people wrote: of filters, own machines, discounts, and machines to compare."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from api.questions.errors import Errors
from api.questions.names import WHERE, Known
from api.questions.spellings import PURCHASES, Meant, Spellings, between_commas
from api.questions.suggestions import Guesses, clip, either, squeeze
from costcalc.offer import PurchaseOption
from costcalc.query import Discount, OwnMachine
from costcalc.training import OwnSpeed
from own_runs import this_machine
from own_runs.this_machine import THIS_MACHINE

MACHINE = re.compile(r"(?:([0-9]{1,6})\s*[xX×*]\s*)?(.*)", re.DOTALL)
COUNTED = re.compile(r"([0-9]{1,6})\s*[xX×*]\s*(?=[A-Za-z])")
COUNTED_AFTER = re.compile(r"(.*(?:[0-9]|GB|Ti|PCIe|NVL))\s*[xX×*]\s*([0-9]{1,4})", re.IGNORECASE)
MOST_OWN, MOST_NODES = 64, 100_000
WAYS = Spellings([*((option.value, option.value) for option in PurchaseOption), *PURCHASES.items()])


class Side(Struct, frozen=True):
    """One of two machines to compare, as it was written: rented under its provider's name, or the user's `own`; or any machine
    with the `accelerator`, which may be several of a family, and so many `accelerators` if that is said."""

    text: str
    provider: str
    instance_type: str
    nodes: int | None
    purchase: PurchaseOption
    own: OwnMachine | None = None
    accelerator: tuple[str, ...] = ()
    accelerators: int | None = None


def resolve(values: Mapping[str, Any], names: Known, guesses: Guesses) -> tuple[dict[str, Any], Errors]:
    """The values with every name in our spelling, and the errors of unknown names."""
    resolved, errors = dict(values), Errors()
    if "accelerator" in values:
        resolved |= _counted(values, errors)
    for kind in WHERE:
        if kind in values:
            resolved[kind], errors[kind] = _each(kind, resolved[kind], names, guesses)
    if "own" in values:
        resolved["own"], errors["own"] = _machines(values["own"], names, guesses, MOST_OWN)
    if "on" in values:
        resolved["on"], errors["on"] = _machines(values["on"], names, guesses, MOST_NODES)
    for side in ("a", "b"):
        if side in values:
            resolved[side], errors[side] = _side(values[side], names, guesses)
    if "discount" in values:
        resolved["discount"], errors["discount"] = _discounts(values["discount"], names, guesses)
    if "images_per_second" in values:
        resolved["images_per_second"], errors["images_per_second"] = _own_speeds(
            values["images_per_second"], names, guesses
        )
    return resolved, {kind: messages for kind, messages in errors.items() if messages}


def _counted(values: Mapping[str, Any], errors: Errors) -> dict[str, Any]:
    """`8x H100` among the accelerators is their number too."""
    parts = [_counted_first(part) for text in values["accelerator"] for part in between_commas(text)]
    matches = [COUNTED.match(part) for part in parts]
    counts = {int(match[1]) for match in matches if match} | {
        values[name] for name in ("accelerators",) if name in values
    }
    if not any(matches):
        return {}
    if len(counts) > 1:
        errors["accelerators"] = [f"{' and '.join(map(str, sorted(counts)))} are asked for: write one number"]
    bare = tuple(COUNTED.sub("", part) for part in parts)
    return {"accelerator": bare, "accelerators": max(counts)}


def _counted_first(part: str) -> str:
    """`8x H100` where somebody wrote `H100 x8`."""
    match = COUNTED_AFTER.fullmatch(part)
    return f"{match[2]}x {match[1]}" if match else part


def _each(kind: str, texts: Iterable[str], names: Known, guesses: Guesses) -> tuple[Meant, list[str]]:
    resolved, errors = [], []
    for part in (part for text in texts for part in names.parts(kind, text)):
        try:
            resolved.append(names.resolve(kind, part, guesses))
        except LookupError as error:
            errors.append(str(error))
    return Meant(chain(*resolved), chain(*(each.words for each in resolved))), errors


def _machines(
    texts: Iterable[str], names: Known, guesses: Guesses, most: int
) -> tuple[tuple[OwnMachine, ...], list[str]]:
    """So many accelerators of a kind, at most this many; and what is wrong with others."""
    machines: dict[OwnMachine, None] = {}
    errors: list[str] = []
    for part in between_commas(*texts):
        count, name = MACHINE.fullmatch(part).groups()  # type: ignore[union-attr]  # any text matches
        try:
            text = count or "1"
            if not 0 < int(text) <= most:
                raise LookupError(f"must be 1 to {most:,} accelerators, such as 1x RTX 4090; got {clip(part)}")
            machines[OwnMachine(int(text), _own_name(name, names, guesses))] = None
        except LookupError as error:
            errors.append(str(error))
    return tuple(machines), errors


def _own_name(text: str, names: Known, guesses: Guesses) -> str:
    """What answers call the accelerators of a user's machine. Raises LookupError."""
    if squeeze(text) in (squeeze(THIS_MACHINE), squeeze(this_machine.name())):
        return this_machine.name()
    return names.accelerator_named(text, guesses)


def _own_speeds(measured: Iterable[OwnSpeed], names: Known, guesses: Guesses) -> tuple[tuple[OwnSpeed, ...], list[str]]:
    speeds: list[OwnSpeed] = []
    errors: list[str] = []
    for speed in measured:
        try:
            speeds.append(replace(speed, accelerator=names.accelerator_named(speed.accelerator, guesses)))
        except LookupError as error:
            errors.append(str(error))
    return tuple(speeds), errors


def _side(text: str, names: Known, guesses: Guesses) -> tuple[Side | None, list[str]]:
    provider, _, rest = (part.strip() for part in text.partition(":"))
    if provider.casefold() == "own" and rest:
        machines, faults = _machines([rest], names, guesses, MOST_OWN)
        own = machines[0] if machines else None
        return Side(text, "own", "", 1, PurchaseOption.OWNED, own), faults
    try:
        return _rented(text, names, guesses), []
    except LookupError as error:
        return None, [str(error)]


def _rented(text: str, names: Known, guesses: Guesses) -> Side:
    """`aws:p3.16xlarge`, `aws:p3.16xlarge:2`, `aws:p3.16xlarge:spot` or `aws:p3.16xlarge:2:spot`; without the provider where no
    other has such machines. `H100`, `8x H100` or `H100:spot` is whatever has them. Raises LookupError."""
    parts = [part.strip() for part in text.split(":")]
    count, any_with = _accelerators(parts[0], names, guesses)
    if any_with:
        nodes, purchase = _how(parts[1:], None)
        return Side(text, "", "", nodes, purchase, None, any_with, count)
    provider, instance_type, more = _machine(parts, text, names, guesses)
    return Side(text, provider, instance_type, *_how(more, 1))


def _accelerators(text: str, names: Known, guesses: Guesses) -> tuple[int | None, tuple[str, ...]]:
    """How many of which accelerators the text names; none where it names a machine or a provider."""
    counted = COUNTED.match(text)
    if names.find("provider", text) or (names.find("instance_type", text) and not counted):
        return None, ()
    bare = COUNTED.sub("", text)
    versions = names.resolve("accelerator", bare, guesses) if names.versions(bare) else ()
    return int(counted[1]) if counted else None, tuple(versions)


def _how(words: Sequence[str], nodes: int | None) -> tuple[int | None, PurchaseOption]:
    """How many machines, and how they are bought; on demand where nothing else is said. Raises LookupError."""
    purchase = PurchaseOption.ON_DEMAND
    for word in words:
        ways = WAYS.find(word)
        if word.isascii() and word.isdigit() and 0 < int(word) <= MOST_NODES:
            nodes = int(word)
        elif ways:
            purchase = PurchaseOption(ways[0])
        else:
            raise LookupError(f"{clip(word)} is neither a number of machines nor a way to buy them, such as 2 or spot")
    return nodes, purchase


def _machine(parts: list[str], text: str, names: Known, guesses: Guesses) -> tuple[str, str, list[str]]:
    """The provider, its instance type, and what is written behind them. Raises LookupError."""
    kinds = names.find("instance_type", parts[0])
    if len(kinds) == 1 and not names.find("provider", parts[0]):
        having = sorted(provider for provider, kind in names.machines if kind == kinds[0])
        if len(having) != 1:
            raise LookupError(
                f"{kinds[0]} is rented by several: write {either(f'{each}:{kinds[0]}' for each in having)}"
            )
        return having[0], kinds[0], parts[1:]
    if len(parts) < 2 or not parts[1]:
        raise LookupError(
            "must be an accelerator, such as H100, provider:instance_type, such as aws:p3.16xlarge, or own:1x RTX 4090; "
            f"got {clip(text)}"
        )
    (provider,) = names.resolve("provider", parts[0], guesses)
    (kind,) = names.resolve("instance_type", parts[1], guesses)
    return provider, kind, parts[2:]


def _discounts(asked_for: Iterable[Discount], names: Known, guesses: Guesses) -> tuple[tuple[Discount, ...], list[str]]:
    discounts: list[Discount] = []
    errors: list[str] = []
    for discount in asked_for:
        if discount.provider is None:
            discounts.append(discount)
            continue
        providers, wrong = _each("provider", [discount.provider], names, guesses)
        discounts.extend(Discount(discount.fraction, provider) for provider in providers)
        errors.extend(wrong)
    return tuple(discounts), errors
