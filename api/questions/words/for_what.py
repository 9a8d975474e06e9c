"""What a whole sentence says of the training: its network, how well and how it is trained, on what, and for how long."""

from __future__ import annotations

from math import isclose

from api.questions.amounts import number, plain, share
from api.questions.language import REINFORCEMENT
from api.questions.subject import SIZES
from api.questions.words.messages import BATCH
from api.questions.words.on_what import SPEED
from api.questions.words.patterns import ABOUT
from api.questions.words.reading import LEAST_SHARE, Asked, Reading
from api.questions.words.tables import COVERED, other_network
from api.questions.words.vocabulary import Vocabulary
from costcalc.evidence.collection import normalised
from costcalc.tasks.known import find_task
from costcalc.tasks.tables import tasks
from costcalc.training import IMAGES_PER_EPOCH

SAMPLES, LORA, FINE_TUNING = "samples_per_epoch", "llama2-70b-lora", "finetun"  # however it is written
PRETRAIN, FINE_TUNED = "pretrain", "fine-tuning"
FEWEST_LETTERS, SIZE_TOLERANCE = 4, 0.1  # of a data set that is known by them, and of a size
DATA_SETS = {"cifar10-94": "CIFAR-10", "squad": "SQuAD"}  # whose entries are estimated, whatever their network
NO_METHOD = (
    f"beside {LORA}, fine-tuning is estimated of language models by tokens, as in: lora of llama 3.1 8b on 50M tokens; on images "
    "of your own, say how many and how many epochs; costcalc recipes add reads the log of a run"
)
SIZE_ALONE = (
    "the size is not enough; of a language model add how and on what, as in LoRA on 50M tokens, else gmacs= and epochs="
)
STEPS = "steps need a batch size, as in 450k steps of batch 256; or write 90 epochs"


def network(reading: Reading, words: Vocabulary) -> None:
    """The kind of a task's network says nothing more: `graph neural network rgat`."""
    models = reading.values.get("model", [])
    others = {name: other for name in models if name not in words.tasks and (other := other_network(name))}
    kinds = [name for name, other in others.items() if other.generic]
    if reading.other_task and any(name in words.tasks for name in models):
        models[:] = [name for name in models if name not in kinds]
        if kinds == [*others]:
            reading.need_not_ask(lambda asked: COVERED in asked.message)
            reading.other_task = False


def contest(reading: Reading, _: Vocabulary) -> None:
    """Of some data sets a contest's entries are estimated, whatever the network."""
    models = reading.values.get("model", [])
    beside = [name for name in models if name not in DATA_SETS]
    contests = [name for name in models if name in DATA_SETS]
    if beside and contests:
        models[:] = contests
        named = " and ".join(DATA_SETS[name] for name in contests)
        message = f"for {named}, only DAWNBench entries are estimated, whatever their network"
        reading.ask(" ".join(beside), message, stops=False)


def method(reading: Reading, _: Vocabulary) -> None:
    """How a network is trained, where that is estimated: from scratch, or as its task has it; on images of one's own for as many
    epochs as are said, from whatever weights."""
    values, models = reading.values, reading.values.get("model", [])
    titles = {normalised(tasks()[model].title) for model in models if model in tasks()}
    tuned = any(FINE_TUNING in title for title in titles)
    own_images = models and not titles and f"{ABOUT}{SAMPLES}" in values
    known = {PRETRAIN} if not tuned else {FINE_TUNED, "lora"} if LORA in models else {FINE_TUNED}
    known |= {FINE_TUNED, "full"} if own_images else set()
    methods = values.get("method", [])
    if own_images and "epochs" not in values and {*methods} & {FINE_TUNED, "full"}:
        values["method"] = ["full"]  # for as long as is usual
        return
    for unknown in [name for name in methods if name not in known]:
        reading.ask(unknown, REINFORCEMENT if unknown in ("rl", "dpo") else NO_METHOD, stops=True)
    if {*methods} <= known:
        reading.ignored += values.pop("method", ())


