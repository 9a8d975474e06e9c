"""The one grammar of times, for lines, columns and JSON: moments, running times, and times of each epoch or step.

A row's time is its own or that of its place (its epoch or step), never one carried from elsewhere. Whether a column of times runs
or is of each row shows in its figures; its name decides only where these leave it open, and where both can be, that is asked.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import accumulate, pairwise
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from costcalc.units import SECONDS_PER_DAY, SECONDS_PER_HOUR
from own_runs.logs.bounds import MOST_CLOCKS
from own_runs.logs.log import LogRefused
from own_runs.logs.names import UNITS, Of, TimeName

SPAN = re.compile(r"(?:(\d{1,3}) days?,? )?(?:(\d{1,4}):)?(\d{1,3}):(\d{2}(?:\.\d{1,9})?)", re.A)
UNIT = "|".join(sorted(UNITS, key=len, reverse=True))
PART = rf"(\d{{1,12}}(?:\.\d{{1,15}})?) ?({UNIT})"
WITH_UNITS = re.compile(
    rf"(?:{PART}(?:,? (?:and )?| ?))(?:{PART}(?:,? (?:and )?| ?))?(?:{PART} ?)?(?:{PART})?", re.I | re.A
)
UNIX_SECONDS = (1e9, 1e10)  # from 2001 to 2286
MILLISECONDS = 1000.0  # in which MLflow counts
GROWS, STAYS = 0.65, 0.35
"""Times since the start grow in proportion to what was trained; those of rows don't. Between these powers of it, both can be."""
FEW = 5
"""Rows of times of their own that rise from each to the next by chance once in 120 logs."""
OUT_OF_ORDER = 60.0
"""Seconds by which a line may be older than the first one, as those of several processes are."""
LESS = 0.8
"""Of the sum of its rows a clock may tell, which has been rounded or started later."""
FROM_FIRST_ROW = "The log has the time of each row, not of the start: time counts from its first row."
CERTAIN = {"_runtime", "accumulated_submission_time"}
"""Names under which tools write times since the start and no others."""
OF_EACH = "Its times are read as those of single rows, and added up."
OF_EACH_STEP = "Its times are those of a step: they are added up, without evaluations."
IN_SECONDS = "Its times ({}) have no unit: they are read in seconds."
RESTARTED = "Its clock began anew {} times: the times are added up."
NO_UNIT = "its times ({}) have no unit (seconds, minutes or hours in the column's name would tell)"
BOTH = "its times ({}) may run since the start ({}) or be those of each row ({})"
STILL = "its clock stands still from {} on"
DIFFER = "its {} say {}, its {} {}"


class Span(NamedTuple):
    """A time that a row has under a name; `bare` if neither name nor figure has a unit."""

    of: Of
    seconds: float
    bare: bool


class Timed(NamedTuple):
    """What a row says of time: its place (epoch or step), the moment at which it was written, and its spans by their names."""

    epoch: float | None
    step: float | None
    moment: float | None
    spans: Mapping[str, Span]

    @property
    def place(self) -> float | None:
        return self.step if self.epoch is None else self.epoch


class Clock(Struct, frozen=True):
    """Seconds since the start of each row, None where it has none, how they were understood, and what is to be asked about
    them."""

    seconds: Sequence[float | None]
    name: str = ""
    of: Of = Of.START
    notes: tuple[str, ...] = ()
    doubt: str = ""
    rank: int = 0
    is_date: bool = False

    @property
    def total(self) -> float:
        return max((second for second in self.seconds if second is not None), default=0.0)


def span_of(named: TimeName, cell: object) -> Span | None:
    """The time in a cell under the name of a time: 1:02:03, 1h 2m 3s, 23.5 s, or a number in the name's unit."""
    text = str(cell).strip()
    if match := SPAN.fullmatch(text):
        days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
        return Span(named.of, days * SECONDS_PER_DAY + hours * SECONDS_PER_HOUR + minutes * 60 + seconds, False)
    if len(text) < 80 and (match := WITH_UNITS.fullmatch(text)):
        parts = [*filter(None, match.groups())]
        return Span(
            named.of,
            sum(float(n) * UNITS[unit.lower()] for n, unit in zip(parts[::2], parts[1::2], strict=True)),
            False,
        )
    number = value_of(cell)
    if number is None or not 0 <= number < math.inf:
        return None
    return Span(named.of, number * (named.unit or 1.0), named.unit is None)


