"""What the whole sentence decides once every word is read."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from math import isclose, prod

from api.questions.amounts import number, plain, share
from api.questions.fields import Parameter
from api.questions.language import REINFORCEMENT
from api.questions.names import MEMORY_TOLERANCE
from api.questions.schemas.training import CostSchema
from api.questions.spellings import ALONE, MAKERS
from api.questions.subjects import SIZES
from api.questions.suggestions import Guesses, either
from api.questions.words.messages import BATCH, MORE, OFTEN
from api.questions.words.names import USUAL_IN_ONE
from api.questions.words.of_training import EACH_ONE
from api.questions.words.patterns import ABOUT
from api.questions.words.reading import LEAST_SHARE, Asked, Reading
from api.questions.words.scan import MACHINE
from api.questions.words.tables import COVERED, answered_by, other_network
from api.questions.words.vocabulary import Vocabulary
from costcalc.evidence.collection import normalised
from costcalc.offer import BY_THE_TERM, PurchaseOption
from costcalc.tasks.known import find_task
from costcalc.tasks.tables import tasks
from costcalc.training import IMAGES_PER_EPOCH
from pricing.packaged.places import places

SPEED, SAMPLES = "images_per_second", "samples_per_epoch"
MOST_IN_ONE = 64  # accelerators of a user's own machine
FEWEST_LETTERS = 4  # by which a data set is known
TOLD_OF_OWN = ("own_price", "electricity")
DATA_SETS = {"cifar10-94": "CIFAR-10", "squad": "SQuAD"}  # whose entries are estimated, whatever their network
LORA = "llama2-70b-lora"
FINE_TUNING = "finetun"  # however it is written
PRETRAIN, FINE_TUNED = "pretrain", "fine-tuning"
NO_METHOD = (
    f"beside {LORA}, fine-tuning is estimated of language models by tokens, as in: lora of llama 3.1 8b on 50M tokens; on images "
    "of your own, say how many and how many epochs; costcalc recipes add reads the log of a run"
)
RENTED = frozenset(["cloud", "rent", "rents", "renting", "rented", "rental", "lease"])
SIZE_TOLERANCE = 0.1
MOST_TERMS = 2  # kinds of purchase that are compared
MOST_PLACES = 3  # that are compared
SIZE_ALONE = (
    "the size is not enough; of a language model add how and on what, as in LoRA on 50M tokens, else gmacs= and epochs="
)
STEPS = "steps need a batch size, as in 450k steps of batch 256; or write 90 epochs"
STORED = "storage_gb="  # for a month
COMPARED = ("model", "target", "as_of", "precision", "compilation", "pipeline", "training")
LIMITS = ("max_hours", "max_cost")
"""What a sentence may have several values of to compare them."""
COMPARES = frozenset(["vs", "versus", "or", "against", "than"])
UNBOUND = frozenset([PurchaseOption.ON_DEMAND.value, PurchaseOption.SPOT.value])
WEIGHED = frozenset([PurchaseOption.SPOT.value, *(option.value for option in BY_THE_TERM)])
FAMILIES = (*MAKERS, "CPU")


def _network(reading: Reading, words: Vocabulary) -> None:
    """The kind of a task's network says nothing more: `graph neural network rgat`. Of some data sets a contest's entries are
    estimated, whatever the network."""
    models = reading.values.get("model", [])
    of_tasks = [name for name in models if name in words.tasks]
    others = {name: other_network(name) for name in models if name not in words.tasks}
    kinds = [name for name, other in others.items() if other and other.generic]
    if reading.other_task and of_tasks:
        models[:] = [name for name in models if name not in kinds]
        if kinds == [name for name, other in others.items() if other]:
            reading.need_not_ask(lambda each: COVERED in each.message)
            reading.other_task = False
    beside = [name for name in models if name not in DATA_SETS]
    contests = [name for name in models if name in DATA_SETS]
    if beside and contests:
        models[:] = contests
        contest = " and ".join(DATA_SETS[name] for name in contests)
        message = f"for {contest}, only DAWNBench entries are estimated, whatever their network"
        reading.ask(" ".join(beside), message, stops=False)


def _method(reading: Reading, _: Vocabulary) -> None:
    """How a network is trained, where that is estimated: from scratch, or as its task has it; on images of one's own for as many
    epochs as are said, from whatever weights."""
    values, models = reading.values, reading.values.get("model", [])
    titles = {normalised(tasks()[model].title) for model in models if model in tasks()}
    tuned = any(FINE_TUNING in title for title in titles)
    own_images = models and not titles and f"{ABOUT}{SAMPLES}" in values
    known = {PRETRAIN} if not tuned else {FINE_TUNED, "lora"} if LORA in models else {FINE_TUNED}
    known |= {FINE_TUNED, "full"} if own_images else set()
    if own_images and "epochs" not in values and {*values.get("method", ())} & {FINE_TUNED, "full"}:
        values["method"] = ["full"]  # for as long as is usual
        return
    for method in [each for each in values.get("method", ()) if each not in known]:
        reading.ask(method, REINFORCEMENT if method in ("rl", "dpo") else NO_METHOD, stops=True)
    if {*values.get("method", ())} <= known:
        reading.ignored += values.pop("method", ())


def _targets(reading: Reading, words: Vocabulary) -> None:
    """A number above 1 is a percentage, unless the network is a user's own run, or a task whose metric is no share."""
    models = reading.values.get("model", ())
    own = any(map(words.has_own_target, models))
    whole = own and not any(tasks()[name].quality < 1 for name in models if name in tasks())
    amounts = {text: share(text) if text.endswith("%") else number(text) for text in reading.values.get("target", ())}
    for text in [
        text for text, value in amounts.items() if not own and text.endswith("%") and value and value < LEAST_SHARE
    ]:
        del amounts[text]
        reading.values["target"].remove(text)
        reading.ask(text, "nobody trains to so low an accuracy; write for example 76%")
    shares = [
        text if value is None else plain(value / 100 if 1 < value <= 100 and not whole else value)
        for text, value in amounts.items()
    ]
    reading.values["target"] = list(dict.fromkeys(shares))


