"""What anybody's script prints: lines that name an epoch or a step, and values and times by their names.

So print Keras' progress, Megatron-LM, mmcv and mmengine, Swin, Caffe, MXNet, MindSpore, MaxText, Flax' examples (clu), scripts
of accelerate and DeepSpeed, and most that people write themselves. How it was understood is said, since such lines were not made
to be read. Lines from within an epoch count only where no line has values of a whole one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from msgspec.structs import replace

from costcalc.units import SECONDS_PER_HOUR
from own_runs.logs.clock import UNIT, span_of
from own_runs.logs.columns import Meaning, header_has_place, log_of
from own_runs.logs.json_logs import entry_in, flat
from own_runs.logs.log import TrainingLog, known
from own_runs.logs.names import METRIC, Of, TimeName, is_evaluation, is_metric, time_named
from own_runs.logs.printed import NUMBER, plain_lines

DECIMAL_COMMA = re.compile(r"(?<!\d)[-+]?(?:0,\d+|\d+,(?:\d\d?|\d{4,}))", re.A)
"""0,71 and 71,5, but not 1,234."""
AFTER_NAME = r"['\"]?\s*+[:=#]?\s*+[\[(]?\s*+"
EPOCH = re.compile(rf"\bepoch(?:\((?:val|test)\))?{AFTER_NAME}(\d++(?:\.\d++)?+)(?!\w)(?:\s*+(?:/|of)\s*+\d++)?", re.I)
STEP = re.compile(rf"\b(?:global[_ ]?step|step|iteration|iter){AFTER_NAME}(\d++)(?!\w)|^\[(\d++)\]\s", re.I)
BATCH_AT = re.compile(rf"\bbatch(?:[_ ]?(?:id|idx|index|no|num|number))?{AFTER_NAME}(\d++)(?!\w)()", re.I)
"""Beside an epoch: which of its batches."""
OF_CLU = re.compile(r"logging_writer\.py:\d+\] \[(\d+)\]")
WITHIN = re.compile(
    r"(?:[\[|(]|^|\b(?:step|batch|iter|iteration)\b\W{0,4})\s*+(\d{1,9})\s?/\s*+(\d{1,9})(?![\d.])", re.I
)
"""How far an epoch is: 100/5005 in brackets, at the beginning, or behind the name of a step."""
BAR = re.compile(r"(?<![\d.])(\d{1,3})%\|")
WORD = r"[A-Za-z][\w@/.-]{0,40}"
VALUE = rf"{NUMBER}(%?)(?![\w:/]|[.-]\d)"
NAME_ALONE = rf"(?:{WORD} )?(?:\w{{1,24}}[_/-])?(?:loss|acc|accuracy|ppl|perplexity|f1|bleu|auc|miou|map)"
PAIR = re.compile(
    rf"""(?<![\w.])['\"]?({WORD}(?:[ ]{WORD}){{0,2}})['\"]?(?:\s*[:=]\s*|[ ]is[ ]){VALUE}  # val_acc=0.71, 'eval loss': 3.2
    | (?<![\w.])({NAME_ALONE.replace(" ", "[ ]")})[ ]{{1,8}}{VALUE}  # train loss  3.2""",
    re.I | re.X,
)
"""A name of up to three words and its value; of names that are known well the sign between may be missing."""
SHARE = re.compile(rf"({WORD}): (\d+)/(\d+) \(\d", re.I)
TOP = re.compile(rf"\bAcc@([15]) +{NUMBER}", re.I)
OF_LINE = re.compile(r"(?<![\w./])(train|val|valid|validation|test|eval)(?:ing|uation|uating)?(?![\w./])", re.I)
OF_NAME = re.compile(r"(?<![a-z])(train|val|valid|validation|test|eval)(?:ing|uation|uating)?(?![a-z])", re.I)
AMOUNT = rf"\d{{1,12}}+(?:\.\d{{1,15}}+)?+(?: ?(?:{UNIT})(?![\w/]))?+"
OF_CLOCK = r"(?:\d{1,3} days?,? )?\d{1,4}(?::\d\d){1,2}(?:\.\d{1,9}+)?"
TIME = re.compile(rf"(?<![\w.:])({OF_CLOCK}|{AMOUNT}(?:,? {AMOUNT}){{0,3}})(?![\w/:]|\.\d)")
"""Whatever may be a time: 1:02:03, 1m 7s, 23.5 s, 23.5."""
NAMED = re.compile(rf"((?:{WORD} ){{0,3}}{WORD}(?: ?[\[(]\w{{1,12}}[\])])?)['\"]?\s*+(?:[:=]|\bis\b)?\s*+\Z")
TIME_WORD = re.compile(r"time|elapsed|durat|sec|min|hour|hrs|took|takes|wall|ms/", re.I)
UNNAMED = re.compile(r"(?:[^\w\s:=.<]\s*|\b(?:in|took|takes|after|for)\s+)\Z", re.I)
WITH_UNIT = re.compile(r"\d ?(?:s|secs?|seconds|mins?|minutes|hours?|hrs?)\Z|\d ?[hm] ?\d|:")
A_STEP = re.compile(r"\d(?:[mu]?s)/(?:step|epoch|sample)|\b(?:took|takes)\b", re.I)
"""What Keras and people write beside the time of an epoch."""
LOOKED_BACK = 64
"""Signs before a time in which its name is looked for."""
TOTAL = re.compile(r"\b(?:total|overall|whole|training|train|finished|completed?|done|trained)\b", re.I)
DATE = re.compile(r"(\d{4})[-/](\d\d)[-/](\d\d)[ T,](\d\d:\d\d:\d\d(?:[.,]\d{1,6})?)")
TIME_OF_DAY = re.compile(r"^\W*(?:[IWE]\d{4} |\d\d/\d\d/\d{2,4}[ T,]+|\d\d/\d\d )?(\d\d:\d\d:\d\d(?:\.\d{1,6})?)\b")
"""Also behind a date of which nobody knows whether day or month comes first."""
BATCH = re.compile(r"\b(?:global|total)[ _](?:train[ _])?batch[ _]size['\"]?\s*[:=]\s*(\d{1,9})\b", re.I)
Row = dict[str, object]
UNDERSTOOD = "Read as free text: of lines that name an epoch or a step, the values beside them."