def value_of(cell: object) -> float | None:
    """The number in a cell; None for words."""
    try:
        return float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None


def moment_of(cell: object) -> float | None:
    """Seconds since 1970 of a date with its time, or since midnight of a time of day."""
    number = value_of(cell)
    if number is not None:
        units = (number, number / MILLISECONDS, number / MILLISECONDS**2, number / MILLISECONDS**3)
        return next((unit for unit in units if UNIX_SECONDS[0] <= unit < UNIX_SECONDS[1]), None)
    if match := SPAN.fullmatch(str(cell)):
        return float(match[2] or 0) * SECONDS_PER_HOUR + float(match[3]) * 60 + float(match[4])
    try:
        moment = datetime.fromisoformat(str(cell).replace(",", "."))
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def clock_of(rows: Sequence[Timed], *, bare_is_seconds: bool = False) -> Clock:
    """The clock of rows: that which reaches furthest, and of several the surest. Times without a unit are seconds only where
    `bare_is_seconds`, as in what scripts print."""
    clocks = [clock for clock in _clocks(rows, bare_is_seconds) if clock.total > 0 or clock.is_date or clock.doubt]
    known = [replace(clock, seconds=_of_places(rows, clock.seconds)) for clock in clocks if clock.seconds]
    if not known:
        return next(iter(clocks), Clock((None,) * len(rows)))
    end = max(_reach(clock) for clock in known)
    known = [clock for clock in known if _reach(clock) == end]
    best = min(known, key=lambda clock: clock.rank)
    doubt = best.doubt or next(filter(None, (_disagreement(best, other) for other in known)), "")
    return _without_standstill(rows, replace(best, doubt=doubt))


def _reach(clock: Clock) -> int:
    """The last row that has a time of this clock."""
    return max((index for index, each in enumerate(clock.seconds) if each is not None), default=-1)


def _clocks(rows: Sequence[Timed], bare_is_seconds: bool) -> Iterable[Clock]:
    moments = [row.moment for row in rows]
    if any(row.moment is not None and row.place is not None for row in rows):
        yield Clock(_since_first(moments), "dates", notes=(FROM_FIRST_ROW,), is_date=True)
    names = dict.fromkeys(name for row in rows for name in row.spans)
    if len(names) > MOST_CLOCKS:
        raise LogRefused(f"it has {len(names):,} kinds of times, such as {', '.join(list(names)[:3])}: keep one")
    clocks = [_spans(rows, name, bare_is_seconds) for name in names]
    yield from (clock for clock in clocks if clock.of is not Of.EVALUATION)
    evaluations = next((clock for clock in clocks if clock.of is Of.EVALUATION), None)
    trained = next(
        (clock for clock in clocks if "train" in clock.name.lower() and clock.of is not Of.START and clock.seconds),
        None,
    )
    if evaluations and trained and evaluations.seconds:
        spent, both = [0.0, 0.0], list[float]()
        for times in zip(trained.seconds, evaluations.seconds, strict=True):
            spent = [last if now is None else now for last, now in zip(spent, times, strict=True)]
            both.append(sum(spent))
        yield Clock(both, f"{trained.name} and {evaluations.name}", Of.ROW, trained.notes, "", trained.rank - 1)


def _since_first(moments: Sequence[float | None]) -> list[float | None]:
    """Seconds since the first moment; times of day go past midnight."""
    first: float | None = None
    last: float | None = None
    since: list[float | None] = []
    for logged in moments:
        if logged is None:
            since.append(None)
            continue
        if last is None or logged >= min(last - SECONDS_PER_DAY / 2, SECONDS_PER_DAY):
            last = logged
        else:
            last = logged + SECONDS_PER_DAY * math.ceil((last - logged) / SECONDS_PER_DAY)
        first = last if first is None else first
        gone = last - first
        since.append(0.0 if -OUT_OF_ORDER < gone < 0 else gone)
    return since


