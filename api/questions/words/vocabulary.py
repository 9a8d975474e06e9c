"""Every word that stands for a value: phrases of the packaged tables, and the names of one snapshot."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from api.questions.names import Known
from api.questions.spellings import Spellings
from api.questions.words.tables import Value, not_asked, other_networks, phrases
from costcalc.evidence.collection import network_forms, normalised
from costcalc.evidence.published_runs import published_runs
from costcalc.evidence.timed_networks import timed_networks
from costcalc.training import Model
from pricing.packaged.places import places

LONGEST_NAME_WORDS = 6
MARKS = ("filler", "not", "mine", "each", "owned", "weighed", "unasked", "other")
"""What a word can be that is no value: `unasked` cannot be asked in words, `other` is a network of another task."""
NO_CLOUDS = frozenset(["own", "owned", "sheet", "gpuhunt", "skypilot"])
KINDS = ("provider", "accelerator", "region", "instance_type", "recipe")
LEAST_LETTERS = 5
MANY_LETTERS = 8  # a word of so many may have one slip more
GRAMMAR = (
    "within", "under", "below", "without", "except", "excluding", "percent", "hours", "minutes", "dollars", "euros", "budget",
    "error", "discount", "confidence", "utilization", "between", "maximum", "machines", "instances", "weeks", "months", "years",
)  # fmt: skip
"""Words of the rules, for those that are misspelt."""
_PIECE, _CLAUSE = re.compile(r"[^\s,;/]+"), re.compile(r"[^,;]*")
_PATTERN = re.compile(r"[\w.-]+\*")
_DIGITS, _SIGNS = re.compile(r"\d+"), re.compile(r"[\s_\-./]+")


@dataclass(frozen=True, slots=True)
class Named:
    """What a stretch of a text stands for; it ends at `end`."""

    values: tuple[Value, ...]
    text: str
    end: int


@dataclass(frozen=True)
class Vocabulary:
    """Every known word. Spaces, case, `-`, `_` and `.` do not count where one meaning remains. `own` are the names of the user's
    runs, whose targets may have any size, as those of tasks may; `tasks` has the task of each of their networks' names."""

    names: Known
    models: tuple[Model, ...]
    currencies: Collection[str]
    own: frozenset[str] = frozenset()
    tasks: Mapping[str, str] = field(default_factory=dict)

    def find(self, text: str, place: int, only: tuple[str, ...] = ()) -> Named | None:
        """The longest name or phrase that begins at `place`, of these parameters alone where some are given."""
        ends = _CLAUSE.match(text, place).end()  # type: ignore[union-attr]
        pieces = list(zip(range(LONGEST_NAME_WORDS), _PIECE.finditer(text, place, ends), strict=False))
        for _, piece in reversed(pieces):
            words = text[place : piece.end()]
            values = self._values(words, only)
            if values:
                return Named(values, words, piece.end())
        return None

    def has_own_target(self, model: str) -> bool:
        """Whether the model's targets may have any size: those of a user's own run, or of a task."""
        return model in self.own or model in self.tasks

    def is_provider(self, word: str) -> bool:
        """Whether the word names a provider."""
        return any(value.parameter == "provider" for value in self._values(word, ("provider",)))

    def corrected(self, word: str, may_be_place: bool = False) -> str | None:
        """The one known word that this is with a slip in its letters, or two of a long one; None where it is short, begins the
        names of networks, or several are as near. Only a longer word is a place, and where one may stand."""
        letters, digits = word.casefold(), _DIGITS.findall(word)
        if len(_DIGITS.sub("", letters)) < LEAST_LETTERS or self.family(word):
            return None
        spoken = [*self._spoken, *(places().words() if may_be_place and len(letters) > LEAST_LETTERS else ())]
        alike = [known for known in spoken if known[0] == letters[0] and _DIGITS.findall(known) == digits]
        near = _near(letters, [known for known in alike if known.rstrip("s") != letters.rstrip("s")])
        best = [known for known, slips in near.items() if slips == min(near.values())]
        return best[0] if len({self._values(known, ()) or known for known in best}) == 1 else None

    def family(self, word: str) -> list[str]:
        """Networks whose names begin with this word, the shortest first."""
        start = normalised(word)
        names = [name for form, name in self._networks.items() if form.startswith(start)] if len(start) > 2 else []
        return sorted(names, key=len)

    def nearest(self, word: str) -> list[str]:
        """Names to suggest for an unknown word."""
        return [*_near(word.casefold(), (*self._names_spoken, *places().words()))][:3] if len(word) > 2 else []

    def recipes_of(self, word: str) -> str | None:
        """The pattern of the recipes whose names begin with this word."""
        start = word.casefold().removesuffix("'s") + "-"
        return f"{start}*" if any(name.startswith(start) for name in self.names.recipe) else None

    def _values(self, words: str, only: tuple[str, ...]) -> tuple[Value, ...]:
        for spelt in dict.fromkeys((words, words.removesuffix("'s"), words.removesuffix("s"))):
            is_joined = self._is_loose(spelt) and spelt.casefold() not in self._written
            meanings = [] if is_joined else self._phrases.find(spelt)
            if meanings and (not only or meanings[0][0].parameter in only):
                return meanings[0]
            if value := self._name(spelt, only):
                return (value,)
        return ()

    def _name(self, words: str, only: tuple[str, ...]) -> Value | None:
        if _PATTERN.fullmatch(words) and (not only or "recipe" in only):
            return Value("recipe", words)
        if self._is_loose(words):  # but `new york`
            is_place = not only and words.casefold() in self._places
            return Value("place", places().word(words) or words) if is_place else None
        if not only and (model := self._model(words)):
            return Value("model", model)
        if not only and (place := places().word(words)):
            return Value("place", place)
        for kind in only or KINDS:
            name = self.names.word(kind, words)
            if name and name not in NO_CLOUDS:
                return Value(kind, name)
        return Value("currency", words) if not only and words in self.currencies else None

    def _is_loose(self, words: str) -> bool:
        """Whether a name would have to begin or end in a word without meaning: `a 100` is no A100."""
        pieces = words.casefold().split()
        return len(pieces) > 1 and any(self.is_filler(piece) for piece in (pieces[0], pieces[-1]))

    @staticmethod
    def is_filler(word: str) -> bool:
        """Whether this word has no meaning of its own."""
        values = phrases().get(word, ())
        return bool(values) and values[0].parameter in MARKS

    def _model(self, words: str) -> str | None:
        publisher, sign, patch = words.casefold().partition("/")
        if not sign or patch.isdigit():  # `vit-b/16` has no publisher
            publisher = ""
        if publisher in self.names.provider or normalised(publisher) in self._models:
            return None
        for form in network_forms(words):
            for spelt in (form, form.replace("/", "")):
                model = self._models.get(normalised(spelt))
                if model:
                    return model
        return None

    @cached_property
    def _places(self) -> frozenset[str]:
        return frozenset(place.casefold() for place in places().words())

    @cached_property
    def _networks(self) -> dict[str, str]:
        return {normalised(name): name for name in sorted(model.name for model in self.models)}

    @cached_property
    def _models(self) -> dict[str, str]:
        tasks = {normalised(alias): task for alias, task in self.tasks.items()}
        published = {normalised(name): name for name in published_runs()}
        found = {normalised(word): each.name for each in timed_networks().values() for word in each.words}
        return (
            found
            | tasks
            | published
            | {normalised(alias): model.name for model in self.models for alias in (*model.aliases, model.name)}
        )

    @cached_property
    def _phrases(self) -> Spellings[tuple[Value, ...]]:
        others = ((word, (Value("other", word),)) for word in other_networks())
        unasked = ((word, (Value("unasked", word),)) for word in not_asked())
        return Spellings([*phrases().items(), *unasked, *others])

    @cached_property
    def _written(self) -> frozenset[str]:
        """The phrases as they are written: `or in` is no Orin."""
        return frozenset([*phrases(), *not_asked(), *other_networks()])

    @cached_property
    def _names_spoken(self) -> tuple[str, ...]:
        names = (*self.names.spoken("provider"), *self.names.spoken("accelerator"), *self._models.values())
        return tuple(dict.fromkeys(names))

    @cached_property
    def _spoken(self) -> list[str]:
        """The words that names and phrases are made of, but for phrases without a meaning of their own."""
        meaningful = (word for word, values in phrases().items() if values[0].parameter not in MARKS)
        names = [name.casefold() for name in (*GRAMMAR, *meaningful, *self._names_spoken, *self.tasks)]
        parts = dict.fromkeys(part for name in names for part in (name, *_SIGNS.split(name)))
        return [part for part in parts if len(part) >= LEAST_LETTERS - 1 and part[0].isalpha()]


def _near(letters: str, words: Iterable[str]) -> dict[str, int]:
    """The words that are a slip from these letters, or two from many, with their slips."""
    from rapidfuzz.distance import OSA  # only who mistypes waits for its import

    most = 1 + (len(letters) >= MANY_LETTERS)
    slips = {word: OSA.distance(letters, word.casefold(), score_cutoff=most) for word in words}
    return {word: many for word, many in slips.items() if many <= most}