def targets(reading: Reading, words: Vocabulary) -> None:
    """A number above 1 is a percentage, unless the network is a user's own run, or a task whose metric is no share."""
    models, texts = reading.values.get("model", ()), reading.values.get("target", [])
    reading.values["target"] = []
    own = any(map(words.has_own_target, models))
    whole = own and not any(tasks()[name].quality < 1 for name in models if name in tasks())
    for text in texts:
        value = share(text) if text.endswith("%") else number(text)
        if value and text.endswith("%") and value < LEAST_SHARE and not own:
            reading.ask(text, "nobody trains to so low an accuracy; write for example 76%")
        else:
            is_percent = value is not None and 1 < value <= 100 and not whole
            reading.put("target", text if value is None else plain(value / 100 if is_percent else value))


def data_set(reading: Reading, _: Vocabulary) -> None:
    """A task's own data set need not be asked for: `mask rcnn on coco`."""
    models = reading.values.get("model", ())
    meanings = [normalised(tasks()[model].dataset) for model in models if model in tasks()]

    def is_its_own(asked: Asked) -> bool:
        word = normalised(asked.about)
        return len(word) >= FEWEST_LETTERS and any(meaning.startswith(word) for meaning in meanings)

    reading.need_not_ask(is_its_own)


def steps(reading: Reading, _: Vocabulary) -> None:
    """Converts steps of a batch size into epochs."""
    values = reading.values
    many, batch = (values.pop(f"{ABOUT}{name}", []) for name in ("steps", "batch"))
    if many and batch and "epochs" not in values and not any(map(find_task, values.get("model", ()))):
        samples = int(values.get(f"{ABOUT}{SAMPLES}", [str(IMAGES_PER_EPOCH)])[0])
        values["epochs"] = [str(max(1, round(float(many[0]) * float(batch[0]) / samples)))]
        reading.need_not_ask(lambda asked: asked.message == BATCH)
        reading.corrected.append((f"{many[0]} steps of {batch[0]}", f"{values['epochs'][0]} epochs"))
    elif many:
        reading.ask(f"{many[0]} steps", STEPS)


def samples(reading: Reading, _: Vocabulary) -> None:
    """Images of one's own are trained on for the epochs that are said, or as long as is usual."""
    values = reading.values
    many = values.pop(f"{ABOUT}{SAMPLES}", [])
    if many and ("epochs" in values or values.get("method") == ["full"]):
        values[SAMPLES] = many
    elif many:
        reading.ask(f"{many[0]} samples", "for your own data set, add the epochs, as in 90 epochs")


def size(reading: Reading, words: Vocabulary) -> None:
    """A network that is told by its size or its speed alone is `any`; the own size of a named one says nothing more."""
    values, has_speed = reading.values, f"{ABOUT}{SPEED}" in reading.values
    sizes = {name: values.pop(f"{ABOUT}{name}") for name in SIZES if f"{ABOUT}{name}" in values}
    if "model" in values:
        model = values["model"][0]
        sizes = {name: texts for name, texts in sizes.items() if not _is_its_own(name, texts[0], model, words)}
    elif has_speed or all(name in sizes for name in SIZES):
        values["model"] = ["any"]
    elif sizes:
        reading.ask(" ".join(f"{texts[0]} {name}" for name, texts in sizes.items()), SIZE_ALONE)
        return
    values.update(sizes)


def _is_its_own(name: str, text: str, model: str, words: Vocabulary) -> bool:
    """Whether a network, or that of a task, has about this size."""
    network, task = next((known for known in words.models if known.name == model), None), tasks().get(model)
    sizes = {"parameters": task.parameters_millions if task else None}
    if network:
        sizes = {"parameters": network.parameters_millions, "gmacs": network.gmacs}
    own = sizes.get(name)
    return own is not None and isclose(float(text), own, rel_tol=SIZE_TOLERANCE)
