"""Compares the names in a question with the known ones: returns our spelling, or an error with the nearest names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from api.questions.errors import Errors
from api.questions.spellings import ACCELERATORS, FAMILIES, PROVIDERS, PURCHASES, Spellings, between_commas, family
from api.questions.suggestions import Guesses, clip, either, squeeze
from costcalc.catalogue.catalogue import Catalogue
from costcalc.evidence import Evidence
from costcalc.offers import OWN, PurchaseOption
from costcalc.query import Discount, OwnMachine
from costcalc.training import OwnSpeed
from own_runs import this_machine
from own_runs.this_machine import THIS_MACHINE

WHERE = {
    "provider": "/offers lists them",
    "region": "/offers lists them",
    "instance_type": "/offers lists them",
    "accelerator": "/offers and /models list them",
    "recipe": "/models lists them",
}
EXAMPLES = {
    "gpu": ("H100", "A100-80GB", "V100"),
    "nvidia": ("H100", "A100-80GB", "V100"),
}
"""Names to write instead of a kind of accelerator."""
PROCESSOR_WORDS = ("cpu", "processor")  # which stand for all processors, of machines without accelerators
MACHINE = re.compile(r"(?:([0-9]{1,6})\s*[xX×*]\s*)?(.*)", re.DOTALL)
MOST_OWN, MOST_NODES = 64, 100_000
WAYS = Spellings([*((option.value, option.value) for option in PurchaseOption), *PURCHASES.items()])
ALSO_CALLED = {"provider": PROVIDERS, "accelerator": ACCELERATORS}


@dataclass(frozen=True, slots=True)
class Side:
    """One of two machines to compare, as it was written: rented under its provider's name, or the asker's `own`."""

    text: str
    provider: str
    instance_type: str
    nodes: int
    purchase: PurchaseOption
    own: OwnMachine | None = None


@dataclass(frozen=True)
class Known:
    """The names that filters accept."""

    provider: tuple[str, ...]
    region: tuple[str, ...]
    instance_type: tuple[str, ...]
    accelerator: tuple[str, ...]
    recipe: tuple[str, ...]
    processors: tuple[str, ...] = ()

    @cached_property
    def _spellings(self) -> dict[str, Spellings[str]]:
        return {kind: Spellings(self.words(kind)) for kind in WHERE}

    def words(self, kind: str) -> Iterator[tuple[str, str]]:
        """Every word for a name of this kind, with the name."""
        names = getattr(self, kind)
        yield from ((name, name) for name in names)
        yield from ((word, name) for word, name in ALSO_CALLED.get(kind, {}).items() if name in names)

    def spoken(self, kind: str) -> tuple[str, ...]:
        """The names of this kind and all other words for them."""
        families = FAMILIES if kind == "accelerator" else ()
        return tuple(dict.fromkeys((*families, *(word for word, _ in self.words(kind)))))

    def parts(self, kind: str, text: str) -> list[str]:
        """The names in a text: the whole text if it is one, such as `1x RTX A6000, 2 vCPU`, else its parts between commas."""
        if any(text.casefold() == name.casefold() for name in self._spellings[kind].find(text)):
            return [text]
        return between_commas(text)

    def resolve(self, kind: str, text: str, guesses: Guesses) -> list[str]:
        """The known names that a text means: several for a family of accelerators. Ignores case, and signs such as `-` if one
        name remains. Raises LookupError."""
        if kind == "recipe" and text.endswith("*"):
            return [self._pattern(text.lower(), guesses)]
        every = self._family(text) if kind == "accelerator" else []
        found = every or self._spellings[kind].find(text)
        if not every and len(found) != 1:
            raise LookupError(self._unknown(kind, text, found, guesses))
        return found

    def accelerator_named(self, text: str, guesses: Guesses) -> str:
        """The one accelerator that a text means, of a family its namesake. Raises LookupError."""
        found = self._spellings["accelerator"].find(text)
        if len(found) != 1:
            raise LookupError(self._unknown("accelerator", text, found or self._family(text), guesses))
        return found[0]

    def _family(self, text: str) -> list[str]:
        """The accelerators that a word means which names several."""
        if squeeze(text).removesuffix("s") in PROCESSOR_WORDS:
            return [*self.processors]
        return family(text, self.accelerator)

    def _unknown(self, kind: str, text: str, meant: list[str], guesses: Guesses) -> str:
        hint = self.no_name(text) if kind == "accelerator" else None
        return hint or guesses.unknown(kind.replace("_", " "), text, meant or getattr(self, kind), WHERE[kind])

    def no_name(self, text: str) -> str | None:
        """The error for a text that is a kind of accelerator, such as CPU; None for any other text."""
        named = EXAMPLES.get(squeeze(text).removesuffix("s"), ())
        some = [name for name in named if name in self.accelerator]
        return f"unknown accelerator {clip(text)}: name the model itself, for example {either(some)}" if some else None

    def _pattern(self, text: str, guesses: Guesses) -> str:
        if not any(name.startswith(text[:-1]) for name in self.recipe):
            near = guesses.nearest(text[:-1], {name.split("-", maxsplit=1)[0] for name in self.recipe})
            hint = f"did you mean {near[0]}-*?" if near else WHERE["recipe"]
            raise LookupError(f"no recipe starts with {clip(text[:-1])}: {hint}")
        return text


def known(evidence: Evidence, catalogue: Catalogue, sources: Iterable[str] = (), own_runs: Iterable[str] = ()) -> Known:
    """The names in the evidence, in the whole history of the catalogue, of the price sources, and of the asker's own runs."""
    instances = catalogue.vocabulary.instances
    return Known(
        provider=_sorted([OWN, *sources, *(provider for provider, _, _ in instances)]),
        region=_sorted(catalogue.vocabulary.regions),
        instance_type=_sorted(name for _, name, _ in instances),
        accelerator=_sorted(
            [*evidence.accelerators, *evidence.processors.named, *(machine.accelerator for _, _, machine in instances)]
        ),
        recipe=_sorted([*own_runs, *(recipe.name for recipe in (*evidence.recipes, *evidence.interpolated))]),
        processors=_sorted(
            [
                *evidence.processors.named,
                *(machine.accelerator for _, _, machine in instances if not machine.accelerators),
            ]
        ),
    )