def read_free_text(text: str) -> TrainingLog | None:
    """The log; None if no line has a place and a value. Raises LogRefused."""
    lines = _Lines()
    for number, line in enumerate(plain_lines(text).splitlines(), 1):
        lines.read(f"line {number}", line)
    total = lines.total()
    rows = lines.rows()
    if not any(_has_metric(row) for _, row in rows):
        return None
    batch = BATCH.search(text)
    stated = known(batch_size=batch and batch[1])
    if total:
        stated["hours"] = str(total / SECONDS_PER_HOUR)
    log = log_of(rows, Meaning("a script", bare=True), stated)
    return replace(log, notes=(UNDERSTOOD, *log.notes))


class _Line(NamedTuple):
    """What a line says, `within` an epoch or of a whole one; `is_total` if it has the time of training, and no place."""

    where: str
    row: Row
    within: bool = False
    is_bar: bool = False
    is_total: bool = False


@dataclass
class _Lines:
    """What was read of a text so far. A line without a place stands at that of the line before."""

    lines: list[_Line] = field(default_factory=list)
    _epoch: float | None = None
    _step: float | None = None
    _dated: bool = False
    _inside: bool = False

    def total(self) -> float:
        """The seconds that all of the training took, if one line says so, behind all epochs: it is taken out; else 0."""
        totals = [index for index, line in enumerate(self.lines) if line.is_total]
        if len(totals) != 1 or any(
            line.row.keys() & {"epoch", "step"} and _has_metric(line.row) for line in self.lines[totals[0] + 1 :]
        ):
            return 0.0
        line = self.lines.pop(totals[0])
        spans = [span_of(TimeName(Of.START, None), cell) for name, cell in line.row.items() if time_named(name)]
        return sum(span.seconds for span in spans[:1] if span and not span.bare)

    def rows(self) -> list[tuple[str, Row]]:
        """The lines about whole epochs and steps; where these have no values, also those from within epochs."""
        is_whole = any(_has_metric(line.row) for line in self.lines if not line.within)
        if is_whole:
            return [
                (line.where, line.row) for line in self.lines if not line.within or line.row.keys() <= {"timestamp"}
            ]
        begin = 0 if any(line.row.get("epoch") == 0 for line in self.lines) else 1
        for line in self.lines:
            share, epoch = line.row.pop("share", None), line.row.get("epoch")
            if isinstance(share, float) and isinstance(epoch, float):
                line.row["epoch"] = epoch - begin + share
        return [(line.where, line.row) for line in self.lines]

    def read(self, where: str, line: str) -> None:
        """Takes in a line."""
        moment = _moment(line)
        if (entry := entry_in(line)) and header_has_place(entry):
            self.lines.append(_Line(where, moment | flat(entry)))
            return
        begun, step = EPOCH.search(line), STEP.search(line) or OF_CLU.search(line)
        step = step or (begun and BATCH_AT.search(line))
        if begun:
            self._epoch = float(begun[1])
        elif step:
            self._step = float(step[1] or step[2])
        if self._epoch is None and self._step is None:
            self._start(where, moment)
            return
        bar = BAR.search(line)
        if not bar or bar[1] == "100":
            self._keep(_Line(where, moment, is_bar=bar is not None), line, (begun, step))

    def _start(self, where: str, moment: Row) -> None:
        """Keeps the first moment of the text."""
        if moment and not self._dated:
            self.lines.append(_Line(where, moment))
        self._dated = self._dated or bool(moment)

    def _keep(self, line: _Line, text: str, places: tuple[re.Match[str] | None, re.Match[str] | None]) -> None:
        begun, step = places
        values, times = dict(_values(text)), _times(text, line.is_bar)
        place: Row = {"step": self._step} if self._epoch is None else {"epoch": self._epoch}
        share = None if self._epoch is None else _share(text, begun)
        is_partly = share is not None and share < 1
        if begun or step or share is not None:
            self._inside = is_partly or (self._epoch is not None and step is not None and share is None)
        if is_partly or (self._inside and not any(map(is_evaluation, values))):
            place |= {"share": share} if share is not None else {"step": float(step[1] or step[2])} if step else {}
            self._start(line.where, line.row)
            if values:
                self.lines.append(line._replace(row=place | values | line.row, within=True))
            elif times and not (step or share is not None):  # those of the epoch, below its last step
                self.lines.append(line._replace(row={"epoch": self._epoch} | times))
        elif begun or step or values or times:
            if line.is_bar and self.lines and self.lines[-1].is_bar and self.lines[-1].row.get("epoch") == self._epoch:
                self.lines.pop()  # the same bar, drawn again
            is_total = bool(times) and not (begun or step) and TOTAL.search(text) is not None
            self.lines.append(line._replace(row=place | values | line.row | times, is_total=is_total))


