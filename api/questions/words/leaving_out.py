"""What a sentence leaves out: `not aws or gcp`, `aws is not an option`."""

from __future__ import annotations

import re

from api.questions.words.scan import Scan
from api.questions.words.vocabulary import Named

EXCLUDABLE = ("provider", "purchase", "accelerator", "place", "region", "instance_type")
NOT_LEFT_OUT = "this cannot be left out; say what is wanted instead"
_GOES_ON = re.compile(r"\s*(?:,?\s*(?:n?or|and)\b|[/&])\s*(?:(?:on|in|at|from|the)\s+)*", re.IGNORECASE)
_COMMA = re.compile(r"\s*,\s*")
_WISHED = re.compile(r"\s+(?:only|instead|preferably|preferred|is\s+(?:fine|ok(?:ay)?))\b", re.IGNORECASE)


def leave_out(scan: Scan, named: Named, many: int) -> None:
    """Leaves out what is named behind a negation."""
    kind = named.values[0].parameter
    if many or kind not in EXCLUDABLE:
        scan.ask(f"{scan.take_negation()} {named.text}", NOT_LEFT_OUT, stops=True)
    else:
        scan.reading.add(named.values[0]._replace(excluded=True))
        go_on(scan, kind)


def go_on(scan: Scan, kind: str = "") -> None:
    """After what is left out `or` and `and` go on with others of its kind, and after `excluding`, or with `or`, of any."""
    negated = scan.take_negation()
    more = _GOES_ON.match(scan.text, scan.place) or _comma_of_list(scan, kind)
    if more is None:
        return
    of_any = not kind or negated.casefold() not in ("no", "not") or "or" in more[0].casefold()
    if scan.is_of(more.end(), *(EXCLUDABLE if of_any else (kind,))):
        scan.negated, scan.place = negated, more.end()


def _comma_of_list(scan: Scan, kind: str) -> re.Match[str] | None:
    """The comma here in a list of one kind: `without aws, gcp`, but not in `not aws, gcp only`."""
    comma = _COMMA.match(scan.text, scan.place)
    named = scan.is_of(comma.end(), kind) if comma else None
    return comma if named and not _WISHED.match(scan.text, named.end) else None
