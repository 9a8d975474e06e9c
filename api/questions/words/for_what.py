"""What a whole sentence says of the training: its network, how well and how it is trained, and on what."""

from __future__ import annotations

from api.questions.amounts import number, plain, share
from api.questions.language import REINFORCEMENT
from api.questions.words.reading import LEAST_SHARE, Reading
from api.questions.words.vocabulary import Vocabulary
from costcalc.evidence.collection import normalised
from costcalc.tasks.tables import tasks

IMAGES, SAMPLES = "images", "samples_per_epoch"
LORA, FINE_TUNING = "llama2-70b-lora", "finetun"  # however it is written
FEWEST_LETTERS = 4  # of a data set that is known by them
PRETRAIN, FINE_TUNED = "pretrain", "fine-tuning"
CONTESTS = {"cifar10-94": "CIFAR-10", "squad": "SQuAD"}
NO_METHOD = (
    f"beside {LORA}, fine-tuning is estimated of language models by tokens, as in: lora of llama 3.1 8b on 50M tokens; on images "
    "of your own, say how many and how many epochs; costcalc recipes add reads the log of a run"
)


def contest(reading: Reading, _: Vocabulary) -> None:
    """Of some data sets a contest's entries are estimated, whatever the network."""
    models = reading.values.get("model", [])
    for name in [name for name in models if name in CONTESTS and models[1:]]:
        message = (
            f"for {CONTESTS[name]}, only DAWNBench entries are estimated, whatever their network: write {name} alone"
        )
        reading.ask(" ".join(models), message, stops=True)


def method(reading: Reading, _: Vocabulary) -> None:
    """How a network is trained, where that is estimated: from scratch, or as its task has it; on images of one's own for as many
    epochs as are said, from whatever weights."""
    values, models = reading.values, reading.values.get("model", [])
    titles = {normalised(tasks()[model].title) for model in models if model in tasks()}
    tuned = any(FINE_TUNING in title for title in titles)
    own_images = models and not titles and IMAGES in values
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
    own = [normalised(tasks()[model].dataset) for model in reading.values.get("model", ()) if model in tasks()]
    reading.need_not_ask(
        lambda asked: any(
            len(asked.about) >= FEWEST_LETTERS and name.startswith(normalised(asked.about)) for name in own
        )
    )


def samples(reading: Reading, _: Vocabulary) -> None:
    """Images of one's own are trained on for the epochs that are said, or as long as is usual."""
    values = reading.values
    many = values.pop(IMAGES, [])
    if many and ("epochs" in values or values.get("method") == ["full"]):
        values[SAMPLES] = many
    elif many:
        reading.ask(f"{many[0]} samples", "for your own data set, add the epochs, as in 90 epochs")
