"""Compares the names in a question with the known ones: returns our spelling, or an error with the nearest names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from math import isclose

from msgspec import Struct, field

from api.questions.spellings import (
    ACCELERATORS,
    ALONE,
    FAMILIES,
    MAKER,
    MAKERS,
    MEMORY,
    SERIES,
    Meant,
    Spellings,
    between_commas,
    family,
)
from api.questions.suggestions import Guesses, clip, either, squeeze
from costcalc.catalogue.catalogue import Catalogue
from costcalc.evidence import Evidence
from costcalc.hardware import Accelerator
from costcalc.offer import OWN
from pricing.packaged.names import spelled_regions
from pricing.packaged.places import countries, places
from pricing.packaged.providers import ALSO_CALLED as PROVIDERS

WHERE = {
    "provider": "/offers lists them",
    "region": "/offers lists them",
    "instance_type": "/offers lists them",
    "accelerator": "/offers and /models list them",
    "recipe": "/models lists them",
}
EXAMPLES = ("H100", "A100-80GB", "V100")
"""Names to write instead of a kind of accelerator, where one is needed."""
PROCESSOR_WORDS = ("cpu", "processor")  # which stand for all processors, of machines without accelerators
AZURE = "Standard_"  # which people leave out
MEMORY_TOLERANCE = 0.05  # 24 GB for 24 GiB
ALSO_CALLED = {"provider": PROVIDERS, "accelerator": ACCELERATORS}


class Known(Struct, frozen=True, dict=True):
    """The names that filters accept; `sheets` are the data sheets of accelerators by name, `machines` each provider with its
    instance types."""

    provider: tuple[str, ...]
    region: tuple[str, ...]
    instance_type: tuple[str, ...]
    accelerator: tuple[str, ...]
    recipe: tuple[str, ...]
    processors: tuple[str, ...] = ()
    sheets: Mapping[str, Accelerator] = field(default_factory=dict)
    machines: frozenset[tuple[str, str]] = frozenset()

    @cached_property
    def _spellings(self) -> dict[str, Spellings[str]]:
        return {kind: Spellings(self.words(kind)) for kind in WHERE}

    def words(self, kind: str) -> Iterator[tuple[str, str]]:
        """Every word for a name of this kind, with the name."""
        names = getattr(self, kind)
        yield from ((name, name) for name in names)
        yield from ((word, name) for word, name in ALSO_CALLED.get(kind, {}).items() if name in names)
        if kind == "instance_type":
            yield from ((name.removeprefix(AZURE), name) for name in names if name.startswith(AZURE))
        if kind == "region":
            yield from ((spelling, code) for _, spelling, code in spelled_regions() if code in names)
        if kind == "accelerator":
            yield from ((SERIES.sub("", name, count=1), name) for name in names if SERIES.match(name))

    def spoken(self, kind: str) -> tuple[str, ...]:
        """The names of this kind and all other words for them."""
        families = FAMILIES if kind == "accelerator" else ()
        return tuple(dict.fromkeys((*families, *(word for word, _ in self.words(kind)))))

    def parts(self, kind: str, text: str) -> list[str]:
        """The names in a text: the whole text if it is one, such as `1x RTX A6000, 2 vCPU`, else its parts between commas."""
        if any(text.casefold() == name.casefold() for name in self._spellings[kind].find(text)):
            return [text]
        return between_commas(text)

    def resolve(self, kind: str, text: str, guesses: Guesses) -> Meant:
        """The known names that a text means: several for a family of accelerators. Ignores case, and signs such as `-` if one
        name remains. Raises LookupError."""
        if kind == "recipe" and text.endswith("*"):
            return Meant([pattern := self._pattern(text.lower(), guesses)], [pattern])
        if kind == "accelerator" and (every := self._family(text)):
            return every
        names = self.find(kind, text)
        country = countries().get(text.upper(), text)
        if kind == "region" and (place := places().word(country)):
            return Meant(
                (*places().codes(country), *names), names if len(names) == 1 and names[0] != place else [place]
            )
        if len(names) != 1:
            names = names or [*getattr(self, kind), *(places().words() if kind == "region" else ())]
            raise LookupError(guesses.unknown(kind.replace("_", " "), text, names, WHERE[kind]))
        return Meant(names, (ALONE.get(name, name) for name in names))

    def accelerator_named(self, text: str, guesses: Guesses) -> str:
        """The one accelerator that a text means, of a family its namesake. Raises LookupError."""
        names = self.find("accelerator", text)
        if len(names) != 1:
            raise LookupError(self._no_one_accelerator(text, names, guesses))
        return names[0]

    def versions(self, text: str) -> list[str]:
        """The accelerators that a text may mean when it names one."""
        return self.find("accelerator", text) or list(self._family(text) or ())

    def word(self, kind: str, text: str) -> str | None:
        """The word by which a question asks for what the text names: a family of accelerators, or one name; None of any other."""
        if kind == "accelerator" and (every := self._family(text)):
            return every.words[0]
        names = self.find(kind, text)
        return ALONE.get(names[0], names[0]) if len(names) == 1 else None

    def find(self, kind: str, text: str) -> list[str]:
        return self._spellings[kind].find(self._bare(text) if kind == "accelerator" else text)

    def _bare(self, text: str) -> str:
        """An accelerator's name without its maker's, and without its memory where it has that much: of `Tesla T4 16GB` T4."""
        find = self._spellings["accelerator"].find
        rest = text if find(text) else MAKER.sub("", text, count=1) if MAKER.match(text) else text
        size = None if find(rest) else MEMORY.search(rest)
        named = find(rest[: size.start()]) if size and size.end() == len(rest) else []
        part = self.sheets.get(named[0]) if len(named) == 1 else None
        if size and part and part.memory_gib and isclose(part.memory_gib, int(size[1]), rel_tol=MEMORY_TOLERANCE):
            return rest[: size.start()]
        return rest

    def _family(self, text: str) -> Meant | None:
        """The accelerators meant by a word that names several."""
        word = squeeze(text).removesuffix("s")
        if word in PROCESSOR_WORDS:
            return Meant(self.processors, ["CPU"])
        if (makers := MAKERS.get(word.upper())) is not None:
            its_own = (name for name, part in self.sheets.items() if part.vendor in makers)
            return Meant((name for name in its_own if name not in self.processors), [word.upper()])
        bare = self._bare(text)
        every = family(bare, self.accelerator)
        return Meant(every, [bare.strip().upper()]) if every else None

    def _no_one_accelerator(self, text: str, names: list[str], guesses: Guesses) -> str:
        some = [name for name in EXAMPLES if name in self.accelerator]
        if squeeze(text).removesuffix("s").upper() in MAKERS and some:
            return f"{clip(text)} is not one accelerator: name the model itself, for example {either(some)}"
        if meant := names or family(self._bare(text), self.accelerator):
            return f"{clip(text)} is the name of several: write {either(meant)}"
        return guesses.unknown("accelerator", text, self.accelerator, WHERE["accelerator"])

    def _pattern(self, text: str, guesses: Guesses) -> str:
        if not any(name.startswith(text[:-1]) for name in self.recipe):
            near = guesses.nearest(text[:-1], {name.split("-", maxsplit=1)[0] for name in self.recipe})
            hint = f"did you mean {near[0]}-*?" if near else WHERE["recipe"]
            raise LookupError(f"no recipe starts with {clip(text[:-1])}: {hint}")
        return text


def known(evidence: Evidence, catalogue: Catalogue, sources: Iterable[str] = (), own_runs: Iterable[str] = ()) -> Known:
    """The names in the evidence, in the whole history of the catalogue, of the price sources, and of the user's own runs."""
    instances = catalogue.vocabulary.instances
    return Known(
        provider=_sorted([OWN, *sources, *(provider for provider, _, _ in instances)]),
        region=_sorted([*catalogue.vocabulary.regions, *places().codes_known]),
        instance_type=_sorted(name for _, name, _ in instances),
        accelerator=_sorted(
            [*evidence.accelerators, *evidence.processors.named, *(machine.accelerator for _, _, machine in instances)]
        ),
        recipe=_sorted(
            [*own_runs, *(recipe.name for recipe in (*evidence.recipes, *evidence.interpolated, *evidence.in_16_bits))]
        ),
        processors=_sorted(
            [
                *evidence.processors.named,
                *(machine.accelerator for _, _, machine in instances if not machine.accelerators),
            ]
        ),
        sheets=evidence.accelerators,
        machines=frozenset((provider, name) for provider, name, _ in instances),
    )


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({name for name in names if name}, key=str.casefold))
