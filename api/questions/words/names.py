"""Names in a sentence, and the numbers of machines beside them: `8 H100`, `two DGX A100`, `H100 x8`, `my 3090`."""

from __future__ import annotations

import re

from api.questions.spellings import MAKERS
from api.questions.words.leaving_out import leave_out
from api.questions.words.patterns import WORDS, Match, compiled, counted
from api.questions.words.scan import MACHINE, Scan
from api.questions.words.tables import COVERED, OWN_RUN, not_asked, other_networks
from api.questions.words.vocabulary import Named

_KEEPS_MINE = (
    "a an the old new single only some just already got of server box lab team group company office university has have cluster "
    "machine machines rig workstation desktop pc owns"
)
KEEPS_MINE = frozenset(_KEEPS_MINE.split())
COUNTS_OF_CHIPS = (24, 32, 48, 56, 64, 96)
_BEFORE_PLACES = "in the from within inside across only or and but is than region location leave"
BEFORE_PLACES = frozenset(_BEFORE_PLACES.split())
_COUNT = compiled(
    rf"((?P<number>\d{{1,7}})|(?P<word>{WORDS}))((?P<sign> ?[x×*] ?)|( of)?[\s-]*)"
    "((gpus?|nvidia|rented|cheap|new|used|fast|big) )*..."
)
LAST_WORD = re.compile(r"([\w']+)\s*$")
_ON = re.compile(r"\b(?:on|with|using|by|of)\s*$", re.IGNORECASE)


def counted_name(scan: Scan) -> bool:
    """`8 H100`, `eight A100s`, `8xH100`: a number of accelerators, or of machines, then their name."""
    count = _COUNT.match(scan.text, scan.place)
    named = scan.find(count.end(), *MACHINE) if count else None
    if not count or not named or _is_target(scan, count, named):
        return False
    if not count["sign"] and scan.find(scan.place, "accelerator"):
        return False  # `3090 T4` are two chips
    _take(scan, named, counted(count["number"] or count["word"]))
    return True


def _is_target(scan: Scan, count: Match, named: Named) -> bool:
    """Whether the number before a name is not of it: `76 3090`, or `resnet50 76 a100` where no other target is said."""
    values, many = scan.reading.values, int(count["number"] or 0)
    of_task = any(model in scan.words.tasks.values() for model in values.get("model", ()))
    if count["sign"] or not 20 <= many <= 100 or many in COUNTS_OF_CHIPS or of_task:
        return False
    if named.text[0].isdigit():
        return True
    return not ("target" in values or "%" in scan.text or _ON.search(scan.text, 0, scan.place))


def name(scan: Scan) -> bool:
    """A name or a phrase, and what it marks or means."""
    named = scan.find(scan.place)
    if named is None:
        return False
    mark, scan.place = named.values[0].parameter, named.end
    if mark == "filler" or (named.text == "us" and not scan.negated and _is_pronoun(scan, named)):
        scan.reading.ignored.append(named.text)
        scan.mine = scan.mine and named.text.casefold() in KEEPS_MINE
    elif mark == "not":
        scan.end_negation()
        scan.negated = named.text
    elif mark == "mine":
        scan.mine = True
        scan.reading.ignored.append(named.text)
    else:
        _take(scan, named, 0)
    return True


def _is_pronoun(scan: Scan, named: Named) -> bool:
    """Whether `us` are people: after a word such as `charge`, but not `in` or `the`."""
    before = LAST_WORD.search(scan.text, 0, named.end - len(named.text))
    word = before[1].casefold() if before else ""
    return word not in BEFORE_PLACES and scan.words.is_filler(word)


def _take(scan: Scan, named: Named, many: int) -> None:
    """The values of a name or phrase, left out where it is negated; a user's own machine where it is theirs."""
    (kind, text, _), mine, reading = named.values[0], scan.mine, scan.reading
    scan.place, scan.mine = named.end, False
    if kind in ("each", "owned"):
        reading.each |= kind == "each"
        reading.owned |= kind == "owned"
    elif kind in ("unasked", "other"):
        _ask_instead(scan, named)
    elif scan.negated:
        leave_out(scan, named, many)
    elif kind == "accelerator" and mine and "," not in text and text not in MAKERS:
        scan.add("own", f"{(many or 1) * (_of_each(named) or 1)}x {text}")
    else:
        reading.owned |= kind == "accelerator" and mine
        _add(scan, named, many)


def _add(scan: Scan, named: Named, many: int) -> None:
    before = {*scan.reading.values.get("accelerator", ())}
    for value in named.values:
        if value.parameter != "accelerator" or not before & {*value.text.split(",")}:  # `A100 40GB DGX`
            scan.reading.add(value)
    if named.values[0].parameter in MACHINE:
        _count_machines(scan, named, many)


def _count_machines(scan: Scan, named: Named, many: int) -> None:
    """A number of accelerators or of machines, which a sentence may compare with others."""
    reading, is_whole = scan.reading, named.values[0].parameter != "accelerator" or bool(_of_each(named))
    counts = "nodes" if is_whole else "accelerators"
    reading.each |= bool(many and _of_each(named))
    side = {value.parameter: value.text.split(",") for value in named.values}
    nodes = reading.values.get("nodes", []) if reading.each else []
    if nodes and many and not is_whole:  # `2 nodes of 8 V100 or 1 of 8 A100`
        side |= {"nodes": nodes[-1:], "accelerators": [str(int(nodes[-1]) * many)]}
    elif many and not scan.at_most:
        side[counts] = [str(many)]
    if many:
        scan.count(counts, many)
    reading.machines.append(side)


def _ask_instead(scan: Scan, named: Named) -> None:
    negated, word = scan.take_negation(), named.values[0].text
    if named.values[0].parameter == "unasked":
        answer = not_asked()[word]
        scan.ask(f"{negated} {named.text}", answer.message, answer.stops)
        return
    network = other_networks()[word]
    scan.reading.other_task = True
    scan.add("model", network.name)
    scan.ask(named.text, f"this is {network.kind}; {COVERED}; {OWN_RUN}", stops=True)


def _of_each(named: Named) -> int:
    """How many accelerators a machine has that a phrase names: 8 of `dgx h100`; 0 of other names."""
    return sum(int(value.text) for value in named.values if value.parameter == "accelerators")
