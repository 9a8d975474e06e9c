"""What anybody's script prints: lines that name an epoch or a step, and values by their names.

So print Keras' progress, Megatron-LM, mmcv and mmengine, Swin, Flax' examples (clu), scripts of accelerate and DeepSpeed, and
most that people write themselves. How it was understood is said, since such lines were not made to be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import accumulate

from own_runs.logs.columns import Meaning, points_of
from own_runs.logs.log import TrainingLog
from own_runs.logs.printed import NUMBER, plain_lines

DECIMAL_COMMA = re.compile(r"(?<!\d)[-+]?(?:0,\d+|\d+,(?:\d\d?|\d{4,}))", re.A)
"""0,71 and 71,5, but not 1,234."""
AFTER_NAME = r"['\"]?\s*+[:=#]?\s*+[\[(]?\s*+"
EPOCH = re.compile(rf"\bepoch(?:\((?:val|test)\))?{AFTER_NAME}(\d++(?:\.\d++)?+)(?!\w)", re.I)
STEP = re.compile(rf"\b(?:global[_ ]?step|step|iteration|iter){AFTER_NAME}(\d++)(?!\w)", re.I)
OF_CLU = re.compile(r"logging_writer\.py:\d+\] \[(\d+)\]")
WITHIN = re.compile(r"\bepoch\s*+(?:\(train\))?[:\s\[]*+\d++(?:/\d++)?[\]\s,]*+\[\s*+\d++/\d|\b\d{1,2}%\|", re.I)
"""Lines during an epoch: a step stands beside it, or a bar that is not full."""
WORD = r"[A-Za-z][\w@/.-]{0,40}"
VALUE = rf"{NUMBER}(%?)(?![\w:/]|\.\d)"
PAIR = re.compile(
    rf"""(?<![\w.])['\"]?({WORD}(?:\ {WORD}){{0,2}})['\"]?\s*[:=]\s*{VALUE}  # val_acc=0.71, 'eval loss': 3.2, top 1 acc: 71%
    | (?<![\w.])((?:{WORD}\ )?(?:loss|acc|accuracy|ppl|perplexity))\ {VALUE}  # train loss 3.2""",
    re.I | re.X,
)
"""A name of up to three words and its value; of names that are known well the sign between may be missing."""
SHARE = re.compile(rf"({WORD}): (\d+)/(\d+) \(\d", re.I)
TOP = re.compile(rf"\bAcc@([15]) +{NUMBER}", re.I)
METRIC = re.compile(
    r"loss|acc|top-?\d|err|ppl|perplex|\bf1|bleu|rouge|auc|\bm?ap|map|iou|dice|wer|mse|mae|score|reward|recall", re.I
)
"""Of these a log has one; other lines with a number behind a word are prose."""
BESIDE = re.compile(
    r"epoch|\bstep|iter|time|\beta\b|^lr|_lr|learning|mem|batch|seed|v_num|rank|per.?sec|sec(ond)?s?$|speed|through|tflop|\btps|mfu|"
    r"sample|token|norm|loss.scale|skipped|\bnan\b|number|consumed|size|worker|num_|param|patience|momentum|decay|dropout|best|seqlen|\bimages?$|\.py$",
    re.I,
)
"""Names of what is printed beside metrics."""
KINDS = r"(train|val|valid|validation|test|eval)(?:ing|uation|uating)?"
OF_NAME, OF_LINE = re.compile(rf"(?<![a-z]){KINDS}(?![a-z])", re.I), re.compile(rf"(?<![\w./]){KINDS}(?![\w./])", re.I)
KERAS_TIME = re.compile(r"(?<!\d)(\d{1,9})/\1 .{0,200}?(?<![\w.])(\d{1,9})s \d+[mu]?s/(?:step|epoch|sample)")
DATE = re.compile(r"(\d{4})[-/](\d\d)[-/](\d\d)[ T,](\d\d:\d\d:\d\d(?:[.,]\d{1,6})?)")
TIME_OF_DAY = re.compile(r"^\W*(?:[IWE]\d{4} )?(\d\d:\d\d:\d\d(?:\.\d{1,6})?)\b")
BATCH = re.compile(r"\bglobal[ _]batch[ _]size['\"]?\s*[:=]\s*(\d{1,9})\b", re.I)
Row = dict[str, object]
UNDERSTOOD = "Read as free text: of lines that name an epoch or a step, the values beside them."


def read_free_text(text: str) -> TrainingLog | None:
    """The log; None if no line has a place and a value. Raises LogRefused."""
    rows: list[tuple[str, Mapping[str, object]]] = list(_rows(plain_lines(text)))
    if not any(METRIC.search(name) for _, row in rows for name in row):
        return None
    if sum("seconds" in row for _, row in rows) > 1:
        rows = list(_added_up(rows))
    points, notes = points_of(rows, Meaning("a script"))
    batch = BATCH.search(text)
    return TrainingLog("a script", points, {"batch_size": batch[1]} if batch else {}, (UNDERSTOOD, *notes))


def _rows(text: str) -> Iterator[tuple[str, Row]]:
    """The lines that name an epoch or a step, after the first with a time; a line takes what it lacks from those before."""
    epoch: float | None = None
    moment: Row = {}
    for number, line in enumerate(text.splitlines(), 1):
        during = WITHIN.search(line) is not None
        begun, step = EPOCH.search(line), STEP.search(line) or OF_CLU.search(line)
        epoch = float(begun[1]) if begun else epoch
        row: Row = {} if during or (begun and step) else dict(_values(line))
        place: Row = {"step": float(step[1])} if step and not begun else {"epoch": epoch} if epoch is not None else {}
        is_first, times = not moment, _times(line)
        moment = times if "timestamp" in times else moment
        if (place and (row or begun or step)) or (is_first and moment):
            yield f"line {number}", (row | place if place else {}) | moment | times


def _values(line: str) -> Iterator[tuple[str, float]]:
    """The values of a line by their names; percentages as fractions."""
    kind, before = "", 0
    for match in PAIR.finditer(line):
        name, number, percent = match.groups()[:3] if match[1] else match.groups()[3:]
        if kinds := OF_LINE.findall(line[before : match.start(2) if match[1] else match.start(5)]):
            kind = f"{kinds[-1].lower()} "
        before = match.end()
        if not BESIDE.search(name):
            of = "" if OF_NAME.search(name) else kind
            point = "." if DECIMAL_COMMA.fullmatch(number) else ""
            yield of + name, float(number.replace(",", point)) / (100 if percent else 1)
    for match in SHARE.finditer(line):
        yield kind + match[1], int(match[2]) / max(int(match[3]), 1)
    for match in TOP.finditer(line):
        yield f"top{match[1]}", float(match[2]) / 100


def _times(line: str) -> Row:
    """The moment of a line, or the seconds of its epoch."""
    if keras := KERAS_TIME.search(line):
        return {"seconds": float(keras[2])}
    if date := DATE.search(line):
        return {"timestamp": "{}-{}-{} {}".format(*date.groups())}
    clock = TIME_OF_DAY.match(line)
    return {"timestamp": clock[1]} if clock else {}


def _added_up(rows: list[tuple[str, Mapping[str, object]]]) -> Iterator[tuple[str, Mapping[str, object]]]:
    """The rows with seconds since the start in place of seconds of their epoch."""
    sums = accumulate(float(str(row.get("seconds", 0.0))) for _, row in rows)
    for (where, row), seconds in zip(rows, sums, strict=True):
        yield where, {**row, "seconds": seconds}
