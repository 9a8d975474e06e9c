"""A sentence as the parameters of a question, and what of it is not understood."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache

from api.questions.amounts import number, plain, share
from api.questions.errors import BadParameters
from api.questions.fields import Parameter
from api.questions.schemas.cost import CostSchema
from api.questions.suggestions import either
from api.questions.words.dates import DATE_RULES
from api.questions.words.elsewhere import elsewhere
from api.questions.words.others import others
from api.questions.words.plain import plain_text
from api.questions.words.reading import Reading
from api.questions.words.scan import MOST_ASKED, Rules, Scan
from api.questions.words.shares_and_money import OFTEN, SHARES_AND_MONEY
from api.questions.words.tables import COVERED, other_network
from api.questions.words.times_and_counts import TIMES_AND_COUNTS
from api.questions.words.vocabulary import Vocabulary
from costcalc.evidence.collection import normalised
from costcalc.offers import PurchaseOption
from costcalc.tasks.tables import tasks
from pricing.packaged.places import places

OTHER_NETWORKS = (
    "costcalc models lists them; for another, costcalc recipes add reads your log, and costcalc measure your speed"
)
LONGEST = 2000
FEWEST_LETTERS = 4  # by which a data set is known
FINE_TUNING = "finetun"  # however it is written
FAMILIES = ("GPU", "NVIDIA", "AMD", "TPU", "IPU", "CPU")


@dataclass(frozen=True, slots=True)
class Understanding:
    """What a sentence asks. `parameters` are those of `/cost`, `told` the same in words: exclusions as such. `ignored` are
    words without a meaning of their own, `corrected` misspelt ones by the word that they were read as, and `asked` says of
    everything else that was written, or is missing, what to type. `is_question` is true where there is what can be asked.
    `chosen` are parameters that the answer chooses, as the sentence names no network; `choice` says which, and why."""

    parameters: Mapping[str, list[str]]
    told: tuple[str, ...]
    ignored: tuple[str, ...]
    corrected: Mapping[str, str]
    asked: tuple[str, ...]
    is_question: bool
    shared: bool = False
    lacks_only_network: bool = False
    chosen: Mapping[str, list[str]] = field(default_factory=dict)
    choice: tuple[str, ...] = ()

    @property
    def answered(self) -> Mapping[str, list[str]]:
        """The parameters that are answered."""
        return {**self.parameters, **self.chosen}

    @property
    def lines(self) -> tuple[str, ...]:
        """How the sentence was understood, then what of it was not."""
        read = "".join(f', reading "{word}" as {known}' for word, known in self.corrected.items())
        left_out = "Not in the answer: " if self.is_question else ""
        return (
            f"Understood: {' '.join(self.told) or 'nothing'}{read}",
            *self.choice,
            *(f"{left_out}{each}" for each in self.asked),
        )


def understand(text: str, words: Vocabulary, today: date) -> Understanding:
    """The question in a sentence, asked on a day. Raises BadParameters for one that is too long."""
    if len(text) > LONGEST:
        raise BadParameters({"q": [f"that is {len(text)} characters: write at most {LONGEST}"]})
    reading = Scan(plain_text(text), words, today, rules()).run()
    _settle(reading, words)
    parameters = {name: values for name, values in reading.values.items() if values}
    excluded = {name: values for name, values in reading.excluded.items() if values}
    told = [f"{name}={','.join(values)}" for name, values in parameters.items()]
    for kind, values in excluded.items():
        name = "region" if kind == "place" else kind
        parameters[name] = others(name, parameters.get(name, ()), values, words.names)
        told.append(f"{name} not {either(values)}")
    return Understanding(
        parameters, tuple(told), _once(reading.ignored), dict(reading.corrected),
        (*elsewhere(text, parameters), *_asked(reading, parameters, words)),
        is_question=_is_question(parameters, words) and not reading.other_task, shared=reading.shared,
        lacks_only_network="model" not in parameters and not reading.asked,
    )  # fmt: skip


def _once(words: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.casefold() for word in words))


def _is_question(parameters: Mapping[str, list[str]], words: Vocabulary) -> bool:
    """Whether there is a network; the target of a run of the asker's own, which has no usual one, too."""
    models = parameters.get("model", ())
    return bool(models) and ("target" in parameters or not any(model in words.own for model in models))


def _asked(reading: Reading, parameters: Mapping[str, list[str]], words: Vocabulary) -> tuple[str, ...]:
    """What is asked back: of so many questions the first; then what is missing."""
    missing = []
    given = {*parameters, *reading.unclear}
    if "model" not in given:
        missing.append(f"Which network? Write its name, such as resnet50; {OTHER_NETWORKS}")
    elif not reading.other_task and not _is_question(parameters, words):
        missing.append("Which accuracy? Write for example 75.7%")
    more = len(reading.asked) - MOST_ASKED
    rest = [f"{more} more words or numbers are not understood"] if more > 0 else []
    return (*reading.asked[:MOST_ASKED], *rest, *missing)


