"""What training scripts print: lines of free text, each script's by the form of its lines.

Forms as printed by pytorch/examples (imagenet/main.py), pytorch/vision (references/classification, and the scripts of DeiT and
ConvNeXt, which took its logger over), timm (train.py), libffcv/ffcv-imagenet, karpathy/nanoGPT (train.py),
KellerJordan/modded-nanogpt, karpathy/llm.c (train_gpt2.cu and its main.log), pytorch/torchtune (DiskLogger),
pytorch/torchtitan, facebookresearch/pycls, open-mmlab/mmpretrain (as mmengine logs), NVIDIA/DeepLearningExamples (PyTorch,
classification) and huggingface/transformers (Trainer, as axolotl uses it); read in November 2026.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from statistics import median

from msgspec import Struct

from own_runs.logs.bounds import LONGEST_LINE
from own_runs.logs.json_logs import stated_by_trainer
from own_runs.logs.log import FROM_0, Point, TrainingLog, checked, known

NUMBER = r"([-+]?\d++(?:,\d++)*+(?:\.\d*+)?+(?:e[-+]?\d++)?+)"
"""Its digits are never given back: a pattern with several numbers takes one look at each."""


def then(part: str) -> str:
    """A part of a pattern that stands somewhere behind what is before it: it is taken where it first stands, and only there, so
    that a line is read once however many parts there are."""
    return f"(?>.*?{part})"


OF_WHOM = re.compile(
    r"(?:\([\w.-]+,? (?:rank=\d+, )?pid=\d+(?:, ip=\S+)?\)|\[(?:default|rank)\d+\]:|\[[\d,]+\]<std\w+>:) ?"
)
"""Who printed a line, as SkyPilot, Ray, torchrun, mpirun and horovodrun write before it."""
LABEL = re.compile(r"(?<!\d)\d++: ?")
"""The same as srun writes it."""
CLOCK = r"\d\d:\d\d:\d\d"
MOMENT = (
    rf"\[?(?:\d{{4}}-\d\d-\d\d[T ]{CLOCK}(?:[.,]\d++)?(?:Z|[+-]\d\d:?\d\d)?|[A-Z][a-z]{{2}}[ ]+\d+[ ]{CLOCK})\]?[ ]?"
)
LOGGED = re.compile(
    rf"""^(?:[\w.-]++[ ]++\|[ ])?                                            # docker compose
    (?:{MOMENT})?+(?:std\w+[ ]F[ ]|\S++[ ]\S+\[\d++\]:[ ])?                    # kubectl, containerd, journald
    (?:(?:\[?[\w.]+\]?[ ]?[:-]?[ ]?)?\[?\b(?:DEBUG|INFO|WARNING)\b[]:]?(?:[ ]?[\w.]+:)?[ ]?-?[ ]?)?   # Python's logging
    """,
    re.M | re.X,
)
"""What loggers, containers and journals write before a line: when, and how grave it is."""
MILLISECONDS, LEAP_YEAR, SECONDS_PER_YEAR = 1000.0, 2000, 366 * 86_400
MOST_TO_LOOK_AT = 200_000
MEDIAN_STEP = (
    "Its steps are taken to last as long as the middle one of those that are timed; evaluations are not counted."
)


class Script(Struct, frozen=True):
    """A script by the lines that it prints: one that `tells` it is read by `reads`."""

    name: str
    tells: re.Pattern[str]
    reads: Callable[[str], TrainingLog]


def read_printed(text: str) -> TrainingLog | None:
    """The log that a known script printed; None if no line is of one. Raises LogRefused."""
    plain = plain_lines(text)
    head = plain[:MOST_TO_LOOK_AT]
    bare = _bare(head)
    for script in SCRIPTS:
        if script.tells.search(head):
            return script.reads(plain)
        if script.tells.search(bare):
            return script.reads(_bare(plain))
    return None


def _bare(text: str) -> str:
    """The lines without what loggers and srun write before them."""
    return _of_one_process(LOGGED.sub("", text), LABEL)


def plain_lines(text: str) -> str:
    """The lines of one process, of bounded length."""
    return _of_one_process("\n".join(line[:LONGEST_LINE] for line in text.split("\n")), OF_WHOM)


def _of_one_process(text: str, whom: re.Pattern[str]) -> str:
    """The lines without their writer's mark; of several processes, only those of the one that printed most."""
    starts = ((line, whom.match(line)) for line in text.split("\n"))
    lines = [(match[0], line[match.end() :]) if match else ("", line) for line, match in starts]
    ((most, _),) = Counter(who.strip() for who, _ in lines if who).most_common(1) or [("", 0)]
    return "\n".join(line for who, line in lines if who.strip() in ("", most))


