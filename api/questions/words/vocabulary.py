"""Every word that stands for a value: phrases of the packaged tables, and the names of one snapshot."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from api.questions.names import Known
from api.questions.spellings import Spellings
from api.questions.suggestions import either
from api.questions.words.tables import Value, kind_of_network, not_asked, other_networks, phrases
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
FEW_SLIPS, LONG, MANY_LETTERS = 1, 6, 8  # a word of many letters may have one slip more
GRAMMAR = (
    "within", "under", "below", "without", "except", "excluding", "percent", "hours", "minutes", "dollars", "euros", "budget",
    "error", "discount", "confidence", "utilization", "between", "maximum", "machines", "instances", "weeks", "months", "years",
)  # fmt: skip
"""Words of the rules, for those that are misspelt."""
_PIECE, _CLAUSE = re.compile(r"[^\s,;/]+"), re.compile(r"[^,;]*")
_PATTERN = re.compile(r"[\w.-]+\*")
_VERSION = re.compile(
    r"(?:[\s-]*(?:v?\d+(?:\.\d+)*|\d+(?:\.\d+)?[bm]|tiny|mini|small|base|medium|large|xl|turbo|instruct|chat)(?=[\s,;/-]|$))*",
    re.IGNORECASE,
)
_HUB_NAME = re.compile(r"(?:[\w.-]+/)?[a-z]{3,}[-_.\d][\w.-]*(?=[\s,;]|$)", re.IGNORECASE)
_SERIES = re.compile(r"(?!v\d)[a-z]+\d+[a-z]*(?:-[a-z]+)?", re.IGNORECASE)
_DIGITS = re.compile(r"\d+")
_DOMAIN = re.compile(
    r"(?<=\w)\.(?:ai|com|io|cloud|net|dev)$", re.IGNORECASE
)  # what clouds are called by their addresses


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
                end = piece.end() if values[0].parameter != "other" else _VERSION.match(text, piece.end()).end()  # type: ignore[union-attr]
                return Named(values, text[place:end], end)
        return self._other_task(text, place) if not only else None

    @staticmethod
    def _other_task(text: str, place: int) -> Named | None:
        """A network of another task under a longer name than we know: `mistralai/Mistral-7B-v0.1`."""
        match = _HUB_NAME.match(text, place) or _PIECE.match(text, place)
        other = kind_of_network(match[0]) if match else None
        return Named((Value("other", other),), match[0], match.end()) if match and other else None

    def has_own_target(self, model: str) -> bool:
        """Whether the model's targets may have any size: those of a user's own run, or of a task."""
        return model in self.own or model in self.tasks

    def is_provider(self, word: str) -> bool:
        """Whether the word names a provider."""
        return any(value.parameter == "provider" for value in self._values(word, ("provider",)))

    def corrected(self, word: str, may_be_place: bool) -> str | None:
        """The one known word that this is with a slip or two in its letters; None where it is short, begins the
        names of networks, or several are as near. Only a longer word is the name of a place, and where one may stand."""
        letters = word.casefold()
        if len(_DIGITS.sub("", letters)) < LEAST_LETTERS or self.family(word):
            return None
        candidates = [
            word
            for word in self._by_first_letter.get(letters[0], ())
            if word.rstrip("s") != letters.rstrip("s")  # words of English that a name is the plural of
            and _DIGITS.findall(word) == _DIGITS.findall(letters)
        ]
        near = _near(letters, candidates)
        slips = min((slips for _, slips in near), default=0)
        best = [word for word, many in near if many == slips]
        if slips > FEW_SLIPS and any(map(self.is_filler, best)):
            return None
        best = [word for word in best if not self.is_filler(word) or _is_typed_wrong(letters, word)]
        cities = [word for word in best if places().word(word)]
        is_long = len(letters) >= (LONG if may_be_place else MANY_LETTERS)
        best = [word for word in best if word not in cities] or (cities if is_long else [])
        return best[0] if len({self._values(word, ()) or word for word in best}) == 1 else None

    def family(self, word: str) -> list[str]:
        """Networks whose names begin with this word, those first that most recipes are named after."""
        start = normalised(word)
        names = [self._networks[form] for form in _starting(self._forms, start)] if len(start) > 2 else []
        return sorted(names, key=lambda name: -self._recipes_named_after[name]) if len(names) > 1 else names

    def recipes_of(self, word: str) -> str | None:
        """The pattern of the recipes whose names begin with this word."""
        start = word.casefold().removesuffix("'s") + "-"
        return f"{start}*" if _starting(self._recipes, start) else None

    def _values(self, words: str, only: tuple[str, ...]) -> tuple[Value, ...]:
        for spelt in dict.fromkeys((words, words.removesuffix("'s"), words.removesuffix("s"), _DOMAIN.sub("", words))):
            is_joined = self._is_loose(spelt) and spelt.casefold() not in self._written
            meanings = [] if is_joined else self._phrases.find(spelt)
            if meanings and (not only or meanings[0][0].parameter in only):
                return meanings[0]
            if value := self._name(spelt, only) or self._series(spelt, only):
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

    def _series(self, words: str, only: tuple[str, ...]) -> Value | None:
        """All machine types of a series: `p4d`, `a2-highgpu`."""
        starts = tuple(f"{words.casefold()}{sign}" for sign in ".-")
        if (only and "instance_type" not in only) or not _SERIES.fullmatch(words):
            return None
        types = [name for name in self.names.instance_type if name.casefold().startswith(starts)]
        if "-" in words and not types:
            types = [name for name in self.names.instance_type if name.casefold().startswith(words.casefold())]
        return Value("instance_type", ",".join(types)) if types else None

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
        start = re.sub(r"[\s-]+", "_", words.casefold())
        if "_" not in start:
            return None
        names = _starting(self._names, f"{start}_")
        usual = names if len(names) == 1 else [name for name in names if name.endswith("_224")]
        return usual[0] if len(usual) == 1 else None

    @cached_property
    def _places(self) -> frozenset[str]:
        return frozenset(place.casefold() for place in places().words())

    @cached_property
    def _names(self) -> list[str]:
        return sorted(model.name for model in self.models)

    @cached_property
    def _networks(self) -> dict[str, str]:
        return {normalised(name): name for name in self._names}

    @cached_property
    def _forms(self) -> list[str]:
        return sorted(self._networks)

    @cached_property
    def _recipes(self) -> list[str]:
        return sorted(self.names.recipe)

    @cached_property
    def _recipes_named_after(self) -> dict[str, int]:
        """How many recipes have each network's name in theirs."""
        recipes = "\n".join(map(normalised, self._recipes))
        return {name: recipes.count(form) for form, name in self._networks.items()}

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
    def _by_first_letter(self) -> dict[str, list[str]]:
        """The known words that a misspelt one may be meant for; those without a meaning of their own are none."""
        by_letter: dict[str, list[str]] = {}
        for word in dict.fromkeys(self._parts()):
            if len(word) >= LEAST_LETTERS - 1 and word[0].isalpha():
                by_letter.setdefault(word[0], []).append(word)
        return by_letter

    def _parts(self) -> Iterator[str]:
        """The words that names and phrases are made of."""
        meaningful: Iterable[str] = (word for word, values in phrases().items() if values[0].parameter not in MARKS)
        spoken = (word for kind in ("provider", "accelerator") for word in self.names.spoken(kind))
        networks = (*self.tasks, *(alias for model in self.models for alias in (model.name, *model.aliases)))
        makers = ("nvidia", "reserved", "spot")
        fillers = (
            word for word, values in phrases().items() if values[0].parameter == "filler" and len(word) >= LEAST_LETTERS
        )
        for name in (*GRAMMAR, *fillers, *makers, *meaningful, *spoken, *networks, *places().words()):
            yield name.casefold()
            yield from re.split(r"[\s_\-./]+", name.casefold())

    def nearest(self, word: str) -> str | None:
        """Names to suggest for an unknown word: one slip away, or two of a longer one."""
        names = (name for kind in KINDS[:2] for name in self.names.spoken(kind))
        near = _near(word.casefold(), [*dict.fromkeys((*names, *self._models.values()))]) if len(word) > 2 else []
        return either([name for name, _ in near[:3]]) if near else None


def _near(letters: str, words: Sequence[str]) -> list[tuple[str, int]]:
    """The words that are a slip or two from these letters, with their slips, in the order given."""
    from rapidfuzz.distance import OSA  # only who mistypes waits for its import

    most = FEW_SLIPS + (len(letters) >= MANY_LETTERS)
    slips = ((word, OSA.distance(letters, word.casefold(), score_cutoff=most)) for word in words)
    return [(word, many) for word, many in slips if many <= most]


def _is_typed_wrong(letters: str, word: str) -> bool:
    """Whether a word has a letter too many, too few, or two in the wrong order: one with another letter may be another word."""
    return len(letters) != len(word) or sorted(letters) == sorted(word)


def _starting(names: Sequence[str], start: str) -> Sequence[str]:
    """Those of sorted names that start so."""
    return names[bisect_left(names, start) : bisect_left(names, f"{start}\U0010ffff")]