def _settle(reading: Reading, words: Vocabulary) -> None:
    """What the whole sentence decides: places by the provider, counts by machine, and that one parameter has one value."""
    _kinds(reading, words)
    _targets(reading, words)
    _data_sets(reading)
    _reserved(reading)
    _terms(reading)
    _one_each(reading)
    _regions(reading)
    _accelerators(reading)
    if reading.owned and "own" not in reading.values and "accelerator" in reading.values:
        count = reading.values.pop("accelerators", ["1"])[0]
        reading.values["own"] = [f"{count}x {name}" for name in reading.values.pop("accelerator")]
    if reading.each and "nodes" in reading.values and "accelerators" in reading.values:
        reading.values["accelerators"] = [str(int(reading.values["accelerators"][0]) * int(reading.values["nodes"][0]))]


def _kinds(reading: Reading, words: Vocabulary) -> None:
    """The kind of a task's network says nothing more: `graph neural network rgat`."""
    models = reading.values.get("model", [])
    if reading.other_task and any(name in words.tasks for name in models):
        kinds = [name for name in models if name not in words.tasks and other_network(name)]
        reading.values["model"] = [name for name in models if name not in kinds]
        reading.asked[:] = [each for each in reading.asked if COVERED not in each]
        reading.ignored += kinds
        reading.other_task = False


def _targets(reading: Reading, words: Vocabulary) -> None:
    """A number above 1 is a percentage, unless the network is a run of the asker's own."""
    own = any(map(words.has_own_target, reading.values.get("model", ())))
    found = {text: share(text) if text.endswith("%") else number(text) for text in reading.values.get("target", ())}
    if found and not own:
        shares = [
            text if value is None else plain(value / 100 if 1 < value <= 100 else value)
            for text, value in found.items()
        ]
        reading.values["target"] = list(dict.fromkeys(shares))


def _data_sets(reading: Reading) -> None:
    """A task's own data set, and that it is fine-tuning, need not be asked for: `mask rcnn on coco`."""
    known = [tasks()[model] for model in reading.values.get("model", ()) if model in tasks()]
    said = [normalised(task.dataset) for task in known]
    said += [FINE_TUNING for task in known if FINE_TUNING in normalised(task.title)]
    for sentence in [*reading.asked]:
        word = sentence.split('"')[1]
        meant = FINE_TUNING if FINE_TUNING in normalised(word) else normalised(word)
        if len(word) >= FEWEST_LETTERS and any(each.startswith(meant) for each in said):
            reading.asked.remove(sentence)
            reading.ignored.append(word)


def _reserved(reading: Reading) -> None:
    """What other clouds call reserved is committed use at Google."""
    if reading.values.get("provider") == ["gcp"] and "reserved" in reading.values.get("purchase", ()):
        kinds = reading.values["purchase"]
        kinds[kinds.index("reserved")] = PurchaseOption.COMMITTED_USE.value


def _terms(reading: Reading) -> None:
    """How long somebody goes on training is no term of a rental: `every day for a year`."""
    if "purchase" not in reading.values and any(OFTEN in each for each in reading.asked):
        reading.ignored += reading.values.pop("term", [])


def _one_each(reading: Reading) -> None:
    """Several values of a parameter that has one are none: which is meant is asked."""
    for name in [name for name, values in reading.values.items() if len(values) > 1 and name in _single()]:
        values = reading.values.pop(name)
        told = [f"{float(each) * 100:g}%" if name == "target" and number(each) else each for each in values]
        reading.unclear.add(name)
        reading.asked.insert(0, f"Which {name.replace('_', ' ')}: {either(told)}?")


@cache
def _single() -> frozenset[str]:
    return frozenset(
        name for name, each in CostSchema().fields.items() if isinstance(each, Parameter) and not each.listed
    )


def _regions(reading: Reading) -> None:
    """A place where the providers asked about have one region each is those regions."""
    providers = reading.values.get("provider", [])
    for place in reading.values.pop("place", []):
        there = [one for one in places().of(places().codes(place), providers) if one.kind == "region"]
        by_provider = {one.provider: one.code for one in there}
        exact = providers and len(there) == len(by_provider) == len(providers)
        for text in by_provider.values() if exact else [place]:
            reading.put("region", text)


def _accelerators(reading: Reading) -> None:
    """`H100 GPUs` are H100s."""
    named = reading.values.get("accelerator", [])
    if "GPU" in named and any(each not in FAMILIES for each in named):
        named.remove("GPU")


@cache
def rules() -> Rules:
    """Every rule in the order in which they are tried, compiled when the first sentence comes: the commands that read none do not
    wait a tenth of a second for it."""
    texts = (*SHARES_AND_MONEY, *DATE_RULES, *TIMES_AND_COUNTS)
    return tuple((re.compile(text, re.IGNORECASE), understand) for text, understand in texts)