def _number(text: str) -> float:
    return float(text.replace(",", ""))


IMAGENET_STEP = re.compile(rf"^(Epoch|Test): ?(?:\[(\d+)\])?\[ *(\d+)/(\d+)\].*?Time +{NUMBER} +\( *{NUMBER}\)", re.M)
IMAGENET_END = re.compile(rf"^ *\* +Acc@1 +{NUMBER} +Acc@5 +{NUMBER}", re.M)


def _imagenet(text: str) -> TrainingLog:
    """Accuracies in percent after each epoch; the time is the mean step of each epoch and evaluation, times their steps."""
    points, epoch, steps, seconds = [], 0, 0, 0.0
    last: dict[str, float] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if match := IMAGENET_STEP.match(line):
            kind, named, _, many, _, mean = match.groups()
            epoch, steps = (int(named), int(many)) if kind == "Epoch" and named else (epoch, steps)
            last[kind] = int(many) * _number(mean)
        elif match := IMAGENET_END.match(line):
            seconds += sum(last.values())
            last = {}
            top1, top5 = (_number(group) / 100 for group in match.groups())
            done = epoch + 1
            points.append(Point(f"line {number}", done, done * steps, seconds, {"top1": top1, "top5": top5}))
    return TrainingLog("pytorch/examples", checked(points), {"dataset": "imagenet"})


VISION_STEP = re.compile(r"^Epoch: \[(\d+)\] +\[ *\d+/(\d+)\]")
VISION_TIME = re.compile(r"^(?:Epoch: \[\d+\]|Test:).* Total time: (?:(\d+) days?, )?(\d+):(\d\d):(\d\d)")
VISION_END = re.compile(rf"^(?:Test:|\*) +(EMA )?Acc@1 {NUMBER} Acc@5 {NUMBER}")


def _vision(text: str) -> TrainingLog:
    """Accuracies in percent after each epoch, those of averaged weights apart; the time is that of all epochs and evaluations."""
    points, epoch, steps, seconds = [], 0, 0, 0.0
    for number, line in enumerate(text.splitlines(), 1):
        if match := VISION_STEP.match(line):
            epoch, steps = int(match[1]), int(match[2])
        elif match := VISION_TIME.match(line):
            days, hours, minutes, rest = (int(group or 0) for group in match.groups())
            seconds += ((days * 24 + hours) * 60 + minutes) * 60 + rest
        elif match := VISION_END.match(line):
            of = "_ema" if match[1] else ""
            values = {f"top1{of}": _number(match[2]) / 100, f"top5{of}": _number(match[3]) / 100}
            points.append(Point(f"line {number}", epoch + 1, (epoch + 1) * steps, seconds, values))
    return TrainingLog("torchvision", checked(points), {"dataset": "imagenet"})


MEAN = rf"{NUMBER} +\( *{NUMBER}\)"
TIMM_TRAIN = then(r"Train: (\d+) \[ *\d+/(\d+) ")
TIMM_STEP = re.compile("^" + TIMM_TRAIN + then(rf"\( *{NUMBER}s, +{NUMBER}/s\)"))
TIMM_TEST = re.compile(
    "^"
    + then(r"Test( \(EMA\))?: \[ *(\d+)/(\d+)\]")
    + then(f"Time: +{MEAN}")
    + then(f"Acc@1: +{MEAN}")
    + then(f"Acc@5: +{MEAN}")
)