def _data_sets(reading: Reading, _: Vocabulary) -> None:
    """A task's own data set need not be asked for: `mask rcnn on coco`."""
    named = [tasks()[model] for model in reading.values.get("model", ()) if model in tasks()]
    meanings = [normalised(task.dataset) for task in named]

    def is_its_own(each: Asked) -> bool:
        word = normalised(each.about)
        return len(word) >= FEWEST_LETTERS and any(meaning.startswith(word) for meaning in meanings)

    reading.need_not_ask(is_its_own)


def _one_each(reading: Reading, _: Vocabulary) -> None:
    """Several values of a parameter that has one are none: which is meant is asked. As many accuracies as networks pair."""
    models, targets = (reading.values.get(name, []) for name in ("model", "target"))
    if len(models) == len(targets) > 1 and not reading.sides:
        pairs = zip(reading.values.pop("model"), reading.values.pop("target"), strict=True)
        reading.sides = tuple({"model": [model], "target": [target]} for model, target in pairs)
        reading.unclear.add("model")
    told = {"model", "method"} if reading.other_task else {"method"}
    for name in [name for name, values in reading.values.items() if len(values) > 1 and name in _single() - told]:
        values = reading.values.pop(name)
        if name in LIMITS:
            reading.put(name, min(values, key=Decimal))
            reading.ask("", f"the lowest of several limits counts: {name} {either(values)}")
            continue
        choices = [f"{float(each) * 100:g}%" if name == "target" and number(each) else each for each in values]
        reading.unclear.add(name)
        if name in COMPARED and not reading.sides:
            reading.sides = tuple({name: [each]} for each in values)
            if name == "target":
                reading.need_not_ask(lambda each: MORE in each.message)
        reading.asked.insert(0, Asked("", f"{which(name)} {either(choices)}?"))