def _has_metric(row: Row) -> bool:
    return any(METRIC.search(name) and is_metric(name) for name in row)


def _share(line: str, begun: re.Match[str] | None) -> float | None:
    """How much of an epoch is done where the line says it."""
    for match in WITHIN.finditer(line, begun.end() if begun else 0):
        done, whole = int(match[1]), int(match[2])
        if whole > 1 and done <= whole:
            return done / whole
    return None


def _values(line: str) -> Iterator[tuple[str, float]]:
    """The values of a line by their names; percentages as fractions."""
    kind, before = "", 0
    for match in PAIR.finditer(line):
        name, number, percent = match.groups()[:3] if match[1] else match.groups()[3:]
        name = name.removesuffix(" is")
        until = line[before : match.start()] + ("" if OF_LINE.fullmatch(name) else name)
        if kinds := OF_LINE.findall(until):
            kind = f"{kinds[-1].lower()} "
        before = match.end()
        if is_metric(name) and not time_named(name):
            of = "" if OF_NAME.search(name) else kind
            point = "." if DECIMAL_COMMA.fullmatch(number) else ""
            yield of + name, float(number.replace(",", point)) / (100 if percent else 1)
    for match in SHARE.finditer(line):
        yield kind + match[1], int(match[2]) / max(int(match[3]), 1)
    for match in TOP.finditer(line):
        yield f"top{match[1]}", float(match[2]) / 100


def _moment(line: str) -> Row:
    """When a line was written, if it says so."""
    if date := DATE.search(line):
        return {"timestamp": "{}-{}-{} {}".format(*date.groups())}
    clock = TIME_OF_DAY.match(line)
    return {**known(timestamp=clock and clock[1])}


def _times(line: str, is_bar: bool) -> Row:
    """The times in a line by their names. One without a name needs a unit, and the line must have one such alone."""
    times: Row = {}
    unnamed: list[str] = []
    for match in TIME.finditer(line):
        before = line[max(match.start() - LOOKED_BACK, 0) : match.start()]
        named = NAMED.search(before) if TIME_WORD.search(before) else None
        if named and time_named(named[1]) and not (named[1].lower().endswith(("times", " in"))):
            times.setdefault(named[1], match[1])
        elif (
            WITH_UNIT.search(match[1])
            and (not before.strip() or UNNAMED.search(before))
            and (":" not in match[1] or line[match.end() :][:1] == "<")
        ):
            unnamed.append(match[1])
    if not times and unnamed:
        times["time of an epoch" if is_bar or A_STEP.search(line) else "time"] = unnamed[0]
    return times