def _timm(text: str) -> TrainingLog:
    """The last line of an evaluation has the mean of all its batches; the time is the mean step of each epoch and evaluation."""
    points, epoch, steps, trained, seconds, batch = [], 0, 0, 0.0, 0.0, 0.0
    for number, line in enumerate(text.splitlines(), 1):
        if match := TIMM_STEP.search(line):
            epoch, steps, mean = int(match[1]), int(match[2]), _number(match[3])
            trained, batch = steps * mean, mean * _number(match[4])
        elif (match := TIMM_TEST.search(line)) and match[2] == match[3]:
            seconds += trained + (int(match[3]) + 1) * _number(match[5])
            trained, of = 0.0, "_ema" if match[1] else ""
            values = {f"top1{of}": _number(match[7]) / 100, f"top5{of}": _number(match[9]) / 100}
            points.append(Point(f"line {number}", epoch + 1, (epoch + 1) * steps, seconds, values))
    return TrainingLog("timm", checked(points), {"batch_size": f"{batch:.0f}"} if batch else {})


FFCV = re.compile(r"^=> Log: (\{.*\})", re.M)


def _ffcv(text: str) -> TrainingLog:
    """It counts epochs from 0 and prints no times: those are in the file `log` that it writes."""
    entries = [
        (number, entry)
        for number, line in enumerate(text.splitlines(), 1)
        if FFCV.match(line)
        for entry in _dicts(line)
    ]
    points = [
        Point(f"line {number}", entry["epoch"] + 1, None, None, {"top1": entry["top_1"], "top5": entry["top_5"]})
        for number, entry in entries if entry.keys() >= {"epoch", "top_1", "top_5"}
    ]  # fmt: skip
    return TrainingLog("FFCV", checked(points), {"dataset": "imagenet"}, (FROM_0.format("FFCV"),))


NANO_LOSS = re.compile(rf"^step (\d+): train loss {NUMBER}, val loss {NUMBER}")
NANO_STEP = re.compile(rf"^iter (\d+): loss {NUMBER}, time {NUMBER}ms")
NANO_TOKENS = re.compile(rf"^tokens per iteration will be: {NUMBER}", re.M)


def _nanogpt(text: str) -> TrainingLog:
    lines = list(enumerate(text.splitlines(), 1))
    timed = [_number(match[3]) for _, line in lines if (match := NANO_STEP.match(line))]
    each = median(timed) / MILLISECONDS if timed else None
    points = [
        Point(f"line {number}", None, float(match[1]), each and float(match[1]) * each,
              {"train_loss": _number(match[2]), "val_loss": _number(match[3])})
        for number, line in lines if (match := NANO_LOSS.match(line))
    ]  # fmt: skip
    tokens = NANO_TOKENS.search(text)
    stated = known(batch_size=tokens and str(int(_number(tokens[1]))))
    return TrainingLog("nanoGPT", checked(points), stated, (MEDIAN_STEP,) if timed else ())


MODDED = re.compile(rf"^step:(\d+)/(\d+) (?:val_loss|loss):{NUMBER}.*?train_time:{NUMBER}(ms|s)", re.M)


def _modded(text: str) -> TrainingLog:
    points = []
    for number, line in enumerate(text.splitlines(), 1):
        if (match := MODDED.match(line)) and "val_loss" in line:
            seconds = _number(match[4]) / (MILLISECONDS if match[5] == "ms" else 1)
            points.append(Point(f"line {number}", None, float(match[1]), seconds, {"val_loss": _number(match[3])}))
    return TrainingLog("modded-nanogpt", checked(points))


WHOLE_NUMBER = rf"(?<![\d.,]){NUMBER}"
LLMC_STEP = re.compile(
    r"^step +(\d+)/(\d+) \|" + then(f"loss {NUMBER}") + then(f"{WHOLE_NUMBER} ms") + then(f"{WHOLE_NUMBER} tok/s")
)
LLMC_VALUE = re.compile(rf"^val loss:? {NUMBER}")
LLMC_BATCH = re.compile(r"^\| total batch size +\| (\d+)", re.M)
LLMC_FILE = re.compile(rf"^s:(\d+) (tel|trl):{NUMBER}", re.M)
LLMC_NAMES = {"tel": "val_loss", "trl": "train_loss"}