def which(name: str) -> str:
    """How a line begins that asks which of several values of a parameter is meant."""
    return f"Which {name.replace('_', ' ')}:"


def _bought(reading: Reading, _: Vocabulary) -> None:
    """What other clouds call reserved is committed use at Google. Whether spot is worth it is answered beside machines on demand;
    whether a commitment is, by a question of its own. How long somebody goes on training is no term, `every day for a year`,
    nor is how often, `40 runs of resnet50 a month`."""
    values, kinds = reading.values, reading.values.get("purchase", [])
    if values.get("provider") == ["gcp"] and "reserved" in kinds:
        committed = PurchaseOption.COMMITTED_USE.value
        kinds[:] = dict.fromkeys(committed if kind == "reserved" else kind for kind in kinds)
    weighed, without = values.pop("weighed", None), reading.excluded.get("purchase", [])
    if weighed and without and {*kinds} - {*without}:  # `how much do I save with spot instead of on demand`
        kinds[:] = dict.fromkeys([*kinds, *without])
        without.clear()
    elif weighed and kinds and {*kinds} <= WEIGHED:
        on_demand = PurchaseOption.ON_DEMAND.value
        kinds[:] = [*kinds, on_demand] if kinds == [PurchaseOption.SPOT.value] else [on_demand]
    if weighed and len(kinds) == MOST_TERMS and not reading.sides:
        reading.sides = tuple({"purchase": [kind]} for kind in kinds)
    if "storage_gb" in values or any(OFTEN in each.message or STORED in each.message for each in reading.asked):
        terms = values.pop("term", [])
        kept = [each for each in terms if {*kinds} - UNBOUND and each != "1mo"]
        reading.ignored += [each for each in terms if each not in kept]
        values.update({"term": kept} if kept else {})


def _sides(reading: Reading, _: Vocabulary) -> None:
    """Machines that differ in number are compared as they are written: `v4-32 against 8 A100`; so are a machine type and an
    accelerator where the sentence compares."""
    machines = [each for each in reading.machines if not any(_says_more(other, each) for other in reading.machines)]
    numbers = {tuple(each.get("accelerators", each.get("nodes", ()))) for each in machines}
    kinds = {kind for each in machines for kind in MACHINE if kind in each}
    apart = len(kinds) > 1 and _compares(reading)
    if (
        reading.owned
        or {"own", f"{ABOUT}{SPEED}"} & {*reading.values}
        or (reading.each and not all("nodes" in each for each in machines))
        or not (apart or (len(kinds) == 1 and len(numbers) > 1))
    ):
        return
    reading.sides = tuple(machines)
    for name in (*MACHINE, "accelerators", "nodes"):
        reading.values.pop(name, None)


def _compares(reading: Reading) -> frozenset[str]:
    """The words of the sentence that compare."""
    return COMPARES & {word.casefold() for word in reading.ignored}


def _says_more(side: Mapping[str, list[str]], other: Mapping[str, list[str]]) -> bool:
    """Whether one has all values of the other plus a number."""
    return len(side) > len(other) and {**side, **other} == side


@cache
def _single() -> frozenset[str]:
    return frozenset(
        name for name, each in CostSchema().fields.items() if isinstance(each, Parameter) and not each.listed
    )


def _answered_by(reading: Reading, _: Vocabulary) -> None:
    """What a parameter makes redundant: `credits` once their amount is given."""
    beside = answered_by()
    reading.need_not_ask(lambda each: beside.get(each.about.casefold()) in reading.values)


