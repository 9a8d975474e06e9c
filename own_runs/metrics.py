"""By which of a log's metrics a training may be judged."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from own_runs.logs.log import Point
from own_runs.logs.names import NEVER_A_METRIC, is_evaluation

ACCURACY = re.compile(r"acc|top_?1(?!\d)", re.I)
TOP_1 = re.compile(r"top[-_/ ]?1(?!\d)", re.I)
PERPLEXITY = re.compile(r"ppl|perplex", re.I)


def likeliest(names: Sequence[str], points: Sequence[Point]) -> Sequence[str]:
    """The names by which the training may be judged: those of evaluations before those of training batches, of these accuracies,
    the top-1 if there are several, or the one whose name all others begin with."""
    named = [name for name in names if is_evaluation(name)]
    of_evaluation = named or _of_other_rows(names, points) or names
    accuracies = [name for name in of_evaluation if ACCURACY.search(name)]
    firsts = [name for name in accuracies if TOP_1.search(name)]
    likely = names if len(names) == 1 else firsts or accuracies or of_evaluation
    if {bool(PERPLEXITY.search(name)) for name in likely} == {True, False} and len(likely) == 2:
        likely = [name for name in likely if PERPLEXITY.search(name)]  # which is the loss, as people say it
    return next(([name] for name in likely if all(each.startswith(name) for each in likely)), likely)


def _of_other_rows(names: Sequence[str], points: Sequence[Point]) -> list[str]:
    """The names that stand on no row of a training batch, one with a learning rate; else those on at most half of them."""
    trained = [point for point in points if any(NEVER_A_METRIC.search(name) for name in point.values)]
    rows = Counter(name for point in trained for name in point.values)
    alone = [name for name in names if trained and name not in rows]
    return alone or [name for name in names if rows[name] <= len(trained) / 2]


def called(named: str, columns: Sequence[str]) -> list[str]:
    """The column of this name, whatever its capitals, else those that have it in theirs."""
    plain = named.casefold()
    same, alike = [each for each in columns if each == named], [each for each in columns if each.casefold() == plain]
    return same or alike or [each for each in columns if plain in each.casefold()]