def _llmc(text: str) -> TrainingLog:
    """Validation losses stand on lines of their own behind the step; the first one is of the network before training."""
    points, step, seconds, tokens = [], 0.0, 0.0, 0.0
    for number, line in enumerate(text.splitlines(), 1):
        if match := LLMC_STEP.match(line):
            step, taken = float(match[1]), _number(match[4]) / MILLISECONDS
            seconds += taken
            tokens = tokens or taken * _number(match[5])
            points.append(Point(f"line {number}", None, step, seconds, {"train_loss": _number(match[3])}))
        elif match := LLMC_VALUE.match(line):
            points.append(Point(f"line {number}", None, step, seconds, {"val_loss": _number(match[1])}))
    batch = LLMC_BATCH.search(text)
    stated = {"batch_size": batch[1] if batch else f"{tokens:.0f}"} if batch or tokens else {}
    return TrainingLog("llm.c", checked(points), stated)


def _llmc_file(text: str) -> TrainingLog:
    """The file `main.log` that it writes beside: steps and losses without times."""
    points = [
        Point(f"line {number}", None, float(match[1]), None, {LLMC_NAMES[match[2]]: _number(match[3])})
        for number, line in enumerate(text.splitlines(), 1)
        if (match := LLMC_FILE.match(line))
    ]
    return TrainingLog("llm.c", checked(points))


PYCLS = re.compile("^" + then(r"json_stats: (?=(\{.*))") + then('"_type": "(train|test)_epoch"'), re.M)


def _pycls(text: str) -> TrainingLog:
    """Error rates in percent after each epoch; the time is that of all epochs and evaluations."""
    points, seconds = [], 0.0
    for number, line in enumerate(text.splitlines(), 1):
        if match := PYCLS.search(line):
            stats = json.loads(match[1])
            seconds += float(stats["time_epoch"])
            if match[2] == "test":
                epoch = float(str(stats["epoch"]).partition("/")[0])
                values = {"top1": 1 - float(stats["top1_err"]) / 100, "top5": 1 - float(stats["top5_err"]) / 100}
                points.append(Point(f"line {number}", epoch, None, seconds, values))
    return TrainingLog("pycls", checked(points))


MM_END = re.compile(
    "^" + then(r"Epoch\(val\) +\[(\d+)\]") + then(f"accuracy/top1: +{NUMBER} +accuracy/top5: +{NUMBER}"), re.M
)
NVIDIA_EPOCH = then("DLL ") + then(r"- Epoch: (\d+) (?!Iteration)")
NVIDIA_END = re.compile(
    "^" + NVIDIA_EPOCH + then(rf"\bval\.top1 : {NUMBER} %") + then(rf"\bval\.top5 : {NUMBER} %"), re.M
)
OF_LINE = re.compile(r"\b(?:(\d\d)/(\d\d)|DLL \d{4}-(\d\d)-(\d\d)) (\d\d:\d\d:\d\d)[.\d]* - ")


def _dated(text: str, end: re.Pattern[str], name: str, counted_from: int) -> TrainingLog:
    """Accuracies in percent at the `end` of each epoch; each line has its moment, some without the year."""
    points, begun = [], None
    for number, line in enumerate(text.splitlines(), 1):
        if dated := OF_LINE.search(line):
            month, day = filter(None, dated.groups()[:4])
            moment = datetime.fromisoformat(f"{LEAP_YEAR}-{month}-{day} {dated[5]}")
            begun = begun or moment
        if (match := end.search(line)) and begun:
            seconds = (moment - begun).total_seconds() % SECONDS_PER_YEAR
            values = {"top1": _number(match[2]) / 100, "top5": _number(match[3]) / 100}
            points.append(Point(f"line {number}", int(match[1]) + counted_from, None, seconds, values))
    return TrainingLog(name, checked(points), {"dataset": "imagenet"})


