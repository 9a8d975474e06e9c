"""Puts our spelling in place of the names that people wrote: of filters, own machines, discounts, and machines to compare."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, TypeVar

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
T = TypeVar("T")
V = TypeVar("V")
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
    for name, of in RESOLVED.items():
        if name in values:
            resolved[name], errors[name] = of(resolved[name], names, guesses)
    return resolved, {kind: messages for kind, messages in errors.items() if messages}


def _collected(of: Callable[[T], V], items: Iterable[T]) -> tuple[list[V], list[str]]:
    """What each is, and what is wrong with those that are nothing known."""
    values, errors = [], []
    for item in items:
        try:
            values.append(of(item))
        except LookupError as error:
            errors.append(str(error))
    return values, errors


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


def _named(kind: str, texts: Iterable[str], names: Known, guesses: Guesses) -> tuple[Meant, list[str]]:
    parts = (part for text in texts for part in names.parts(kind, text))
    meant, errors = _collected(lambda part: names.resolve(kind, part, guesses), parts)
    return Meant(chain(*meant), chain(*(each.words for each in meant))), errors


def _machines(
    most: int, texts: Iterable[str], names: Known, guesses: Guesses
) -> tuple[tuple[OwnMachine, ...], list[str]]:
    """So many accelerators of a kind, at most this many; and what is wrong with others."""
    machines, errors = _collected(lambda part: _own_machine(most, part, names, guesses), between_commas(*texts))
    return tuple(dict.fromkeys(machines)), errors


def _own_machine(most: int, part: str, names: Known, guesses: Guesses) -> OwnMachine:
    count, name = MACHINE.fullmatch(part).groups(default="1")  # type: ignore[union-attr]  # any text matches
    if not 0 < int(count) <= most:
        raise LookupError(f"must be 1 to {most:,} accelerators, such as 1x RTX 4090; got {clip(part)}")
    return OwnMachine(int(count), _own_name(name, names, guesses))


def _own_name(text: str, names: Known, guesses: Guesses) -> str:
    """What answers call the accelerators of a user's machine. Raises LookupError."""
    if squeeze(text) in (squeeze(THIS_MACHINE), squeeze(this_machine.name())):
        return this_machine.name()
    return names.accelerator_named(text, guesses)


def _speeds(measured: Iterable[OwnSpeed], names: Known, guesses: Guesses) -> tuple[tuple[OwnSpeed, ...], list[str]]:
    def known(speed: OwnSpeed) -> OwnSpeed:
        return replace(speed, accelerator=names.accelerator_named(speed.accelerator, guesses))

    speeds, errors = _collected(known, measured)
    return tuple(speeds), errors


def _side(text: str, names: Known, guesses: Guesses) -> tuple[Side | None, list[str]]:
    provider, _, rest = (part.strip() for part in text.partition(":"))
    if provider.casefold() == "own" and rest:
        machines, faults = _machines(MOST_OWN, [rest], names, guesses)
        own = machines[0] if machines else None
        return Side(text, "own", "", 1, PurchaseOption.OWNED, own), faults
    sides, faults = _collected(lambda written: _rented(written, names, guesses), [text])
    return sides[0] if sides else None, faults


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
    def of_providers(discount: Discount) -> list[Discount]:
        meant = names.resolve("provider", discount.provider, guesses) if discount.provider else [None]
        return [Discount(discount.fraction, provider) for provider in meant]

    discounts, errors = _collected(of_providers, asked_for)
    return tuple(chain(*discounts)), errors


RESOLVED: Mapping[str, Callable[[Any, Known, Guesses], tuple[Any, list[str]]]] = {
    **{kind: partial(_named, kind) for kind in WHERE},
    "own": partial(_machines, MOST_OWN),
    "on": partial(_machines, MOST_NODES),
    "a": _side,
    "b": _side,
    "discount": _discounts,
    "images_per_second": _speeds,
}
"""What puts our spelling into the value of each parameter that has names, beside what is wrong with others."""
