"""A sentence as spans, one after another: at each place the first of the finders that knows what stands there reads it."""

from __future__ import annotations

import re
from datetime import date

from api.questions.words.kinds import kinds
from api.questions.words.leaving_out import NOT_LEFT_OUT
from api.questions.words.names import counted_name, name
from api.questions.words.numbers import bare_number
from api.questions.words.reading import Reading
from api.questions.words.scan import Scan
from api.questions.words.unknown import unknown
from api.questions.words.vocabulary import Vocabulary

_GAP = re.compile(r"[\s,;/]+")


def read(text: str, words: Vocabulary, today: date) -> Reading:
    """What each span of a plain text says."""
    scan = Scan(text, words, today)
    while scan.place < len(scan.text):
        gap = _GAP.match(scan.text, scan.place)
        if gap:
            scan.place = gap.end()
            if "," in gap[0] or ";" in gap[0]:
                scan.end_clause()
        else:
            next(finder for finder in FINDERS if finder(scan))
    scan.end_negation()
    return scan.reading


def of_a_kind(scan: Scan) -> bool:
    """A span of one of the kinds that `data/spans.csv` lists. A network whose name begins with a number is none of them: `3d
    u-net` is no three days."""
    network = scan.is_of(scan.place, "model") if scan.text[scan.place].isdigit() else None
    for kind in kinds():
        match = kind.pattern.match(scan.text, scan.place)
        if match and match.end() > max(scan.place, network.end if network else 0):
            negated = scan.take_negation()
            if negated and "=" not in match[0]:
                scan.ask(f"{negated} {match[0]}", NOT_LEFT_OUT, stops=True)
            elif not kind.read(scan, match):
                scan.negated = negated
                continue
            scan.place, scan.mine = match.end(), scan.mine and not match[0].strip()
            return True
    return False


FINDERS = (of_a_kind, counted_name, name, bare_number, unknown)
