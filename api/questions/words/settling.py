"""What a whole sentence decides, after each of its words is read."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from api.questions.amounts import number, plain, share
from api.questions.fields import Parameter
from api.questions.names import MEMORY_TOLERANCE
from api.questions.schemas.cost import CostSchema
from api.questions.spellings import ALONE
from api.questions.subjects import SIZES
from api.questions.suggestions import Guesses, either
from api.questions.words.reading import Reading
from api.questions.words.scan import MACHINE, USUAL_IN_ONE
from api.questions.words.shares_and_money import LEAST_SHARE, MORE, OFTEN, PAID
from api.questions.words.tables import COVERED, answered_by, other_network
from api.questions.words.times_and_counts import ABOUT, EACH_ONE, SIZE_ALONE
from api.questions.words.vocabulary import Vocabulary
from costcalc.evidence.collection import normalised
from costcalc.offers import BY_THE_TERM, PurchaseOption
from costcalc.tasks.tables import tasks
from pricing.packaged.places import places

SPEED = "images_per_second"
MOST_IN_ONE = 64  # accelerators of a machine of one's own
FEWEST_LETTERS = 4  # by which a data set is known
CIFAR = "cifar10-94"
LORA = "llama2-70b-lora"
FINE_TUNING = "finetun"  # however it is written
RENTED = frozenset(["rent", "rents", "renting", "rented", "rental", "lease"])
MOST_PLACES = 3  # that are compared
COMPARED = ("model", "target", "as_of")
"""What a sentence may have several values of to compare them."""
COMPARES = frozenset(["vs", "versus", "or", "against", "than"])
UNBOUND = frozenset([PurchaseOption.ON_DEMAND.value, PurchaseOption.SPOT.value])
WEIGHED = frozenset([PurchaseOption.SPOT.value, *(option.value for option in BY_THE_TERM)])
FAMILIES = ("GPU", "NVIDIA", "AMD", "TPU", "IPU", "CPU")


def settle(reading: Reading, words: Vocabulary) -> None:
    """What the whole sentence decides: places by the provider, counts by machine, and that one parameter has one value."""
    _kinds(reading, words)
    _lora(reading)
    _cifar(reading)
    _targets(reading, words)
    _data_sets(reading)
    _reserved(reading)
    _weighed(reading)
    _terms(reading)
    _answered_by(reading)
    _families(reading, words)
    _sides(reading)
    _one_each(reading)
    _regions(reading)
    _memory(reading, words)
    _own_network(reading)
    _owned(reading)
    _paid(reading)
    _one_version(reading, words)
    if reading.each and "nodes" in reading.values and "accelerators" in reading.values:
        reading.values["accelerators"] = [str(int(reading.values["accelerators"][0]) * int(reading.values["nodes"][0]))]


def _kinds(reading: Reading, words: Vocabulary) -> None:
    """The kind of a task's network says nothing more: `graph neural network rgat`."""
    models = reading.values.get("model", [])
    if reading.other_task and any(name in words.tasks for name in models):
        others = {name: other for name in models if name not in words.tasks and (other := other_network(name))}
        kinds = [name for name, other in others.items() if other.generic]
        reading.values["model"] = [name for name in models if name not in kinds]
        reading.ignored += kinds
        if kinds == list(others):
            reading.asked[:] = [each for each in reading.asked if COVERED not in each]
            reading.other_task = False


def _cifar(reading: Reading) -> None:
    """Of CIFAR-10 one training is estimated, whatever the network."""
    models = reading.values.get("model", [])
    if CIFAR in models and len(models) > 1:
        others = " ".join(each for each in models if each != CIFAR)
        reading.values["model"] = [CIFAR]
        reading.ask(others, "of CIFAR-10 the entries of DAWNBench are estimated, whatever their network")


def _lora(reading: Reading) -> None:
    """Beside another network `lora` is a way to train it that nobody published."""
    models = reading.values.get("model", [])
    if LORA in models and len(models) > 1:
        reading.values["model"] = [each for each in models if each != LORA]
        reading.other_task = True
        reading.ask("lora", f"of fine-tuning, {LORA} alone is estimated: ask for it by this name")