class _Times(NamedTuple):
    """The times of one name: the rows that have them, and how far training was there."""

    name: str
    of: Of
    at: Sequence[int]
    seconds: Sequence[float]
    places: Sequence[float]


def _spans(rows: Sequence[Timed], name: str, bare_is_seconds: bool) -> Clock:
    """The clock of all times under a name."""
    at = [index for index, row in enumerate(rows) if name in row.spans and row.place is not None]
    spans = [rows[index].spans[name] for index in at]
    if not spans:
        return Clock(())
    first = spans[0]
    if any(span.bare for span in spans) and not bare_is_seconds and first.of not in (Of.EPOCH, Of.STEP):
        return Clock((), name, first.of, doubt=NO_UNIT.format(name), rank=9)
    of_step = first.of is Of.STEP
    begin = 1.0 if not of_step and rows[at[0]].epoch == 0 else 0.0
    places = [((rows[index].step if of_step else rows[index].place) or 0.0) + begin for index in at]
    of = Of.ROW if first.of is Of.EPOCH and rows[at[0]].epoch is None else first.of
    times = _Times(name, of, at, [span.seconds for span in spans], places)
    clock = _clock_of_times(times, len(rows))
    note = (IN_SECONDS.format(name),) if any(span.bare for span in spans) else ()
    return replace(clock, notes=(*note, *clock.notes))


def _clock_of_times(times: _Times, rows: int) -> Clock:
    """The times as those of rows, of steps, or since the start, whichever they are."""
    if times.of is Of.STEP:
        return _spread(times, _of_steps(times), rows, Of.STEP, OF_EACH_STEP, 4)
    restarts, of_rows = _restarts(times), _of_rows(times)
    runs = restarts is not None and times.of is not Of.EVALUATION
    seconds, rises = times.seconds, len(times.seconds) > 1 and _rises(times.seconds)
    looks_so = rises and (len(seconds) >= FEW or _grows(seconds, times.places, STAYS))
    may_run = of_rows is None or (looks_so and times.of is not Of.EVALUATION)
    if (runs and times.of is Of.EPOCH) or (may_run and not runs and times.of is not Of.EPOCH):
        shown = in_words(seconds[-1]), in_words((of_rows or [sum(seconds)])[-1])
        return Clock((), times.name, times.of, doubt=BOTH.format(times.name, *shown), rank=8)
    if runs:
        before, since = 0.0, list[float]()
        for piece in _pieces(seconds):  # of a clock that may have been started several times
            since += [before + seconds[index] for index in piece]
            before = since[-1]
        return _spread(times, since, rows, Of.START, RESTARTED.format(restarts) if restarts else "", 1)
    of = times.of if times.of is Of.EVALUATION else Of.ROW
    return _spread(times, of_rows or [], rows, of, OF_EACH, 2)


def _spread(times: _Times, seconds: Sequence[float], rows: int, of: Of, note: str, rank: int) -> Clock:
    spread: list[float | None] = [None] * rows
    for index, each in zip(times.at, seconds, strict=True):
        spread[index] = each
    return Clock(spread, times.name, of, (note,) if note else (), rank=rank)


def _restarts(times: _Times) -> int | None:
    """How often a clock that runs was started anew; None if the times are no running clock's."""
    times = _while_going(times)
    pieces = _pieces(times.seconds)
    if len(times.seconds) == 1:
        return 0 if times.of is Of.START or (times.of is Of.ROW and times.places[0] <= 1) else None
    if times.of is Of.START and (times.name in CERTAIN or (len(pieces) == 1 and _rises(times.seconds))):
        return len(pieces) - 1
    if len(pieces) > 1 + len(times.seconds) // 4 or all(len(piece) == 1 for piece in pieces):
        return None
    for piece in pieces:
        places = times.places[: len(piece)] if piece.start == 0 else range(1, len(piece) + 1)
        if len(piece) > 1 and not _grows([times.seconds[index] for index in piece], places, GROWS):
            return None
    return len(pieces) - 1


def _while_going(times: _Times) -> _Times:
    """The times up to where they stand still, if they go at first."""
    end = len(times.seconds)
    while end > 1 and times.seconds[end - 2] == times.seconds[-1]:
        end -= 1
    return times if end == 1 else times._replace(seconds=times.seconds[:end], places=times.places[:end])