def _owned(reading: Reading, _: Vocabulary) -> None:
    """Accelerators that somebody has, or would buy, are those of a user's own machine; of too many, what to type is told."""
    values = reading.values
    named = [name for name in values.get("accelerator", ()) if name not in FAMILIES]
    if not reading.owned or "own" in values or "purchase" in values:
        return
    if not named:
        for family in values.get("accelerator", ("machine",)):
            reading.ask(f"my {family}", "which? Name it, as in own=1xRTX4090")
        return
    each = 1 if "accelerators" in values or "nodes" not in values else USUAL_IN_ONE
    rented = RENTED & {word.casefold() for word in reading.ignored}
    rest = named[1:] if rented and len(reading.machines) > 1 else []  # `are my 4090s cheaper than a cloud H100`
    named = named[: len(named) - len(rest)]
    count = each * int(values.get("accelerators", values.get("nodes", ["1"]))[0])
    if count > MOST_IN_ONE:
        reading.ask(f"{count} of your own", f"an own machine has at most {MOST_IN_ONE}, as in own=8x{named[0]}")
        return
    apart = [
        each for each in reading.machines if len(each.get("accelerators", ())) == len(each.get("accelerator", ())) == 1
    ]
    if len(apart) > 1 and "nodes" not in values:
        values["own"] = [f"{each['accelerators'][0]}x {each['accelerator'][0]}" for each in apart]
    else:
        values["own"] = [f"{count}x {name}" for name in named]
    if rented and not rest:
        return  # the same are to be rented, for comparison
    for name in ("accelerator", "accelerators", "nodes"):
        values.pop(name, None)
    values.update({"accelerator": rest} if rest else {})


def _paid(reading: Reading, _: Vocabulary) -> None:
    """What was paid is the price of a user's own machine, which may be named behind it, as that of its electricity is."""
    for name in TOLD_OF_OWN:
        for text in reading.values.pop(f"{ABOUT}{name}", []):
            if "own" in reading.values:
                reading.put(name, text)
            else:
                reading.ask(f"{name.replace('_', ' ')} {text}", "of which machine? Name it, as in my 3090")


def one_version(reading: Reading, words: Vocabulary) -> None:
    """An accelerator that somebody has or used, and that comes in several versions, none with its bare name, is taken for the
    largest."""
    for name in ("own", "on", SPEED):
        for at, text in enumerate(reading.values.get(name, ())):
            before, sign, chip = text.partition("x") if name == SPEED else text.partition("x ")
            versions = words.names.versions(chip)
            if len(versions) > 1 and chip not in versions:
                largest = [each for each in versions if not each.endswith("-PCIe")][-1]
                reading.values[name][at] = f"{before}{sign}{largest}"
                reading.corrected.append((chip, largest))


def _own_network(reading: Reading, words: Vocabulary) -> None:
    """A network that is told by its size or its speed alone is `any`; the own size of a named one says nothing more."""
    values = reading.values
    size = {name: values.pop(f"{ABOUT}{name}") for name in (*SIZES, SPEED, SAMPLES) if f"{ABOUT}{name}" in values}
    samples = size.pop(SAMPLES, [])
    if samples and ("epochs" in values or values.get("method") == ["full"]):
        values[SAMPLES] = samples
    elif samples:
        reading.ask(f"{samples[0]} samples", "for your own data set, add the epochs, as in 90 epochs")
    each = SPEED in size and size[SPEED][0].endswith(EACH_ONE)
    size = {name: [text.removesuffix(EACH_ONE) for text in texts] for name, texts in size.items()}
    counts = ["1"] if each else values.get("accelerators", ["1"])
    machines = [*values.get("own", ()), *(f"{counts[0]}x{each}" for each in values.get("accelerator", ()))]
    if (
        SPEED in size and "own" not in values and len(reading.machines) > 1
    ):  # the first has this speed, on the others one would train
        (first, *others), counts = reading.machines, []
        machines = [f"{first.get('accelerators', ['1'])[0]}x{first['accelerator'][0]}"]
        for name in ("accelerator", "accelerators"):
            values[name] = [text for each in others for text in each.get(name, ())]
    if SPEED in size and machines:
        size[SPEED] = [f"{each}@{machines[0].replace('x ', 'x', 1)}" for each in size[SPEED]]
        values.pop("evidence", None)  # what was measured is this speed
    if "model" in values:
        size = {
            name: texts for name, texts in size.items() if not _is_its_own(name, texts[0], values["model"][0], words)
        }
    elif SPEED in size or all(name in size for name in SIZES):
        values["model"] = ["any"]
    elif size:
        reading.ask(" ".join(f"{each[0]} {name}" for name, each in size.items()), SIZE_ALONE)
        return
    values.update(size)