def resolve(values: Mapping[str, Any], names: Known, guesses: Guesses) -> tuple[dict[str, Any], Errors]:
    """The same values with every name in our spelling, and the errors of the unknown ones."""
    resolved, errors = dict(values), Errors()
    for kind in WHERE:
        if kind in values:
            resolved[kind], errors[kind] = _each(kind, values[kind], names, guesses)
    if "own" in values:
        resolved["own"], errors["own"] = _own_machines(values["own"], names, guesses)
    for side in ("a", "b"):
        if side in values:
            resolved[side], errors[side] = _side(values[side], names, guesses)
    if "discount" in values:
        resolved["discount"], errors["discount"] = _discounts(values["discount"], names, guesses)
    if "images_per_second" in values:
        asked: OwnSpeed = values["images_per_second"]
        try:
            named = names.accelerator_named(asked.accelerator, guesses)
            resolved["images_per_second"] = replace(asked, accelerator=named)
        except LookupError as error:
            errors["images_per_second"] = [str(error)]
    return resolved, {kind: messages for kind, messages in errors.items() if messages}


def _each(kind: str, texts: Iterable[str], names: Known, guesses: Guesses) -> tuple[tuple[str, ...], list[str]]:
    found, errors = [], []
    for part in (part for text in texts for part in names.parts(kind, text)):
        try:
            found.extend(names.resolve(kind, part, guesses))
        except LookupError as error:
            errors.append(str(error))
    return tuple(dict.fromkeys(found)), errors


def _own_machines(texts: Iterable[str], names: Known, guesses: Guesses) -> tuple[tuple[OwnMachine, ...], list[str]]:
    found: dict[OwnMachine, None] = {}
    errors: list[str] = []
    for part in between_commas(*texts):
        count, name = MACHINE.fullmatch(part).groups()  # type: ignore[union-attr]  # any text matches
        try:
            found[OwnMachine(_count(count or "1", part), _own_name(name, names, guesses))] = None
        except LookupError as error:
            errors.append(str(error))
    return tuple(found), errors


def _own_name(text: str, names: Known, guesses: Guesses) -> str:
    """What answers call the accelerators of a machine of the asker's. Raises LookupError."""
    if squeeze(text) in (squeeze(THIS_MACHINE), squeeze(this_machine.name())):
        return this_machine.name()
    return names.accelerator_named(text, guesses)


def _count(text: str, part: str) -> int:
    if not 0 < int(text) <= MOST_OWN:
        raise LookupError(f"must be 1 to {MOST_OWN} accelerators, such as 1x RTX 4090; got {clip(part)}")
    return int(text)


def _side(text: str, names: Known, guesses: Guesses) -> tuple[Side | None, list[str]]:
    provider, colon, rest = (part.strip() for part in text.partition(":"))
    if not (colon and rest):
        return None, [f"must be provider:instance_type, such as aws:p3.16xlarge, or own:1x RTX 4090; got {clip(text)}"]
    if provider.casefold() == "own":
        found, faults = _own_machines([rest], names, guesses)
        own = found[0] if found else None
        return Side(text, "own", "", 1, PurchaseOption.OWNED, own), faults
    try:
        return _rented(text, provider, rest, names, guesses), []
    except LookupError as error:
        return None, [str(error)]


def _rented(text: str, provider: str, rest: str, names: Known, guesses: Guesses) -> Side:
    """`p3.16xlarge`, `p3.16xlarge:2`, `p3.16xlarge:spot` or `p3.16xlarge:2:spot` of a provider. Raises LookupError."""
    instance_type, *more = (part.strip() for part in rest.split(":"))
    nodes, purchase = 1, PurchaseOption.ON_DEMAND
    for word in more:
        found = WAYS.find(word)
        if word.isascii() and word.isdigit() and 0 < int(word) <= MOST_NODES:
            nodes = int(word)
        elif found:
            purchase = PurchaseOption(found[0])
        else:
            raise LookupError(f"{clip(word)} is neither a number of machines nor a way to buy them, such as 2 or spot")
    (name,) = names.resolve("provider", provider, guesses)
    (kind,) = names.resolve("instance_type", instance_type, guesses)
    return Side(text, name, kind, nodes, purchase)


def _discounts(discounts: Iterable[Discount], names: Known, guesses: Guesses) -> tuple[tuple[Discount, ...], list[str]]:
    found: list[Discount] = []
    errors: list[str] = []
    for discount in discounts:
        if discount.provider is None:
            found.append(discount)
            continue
        providers, wrong = _each("provider", [discount.provider], names, guesses)
        found.extend(Discount(discount.fraction, provider) for provider in providers)
        errors.extend(wrong)
    return tuple(found), errors


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({name for name in names if name}, key=str.casefold))