def _rises(seconds: Sequence[float]) -> bool:
    return all(after > before for before, after in pairwise(seconds))


def _pieces(seconds: Sequence[float]) -> list[range]:
    """The stretches in which times do not fall."""
    falls = [index for index, (before, after) in enumerate(pairwise(seconds), 1) if after < before]
    return [range(begin, end) for begin, end in pairwise([0, *falls, len(seconds)])]


def _grows(seconds: Sequence[float], places: Sequence[float], power: float) -> bool:
    """Whether times grow at least with this power of what was trained."""
    trained = places[-1] / places[0] if places[0] > 0 else len(places)
    if trained <= 1:
        trained = len(places)
    return seconds[-1] > 0 and (seconds[0] <= 0 or seconds[-1] / seconds[0] >= trained**power)


def _of_rows(times: _Times) -> list[float] | None:
    """The sums of the times of rows, each as often as epochs passed; None if it can't be told what a row's is the time of."""
    gaps = [after - before for before, after in pairwise(times.places)]
    gap = sorted(gaps)[len(gaps) // 2] if gaps else times.places[0]
    if gap > 1.5 and times.of is not Of.EPOCH:
        return None
    return list(accumulate(seconds * max(round(gap), 1) for seconds in times.seconds))


def _of_steps(times: _Times) -> list[float]:
    """The sums of the times of steps, each as often as steps passed; steps may count anew in each epoch."""
    passed = (step - done if step >= done else step for done, step in pairwise([0.0, *times.places]))
    return list(accumulate(steps * seconds for steps, seconds in zip(passed, times.seconds, strict=True)))


def _of_places(rows: Sequence[Timed], seconds: Sequence[float | None]) -> list[float | None]:
    """The times of rows; one without has that of its place, which is the last that was told there."""
    filled, begin = list(seconds), 0
    for end in range(1, len(rows) + 1):
        one, other = rows[begin], rows[min(end, len(rows) - 1)]
        is_same = one.place is not None and one.place == other.place and (one.epoch is None) == (other.epoch is None)
        if end < len(rows) and is_same:
            continue
        told = max((second for second in seconds[begin:end] if second is not None), default=None)
        last = max((row.step or 0.0 for row in rows[begin:end]), default=0.0)
        for index in range(begin, end):
            if filled[index] is None and rows[index].step in (None, last):
                filled[index] = told
        begin = end
    return filled


def _without_standstill(rows: Sequence[Timed], clock: Clock) -> Clock:
    """The clock without the last rows if these share one moment though training went on, and the question to ask then."""
    timed = [
        (each, row.epoch, row.step)
        for each, row in zip(clock.seconds, rows, strict=True)
        if each is not None and row.place is not None
    ]
    end = clock.total
    last = [(epoch, step) for each, epoch, step in timed if each == end]
    places = {step if epoch is None else epoch for epoch, step in last}
    if len(places) < 2 or len(timed) < 2:
        return clock
    epoch, step = last[0]
    stands = STILL.format(f"step {step:g}" if epoch is None else f"epoch {epoch:g}")
    seconds = [None if second == end else second for second in clock.seconds]
    return replace(clock, seconds=seconds, doubt=stands)


def _disagreement(best: Clock, other: Clock) -> str:
    """The question to ask where two clocks of a log can't both be right."""
    if other is best or not other.total or other.doubt:
        return ""
    first = next((index for index, each in enumerate(best.seconds) if each is not None), 0)
    told = other.total - (other.seconds[first] or 0.0 if best.is_date else 0.0)  # dates count from their first row
    is_less = best.total < LESS * told
    is_more = best.total * LESS > told and other.of is Of.START and best.of is Of.START and not best.is_date
    if not (is_less or is_more):
        return ""
    return DIFFER.format(best.name, in_words(best.total), other.name, in_words(told))


def in_words(seconds: float) -> str:
    """Seconds as people write them: 42 s, 17 min, 3.2 h."""
    if seconds < 120:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.3g} min" if seconds < 7200 else f"{seconds / SECONDS_PER_HOUR:,.3g} h"
