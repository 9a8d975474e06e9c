"""Names in a sentence, and the numbers of machines beside them: `8 H100`, `two DGX A100`, `H100 x8`, `my 3090`."""

from __future__ import annotations

import re

from api.questions.spellings import MAKERS
from api.questions.words.leaving_out import EXCLUDABLE, leave_out
from api.questions.words.numbers import LAST_WORD
from api.questions.words.patterns import WORDS, Match, compiled, counted
from api.questions.words.scan import MACHINE, Scan
from api.questions.words.tables import COVERED, OWN_RUN, not_asked, other_networks
from api.questions.words.vocabulary import Named

_KEEPS_MINE = (
    "a an the old new single only some just already got of server box lab team group company office university has have cluster "
    "machine machines rig workstation desktop pc owns"
)
KEEPS_MINE = frozenset(_KEEPS_MINE.split())
USUAL_IN_ONE = 8
"""Accelerators of a server, where a number of servers is said and not what is in one."""
COUNTS_OF_CHIPS = (24, 32, 48, 56, 64, 96)
BEFORE_PLACES = frozenset(
    [
        "in",
        "the",
        "from",
        "within",
        "inside",
        "across",
        "only",
        "or",
        "and",
        "but",
        "is",
        "than",
        "region",
        "location",
        "leave",
    ]
)
_COUNT = compiled(
    rf"((?P<number>\d{{1,7}})|(?P<word>{WORDS}))((?P<sign> ?[x×*] ?)|( of)?[\s-]*)"
    "((gpus?|nvidia|rented|cheap|new|used|fast|big) )*..."
)
_TIMES = compiled(
    r" ?[x×*] ?(?P<signed>\d{1,7}){end}"
    r"| (?P<before>\d{1,3}) ?[x×]( |{end})"
    r"| (?P<alone>[1248]|16)(?= ?($|[,;])| (on|at|in|from|with|to|for)\b)..."
)
"""A count after a name: `H100 x 8`, `H100 8x`, `H100 8`."""
_MACHINES = compiled("{gap}(servers|machines|nodes|boxes|instances|hosts|vms)")
"""What makes a count before a name one of machines: `16 H100 servers`, but not `8 A100 server`."""
_NODES_BEHIND = compiled(r" ?[,;(]? ?([x×*] ?)?(?P<nodes>([2-9]|\d{2,4}) ?(nodes|machines|servers|boxes|hosts))")
_ONE = r"([1-9]|1\d|24|32|48|64|128|256|512|1024) ?[x×]?"
_NUMBERS = compiled(rf"({_ONE}( ?, ?(or|and)?| ?/| (or|and|vs\.?|versus|against)) ?)+{_ONE}{{dash}}(?=[a-z])...")
_GPUS, _ON = compiled("{of_gpus}"), re.compile(r"\b(?:on|with|using|by|of)\s*$", re.IGNORECASE)


def listed(scan: Scan) -> bool:
    """Each of several numbers before a name gets it: `2x, 4x and 8x A100`. It is read then."""
    numbers = _NUMBERS.match(scan.text, scan.place)
    if numbers:
        gpus, named = _GPUS.match(scan.text, numbers.end()), scan.find(numbers.end(), *MACHINE)
        if end := gpus.end() if gpus else named.end if named else 0:
            name = scan.text[numbers.end() : end]
            scan.put_in_place(end, " or ".join(f"{count} {name}" for count in re.findall(r"\d+", numbers[0])))
    return False


def counted_name(scan: Scan) -> bool:
    """`8 H100`, `eight A100s`, `8xH100`: a number of accelerators, or of machines, then their name."""
    count = _count(scan)
    named = scan.find(count.end(), *MACHINE) if count else None
    if not count or not named or _is_target(scan, count, named):
        return False
    if not count["sign"] and scan.find(scan.place, "accelerator"):
        return False  # `3090 T4` are two chips
    begin, many = scan.place, counted(count["number"] or count["word"])
    _take(scan, named, many)
    nodes = _NODES_BEHIND.match(scan.text, scan.place) if count["sign"] and many <= USUAL_IN_ONE else None
    if nodes:  # `8xH100 2 nodes`, but not `8 H100 on 2 nodes`
        scan.reading.each, scan.place = True, nodes.start("nodes")
        scan.reading.corrected.append((scan.text[begin : nodes.end()], f"{nodes['nodes']} with {many} each"))
    return True


def _count(scan: Scan) -> Match | None:
    """A number, before which the kind of purchase is put that stands after it: `8 spot H100s`."""
    count = _COUNT.match(scan.text, scan.place)
    kind = scan.is_of(count.end(), "purchase") if count else None
    if not count or not kind or not scan.find(kind.end + 1, *MACHINE):
        return count
    scan.put_in_place(kind.end + 1, f"{kind.text} {count[0]}")
    return None


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
    kind, mine, reading = named.values[0].parameter, scan.mine, scan.reading
    scan.place, scan.mine = named.end, False
    many, is_whole = _with_what_follows(scan, kind, many)
    if kind in ("each", "owned"):
        reading.each |= kind == "each"
        reading.owned |= kind == "owned"
    elif kind in ("unasked", "other"):
        _ask_instead(scan, named)
    elif scan.negated:
        leave_out(scan, named, many)
    elif kind == "accelerator" and mine and named.values[0].text not in MAKERS:
        _put_own(scan, named, (many or 1) * (_of_each(named) or (USUAL_IN_ONE if is_whole else 1)))
    else:
        reading.owned |= kind == "accelerator" and mine
        _add(scan, named, many, is_whole)


def _put_own(scan: Scan, named: Named, many: int) -> None:
    """A user's own machine; of two versions the larger, of more it is asked which."""
    *others, chip = named.values[0].text.split(",")
    if others[1:]:
        scan.ask(f"my {named.text}", "which? Name it, as in own=8xA100-80GB", stops=True)
        return
    scan.add("own", f"{many}x {chip}")
    if others:
        scan.reading.corrected.append((named.text, f"{many}x {chip}"))


def _with_what_follows(scan: Scan, kind: str, many: int) -> tuple[int, bool]:
    """The number of what was named, which may stand behind it, and whether that counts whole machines."""
    is_count = many and kind == "accelerator" and not scan.reading.each  # of two 8xA100 machines, 8 is none
    machines = _MACHINES.match(scan.text, scan.place) if is_count else None
    scan.place = machines.end() if machines else scan.place
    after = _TIMES.match(scan.text, scan.place) if kind in MACHINE and not many else None
    if after and not (after["before"] and scan.find(after.end(), *MACHINE)):
        many, scan.place = int(after["signed"] or after["before"] or after["alone"]), after.end()
    return many, bool(machines)


def _add(scan: Scan, named: Named, many: int, is_whole: bool) -> None:
    kind, values = named.values[0].parameter, scan.reading.values
    before = {*values.get("accelerator", ())}
    for value in named.values:
        if value.parameter != "accelerator" or not before & {*value.text.split(",")}:  # `A100 40GB DGX`
            scan.reading.add(value)
    if kind in MACHINE:
        _count_machines(scan, named, many, is_whole or kind != "accelerator" or bool(_of_each(named)))
    scan.clause += named.values if kind in EXCLUDABLE else ()


def _count_machines(scan: Scan, named: Named, many: int, is_whole: bool) -> None:
    """A number of accelerators or of machines, which a sentence may compare with others."""
    reading, counts = scan.reading, "nodes" if is_whole else "accelerators"
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