TUNE = re.compile(r"^Step (\d+) \| (?=\w+:)(.*)", re.M)
PAIR = re.compile(rf"\b(\w++):{NUMBER}(?= |$)")


def _torchtune(text: str) -> TrainingLog:
    points = []
    for number, line in enumerate(text.splitlines(), 1):
        if match := TUNE.match(line):
            values = {name: _number(value) for name, value in PAIR.findall(match[2]) if "loss" in name}
            points.append(Point(f"line {number}", None, float(match[1]), None, values))
    return TrainingLog("torchtune", checked(points))


TITAN = re.compile("^" + then(rf"(validate )?step: +(\d+) +loss: +{NUMBER}") + then(f"(?:tps|wps): +{NUMBER}"), re.M)
DATED = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:,\d+)?)")


def _torchtitan(text: str) -> TrainingLog:
    """Its lines have their dates: time counts from the first one of the file."""
    points, begun = [], None
    for number, line in enumerate(text.splitlines(), 1):
        dated = DATED.search(line)
        moment = datetime.fromisoformat(dated[1].replace(",", ".")) if dated else None
        begun = begun or moment
        if match := TITAN.search(line):
            seconds = (moment - begun).total_seconds() if moment and begun else None
            name = "val_loss" if match[1] else "loss"
            points.append(Point(f"line {number}", None, float(match[2]), seconds, {name: _number(match[3])}))
    return TrainingLog("torchtitan", checked(points))


TRAINER = re.compile(r"\{'(?=[^{}]*?'epoch': )[^{}]*+\}")
BESIDE_TRAINER = re.compile(r"(_runtime|_per_second|_flos)$|^(learning_rate|grad_norm|epoch|train_loss|memory/.*)$")


def _trainer(text: str) -> TrainingLog:
    points, stated = [], dict[str, str]()
    for number, line in enumerate(text.splitlines(), 1):
        for entry in _dicts(line):
            values = {name: value for name, value in entry.items() if not BESIDE_TRAINER.search(name)}
            points.append(Point(f"line {number}", entry.get("epoch"), None, None, values))
            stated |= stated_by_trainer([entry] if "train_runtime" in entry else [])
    return TrainingLog("transformers", checked(points), stated)


def _dicts(line: str) -> Iterator[dict[str, float]]:
    """The dictionaries of numbers in a line; newer versions print numbers as words."""
    for text in TRAINER.findall(line):
        try:
            entry = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        numbers = {}
        for name, value in entry.items():
            try:
                numbers[str(name)] = float(value)
            except (TypeError, ValueError):
                continue
        yield numbers


SCRIPTS = (
    Script("pytorch/examples", re.compile(r"^Epoch: ?\[\d+\]\[ *\d+/\d+\].*Acc@1", re.M), _imagenet),
    Script("torchvision", re.compile(r"^Epoch: \[\d+\].* Total time: \d", re.M), _vision),
    Script("timm", re.compile(f"^{TIMM_TRAIN}.*LR:", re.M), _timm),
    Script("FFCV", FFCV, _ffcv),
    Script("pycls", PYCLS, _pycls),
    Script("MMPretrain", MM_END, partial(_dated, end=MM_END, name="MMPretrain", counted_from=0)),
    Script("NVIDIA's examples", NVIDIA_END, partial(_dated, end=NVIDIA_END, name="NVIDIA's examples", counted_from=1)),
    Script("nanoGPT", re.compile(r"^step \d+: train loss [\d.]+, val loss [\d.]+", re.M), _nanogpt),
    Script("modded-nanogpt", MODDED, _modded),
    Script("llm.c", re.compile(r"^step +\d+/\d+ \|.*tok/s", re.M), _llmc),
    Script("llm.c", LLMC_FILE, _llmc_file),
    Script("torchtune", TUNE, _torchtune),
    Script("torchtitan", TITAN, _torchtitan),
    Script("transformers", TRAINER, _trainer),
)