def _targets(reading: Reading, words: Vocabulary) -> None:
    """A number above 1 is a percentage, unless the network is a run of the asker's own."""
    own = any(map(words.has_own_target, reading.values.get("model", ())))
    found = {text: share(text) if text.endswith("%") else number(text) for text in reading.values.get("target", ())}
    for text in [
        text for text, value in found.items() if not own and text.endswith("%") and value and value < LEAST_SHARE
    ]:
        del found[text]
        reading.values["target"].remove(text)
        reading.ask(text, "nobody trains to so low an accuracy; write for example 76%")
    shares = [
        text if value is None else plain(value / 100 if 1 < value <= 100 and not own else value)
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
    if not {*reading.values.get("purchase", ())} - UNBOUND and any(OFTEN in each for each in reading.asked):
        reading.ignored += reading.values.pop("term", [])


def _one_each(reading: Reading) -> None:
    """Several values of a parameter that has one are none: which is meant is asked."""
    for name in [name for name, values in reading.values.items() if len(values) > 1 and name in _single()]:
        values = reading.values.pop(name)
        told = [f"{float(each) * 100:g}%" if name == "target" and number(each) else each for each in values]
        reading.unclear.add(name)
        if name in COMPARED and not reading.sides:
            reading.sides = tuple({name: [each]} for each in values)
            if name == "target":
                reading.asked[:] = [each for each in reading.asked if MORE not in each]
        reading.asked.insert(0, f"{which(name)} {either(told)}?")


def which(name: str) -> str:
    """How a line begins that asks which of several values of a parameter is meant."""
    return f"Which {name.replace('_', ' ')}:"


def _weighed(reading: Reading) -> None:
    """Whether spot is worth it is answered beside machines on demand; whether a commitment is, by a question of its own."""
    weighed, kinds = reading.values.pop("weighed", None), reading.values.get("purchase", [])
    if weighed and kinds and {*kinds} <= WEIGHED:
        on_demand = PurchaseOption.ON_DEMAND.value
        reading.values["purchase"] = [*kinds, on_demand] if kinds == [PurchaseOption.SPOT.value] else [on_demand]


def _sides(reading: Reading) -> None:
    """Machines that differ in number are compared as they are written: `v4-32 against 8 A100`; so are a machine type and an
    accelerator where the sentence compares."""
    machines = [each for each in reading.machines if not any(_says_more(other, each) for other in reading.machines)]
    numbers = {tuple(each.get("accelerators", each.get("nodes", ()))) for each in machines}
    kinds = {kind for each in machines for kind in MACHINE if kind in each}
    apart = len(kinds) > 1 and _compares(reading)
    if (
        reading.owned
        or "own" in reading.values
        or reading.each
        or not (apart or (len(kinds) == 1 and len(numbers) > 1))
    ):
        return
    reading.sides = tuple(machines)
    for name in (*MACHINE, "accelerators", "nodes"):
        reading.values.pop(name, None)


def _compares(reading: Reading) -> frozenset[str]:
    """The words of the sentence that compare."""
    return COMPARES & {word.casefold() for word in reading.ignored}


def _says_more(one: Mapping[str, list[str]], other: Mapping[str, list[str]]) -> bool:
    """Whether the one has all values of the other, and a number besides."""
    return len(one) > len(other) and {**one, **other} == one


@cache
def _single() -> frozenset[str]:
    return frozenset(
        name for name, each in CostSchema().fields.items() if isinstance(each, Parameter) and not each.listed
    )


def _answered_by(reading: Reading) -> None:
    """What need not be asked for beside a parameter: credits beside how much of them there is."""
    for word, parameter in answered_by().items():
        said = [
            each for each in reading.asked if each.casefold().startswith(f'"{word}"') and parameter in reading.values
        ]
        reading.asked[:] = [each for each in reading.asked if each not in said]
        reading.ignored += [word] * bool(said)


def _owned(reading: Reading) -> None:
    """Accelerators that somebody has, or would buy, are those of a machine of one's own; of too many, what to type is told."""
    values = reading.values
    named = [name for name in values.get("accelerator", ()) if name not in FAMILIES]
    if not reading.owned or "own" in values or not named or "purchase" in values:
        return
    each = 1 if "accelerators" in values or "nodes" not in values else USUAL_IN_ONE
    count = each * int(values.get("accelerators", values.get("nodes", ["1"]))[0])
    if count > MOST_IN_ONE:
        reading.ask(f"{count} of your own", f"a machine of one's own has at most {MOST_IN_ONE}, as in own=8x{named[0]}")
        return
    values["own"] = [f"{count}x {name}" for name in named]
    if RENTED & {word.casefold() for word in reading.ignored}:
        return  # the same are to be rented, for comparison
    for name in ("accelerator", "accelerators", *(["nodes"] if each > 1 else [])):
        values.pop(name, None)


def _paid(reading: Reading) -> None:
    """What was paid is the price of a machine of the asker's own, which may be named behind it."""
    for price in reading.values.pop(PAID, []):
        if "own" in reading.values:
            reading.put("own_price", price)
        else:
            reading.ask(f"paid {price}", "for which machine? Name it, as in my 3090")


def _one_version(reading: Reading, words: Vocabulary) -> None:
    """Of an accelerator that comes in several versions, none of which has its bare name, the asker's is taken for the largest."""
    for name in ("own", SPEED):
        for at, text in enumerate(reading.values.get(name, ())):
            before, sign, chip = text.partition("x ") if name == "own" else text.partition("x")
            versions = words.names.versions(chip)
            if len(versions) > 1 and chip not in versions:
                largest = [each for each in versions if not each.endswith("-PCIe")][-1]
                reading.values[name][at] = f"{before}{sign}{largest}"
                reading.corrected.append((chip, largest))


def _own_network(reading: Reading) -> None:
    """A network that is told by its size or its speed alone is `any`; the size of a named one says nothing more."""
    values = reading.values
    told = {name: values.pop(f"{ABOUT}{name}") for name in (*SIZES, SPEED) if f"{ABOUT}{name}" in values}
    each = SPEED in told and told[SPEED][0].endswith(EACH_ONE)
    told = {name: [text.removesuffix(EACH_ONE) for text in texts] for name, texts in told.items()}
    counts = ["1"] if each else values.get("accelerators", ["1"])
    machines = [*values.get("own", ()), *(f"{counts[0]}x{each}" for each in values.get("accelerator", ()))]
    if SPEED in told and machines:
        told[SPEED] = [f"{each}@{machines[0].replace('x ', 'x', 1)}" for each in told[SPEED]]
        values.pop("evidence", None)  # what was measured is this speed
    if "model" in values:
        reading.ignored += [f"{told.pop(name)[0]} {name}" for name in SIZES if name in told]
    elif SPEED in told or all(name in told for name in SIZES):
        values["model"] = ["any"]
    elif told:
        reading.ask(" ".join(f"{each[0]} {name}" for name, each in told.items()), SIZE_ALONE)
        return
    values.update(told)


def _memory(reading: Reading, words: Vocabulary) -> None:
    """So much memory is the accelerators that have it, of those named or of all; one of the asker's own has what it has."""
    sizes, names = reading.values.pop("memory", []), words.names
    if not sizes or "own" in reading.values or reading.owned:
        return
    guesses, wanted = Guesses(), max(map(int, sizes)) * (1 - MEMORY_TOLERANCE)
    asked = {
        one
        for each in reading.values.get("accelerator", ["GPU"])
        for one in names.resolve("accelerator", each, guesses)
    }
    parts = ((name, names.sheets.get(name)) for name in names.accelerator if name in asked)
    enough = [ALONE.get(name, name) for name, part in parts if part and part.memory_gib and part.memory_gib >= wanted]
    if enough:
        reading.values["accelerator"] = enough
    else:
        reading.ask(f"{max(map(int, sizes))} GB", "none of these accelerators has as much memory")


def _regions(reading: Reading) -> None:
    """A place where the providers asked about have one region each is those regions; a place within another says it alone."""
    providers, named = reading.values.get("provider", []), reading.values.pop("place", [])
    if 1 < len(named) <= MOST_PLACES and not reading.sides and _compares(reading) - {"or"}:
        reading.sides = tuple({"region": [place]} for place in named)
        return
    inside = {place: {*places().codes(place)} for place in named}
    for place in [each for each in named if not any(inside[other] < inside[each] for other in named if inside[other])]:
        there = [one for one in places().of(places().codes(place), providers) if one.kind == "region"]
        by_provider = {one.provider: one.code for one in there}
        exact = providers and len(there) == len(by_provider) == len(providers)
        for text in by_provider.values() if exact else [place]:
            reading.put("region", text)


def _families(reading: Reading, words: Vocabulary) -> None:
    """Beside one of its accelerators a family says nothing more: `NVIDIA DGX H200`, `H100 GPUs`."""
    named, versions = reading.values.get("accelerator", []), words.names.versions
    single = {name for each in named if each not in FAMILIES for name in versions(each)}
    for family in [each for each in named if each in FAMILIES and single & {*versions(each)}]:
        named.remove(family)
        reading.machines[:] = [each for each in reading.machines if each.get("accelerator") != [family]]