def _is_its_own(name: str, text: str, model: str, words: Vocabulary) -> bool:
    """Whether a network, or that of a task, has about this size."""
    network = next((each for each in words.models if each.name == model), None)
    task = tasks().get(model)
    sizes = {"parameters": task.parameters_millions if task else None}
    if network:
        sizes = {"parameters": network.parameters_millions, "gmacs": network.gmacs}
    size = sizes.get(name)
    return size is not None and isclose(float(text), size, rel_tol=SIZE_TOLERANCE)


def _steps(reading: Reading, _: Vocabulary) -> None:
    """Converts steps of a batch size into epochs."""
    values = reading.values
    steps, batch = (values.pop(f"{ABOUT}{name}", []) for name in ("steps", "batch"))
    if steps and batch and "epochs" not in values and not any(map(find_task, values.get("model", ()))):
        samples = int(values.get(f"{ABOUT}{SAMPLES}", [str(IMAGES_PER_EPOCH)])[0])
        values["epochs"] = [str(max(1, round(float(steps[0]) * float(batch[0]) / samples)))]
        reading.need_not_ask(lambda each: each.message == BATCH)
        reading.corrected.append((f"{steps[0]} steps of {batch[0]}", f"{values['epochs'][0]} epochs"))
    elif steps:
        reading.ask(f"{steps[0]} steps", STEPS)


def _memory(reading: Reading, words: Vocabulary) -> None:
    """An amount of memory means the accelerators that have it, of those named or of all; a user's own has what it has."""
    sizes, names = reading.values.pop("memory", []), words.names
    if not sizes or "own" in reading.values or reading.owned:
        return
    guesses, wanted = Guesses(), max(map(int, sizes)) * (1 - MEMORY_TOLERANCE)
    allowed = {
        name
        for each in reading.values.get("accelerator", ["GPU"])
        for name in names.resolve("accelerator", each, guesses)
    }
    parts = ((name, names.sheets.get(name)) for name in names.accelerator if name in allowed)
    enough = [ALONE.get(name, name) for name, part in parts if part and part.memory_gib and part.memory_gib >= wanted]
    if enough:
        reading.values["accelerator"] = enough
    else:
        reading.ask(f"{max(map(int, sizes))} GB", "none of these accelerators has that much memory")


def _regions(reading: Reading, _: Vocabulary) -> None:
    """A place where the providers asked about have one region each is those regions; a place within another says it alone."""
    providers, named = reading.values.get("provider", []), reading.values.pop("place", [])
    if 1 < len(named) <= MOST_PLACES and not reading.sides and _compares(reading) - {"or"}:
        reading.sides = tuple({"region": [place]} for place in named)
        return
    inside = {place: {*places().codes(place)} for place in named}
    for place in [each for each in named if not any(inside[other] < inside[each] for other in named if inside[other])]:
        there = [region for region in places().of(places().codes(place), providers) if region.kind == "region"]
        by_provider = {region.provider: region.code for region in there}
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


def _each(reading: Reading, _: Vocabulary) -> None:
    """A number of accelerators in one machine holds for each of several."""
    counts = [int(reading.values[name][0]) for name in ("accelerators", "nodes") if reading.values.get(name)]
    if reading.each and len(counts) > 1:
        reading.values["accelerators"] = [str(prod(counts))]


STAGES = (
    _network, _method, _targets, _data_sets,  # what is trained, and how well
    _bought, _families, _sides, _regions, _memory, _steps, _own_network, _each, _owned, _paid, one_version,  # on what, and where
    _one_each, _answered_by,
)  # fmt: skip


def settle(reading: Reading, words: Vocabulary) -> None:
    """Decides the training, then the machines, and finally that each single-valued parameter has one value."""
    for stage in STAGES:
        stage(reading, words)
