"""Rules for lengths of time, and for numbers of accelerators, machines and runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

from api.questions import amounts
from api.questions.amounts import NUMBER, SPAN, plain
from api.questions.spellings import term
from api.questions.words.patterns import (
    ABOUT,
    COUNT_WORDS,
    END,
    LEAST,
    MOST,
    OF_GPUS,
    OF_NODES,
    PERIOD,
    Match,
    N,
    counted,
)
from api.questions.words.scan import MACHINE, Scan, Understand, asks
from api.questions.words.shares_and_money import PIECE

EACH = rf"(?:\d{{1,2}}(?!\d)|{COUNT_WORDS})\s*[x×*]?\s*(?!gi?b)[a-z]"
LIMIT_HOURS = {"month": Decimal(730), "year": Decimal(8760)}
SIZE_ALONE = (
    "the size is not enough; of a language model add how and on what, as in LoRA on 50M tokens, else gmacs= and epochs="
)
MOST_HOURS, NO_LIMIT = 20_000, "a time limit is a number of hours or days, as in within 8 hours"
EACH_ONE = " each"
CHIP_HOURS = "chip-hours cannot be a limit; write dollars, or hours on a number of chips, as in 8 A100 within 60 hours"
PIECES = "costs are for a whole training, not for part of it or for serving"
NO_RIVAL = "(?!(?:cheap|fast|short|quick)er)"  # than so many others
_NUMBER_OF = re.compile(rf"{N}\s*[x×*]?\s*", re.IGNORECASE)
OTHER_UNITS = (
    r"(?:gi?b|tb|mb|images?|samples?|v?cpus?|cores?|kwh|watts?|w|px|pixels?|tflops|flops|gflops|params|"
    r"parameters|classes|images?/s|img/s)"
)


def _limit(hours: Callable[[Match], Decimal | None]) -> Understand:
    """A time limit in hours; of a number that no limit has, such as that of a 4090D, what to write."""

    def understand(scan: Scan, match: Match) -> bool:
        limit = hours(match) or Decimal(0)
        return scan.ask(match[0], NO_LIMIT) if limit > MOST_HOURS else scan.add("max_hours", plain(limit))

    return understand


def _and_a_half(match: Match) -> Decimal:
    parts = (amounts.hours(match["span"]), amounts.hours(f"half a {match['span'].split()[-1]}"))
    return sum(filter(None, parts), Decimal(0))


def _term(scan: Scan, match: Match) -> bool:
    count = counted(match["n"])
    written = term(f"{count} {match['unit']}")
    return scan.add("term", written) if written else False


def _accelerators(scan: Scan, match: Match) -> bool:
    longer = scan.words.find(scan.text, match.start("kind"), ("accelerator",))
    if (longer and longer.end > match.end()) or scan.words.find(scan.text, match.end() + 1, ("accelerator",)):
        return False  # 8 TPU v3, 8 GPUs of a name that follows
    kind = match["kind"].lower()[:3]
    if scan.mine:
        return scan.ask(f"my {match[0]}", "which? Name them, as in own=2xRTX4090")
    if kind in ("gpu", "tpu"):
        scan.add("accelerator", kind.upper())
        scan.reading.machines.append({"accelerator": [kind.upper()], "accelerators": [str(counted(match["n"]))]})
    return scan.count("accelerators", counted(match["n"]))


def _nodes(scan: Scan, match: Match) -> bool:
    """`4 nodes of 8 A100`, `4 x 8 A100`: the number of accelerators that follows is that of each."""
    scan.reading.each, scan.reading.owned = True, scan.reading.owned or scan.mine
    return scan.add("nodes", str(counted(match["n"])))


def _counts(name: str) -> Understand:
    return lambda scan, match: scan.count(name, counted(match["n"]))


def _limited(scan: Scan, match: Match) -> bool:
    """Words before a number of accelerators or machines that make it the most of them; declined before any other number."""
    if not (match["any"] or _of_a_name(scan, match.end())):
        return False
    if match["least"]:
        scan.ask(match["least"], "of a range, only the upper limit counts", stops=False)
    scan.at_most = True
    return True


def _least(scan: Scan, match: Match) -> bool:
    if not (match["any"] or _of_a_name(scan, match.end())):
        return False
    return scan.ask(match[0], "lower limits are not understood; the number is taken as it is")


def _of_a_name(scan: Scan, place: int) -> bool:
    """Whether a number stands here, and then the name of an accelerator or a machine."""
    count = _NUMBER_OF.match(scan.text, place)
    return bool(count and scan.words.find(scan.text, count.end(), MACHINE))


def _of_them(scan: Scan, match: Match) -> bool:
    """`8 of them`: of the accelerators or machines named before."""
    named = [name for name in ("own", *MACHINE) if name in scan.reading.values]
    if not named or named[0] == "own":
        return False
    return scan.count("nodes" if named[0] == "instance_type" else "accelerators", counted(match["n"]))


def _at_most(scan: Scan, match: Match) -> bool:
    """`4 GPUs or fewer`."""
    scan.at_most = True
    return (_accelerators if match["kind"] else _counts("nodes"))(scan, match)


def _life(scan: Scan, match: Match) -> bool:
    """A number of years said of a user's own machine is its life."""
    return (scan.reading.owned or "own" in scan.reading.values) and scan.count("own_years", counted(match["n"]))


def _owned(scan: Scan, match: Match) -> bool:
    """Words that make accelerators the user's own: `my gaming PC with a`, before them; `we have lying around`, after them."""
    if not match["box"] and "accelerator" not in scan.reading.values:
        return False
    scan.reading.owned = True
    return True


def _age(scan: Scan, match: Match) -> bool:
    hours = amounts.hours(match["span"])
    assert hours is not None
    return scan.add("max_price_age", plain(hours / 24)) if hours >= 24 else False


def _speed(scan: Scan, match: Match) -> bool:
    """The speed of a user's own network, on each of the accelerators where it says so."""
    amount = amounts.number(match["amount"])
    assert amount is not None
    each = EACH_ONE if match["each"] else ""
    return scan.add(f"{ABOUT}images_per_second", plain(amount * (1000 if match["thousands"] else 1)) + each)


_SPAN = rf"(?P<span>{SPAN})"
_HOURS = _limit(lambda match: amounts.hours(match["span"]))
_I_HAVE = r"(?:i|we)(?:\s+only)?(?:\s+have|'ve|\s+got)(?:\s+got|\s+only|\s+just)*"
_WITHIN = rf"(?:(?:{MOST}|in|for|takes?|deadline(?:\s+of)?|{_I_HAVE})\s*)"
_NOT_SO = (
    r"(?:(?:is|are|would\s+be)(?:n't|\s+not|\s+never)|not|never)\s+(?:an\s+option|allowed|permitted|possible|ok(?:ay)?|acceptable|available)|"
    r"(?:is|are)\s+(?:out(?:\s+of\s+the\s+question)?|off\s+the\s+table|forbidden|banned|excluded|prohibited|ruled\s+out|no\s+option)"
)
TIMES_AND_COUNTS = (
    (rf"(?:{_NOT_SO}){END}", lambda scan, _: scan.exclude_clause()),
    (rf"(?:no|not)\s+older\s+than\s*{_SPAN}{END}", _age),
    (rf"(?:{MOST}\s*)?{_SPAN}\s+old{END}", _age),
    (rf"(?:from|of|in)\s+(?:the\s+)?(?:last|past)\s+{_SPAN}{END}", _age),
    (rf"{_WITHIN}?(?P<span>(?:an?|\d{{1,3}}|{COUNT_WORDS})\s+(?:hour|day|week)s?)\s+and\s+a\s+half{END}", _limit(_and_a_half)),
    (rf"{_WITHIN}?(?P<hours>\d{{1,3}})\s?h(?:ours?\s*(?:and\s+)?)?\s*(?P<minutes>[0-5]?\d(?=\s*m)|(?<=h)[0-5]\d)\s*(?:m|min|minutes?)?{END}",
     _limit(lambda match: int(match["hours"]) + Decimal(match["minutes"]) / 60)),
    (rf"(?P<amount>{NUMBER})\s*(?P<thousands>k)?\s*(?:im|ims|images?|imgs?|samples?)\s*(?:/|per|a)\s*s(?:ec(?:ond)?)?"
     rf"(?P<each>\s+(?:per|on\s+each|for\s+each|each)(?=\s))?{END}", _speed),
    (rf"per\s+{PIECE}{END}|(?:(?:/|per|each|for|every)\s*)?{NUMBER}\s*(?:k|m|million|thousand|billion|bn)?\s*(?:images?|imgs?|samples?|pictures?|photos?|"
     rf"requests?|quer(?:y|ies)|inferences?|predictions?|tokens?){END}", asks(PIECES)),
    (rf"(?:my|our)\s+(?:[a-z]+\s+)?(?P<box>pc|rig|workstation|desktop|computer|tower|laptop)\s+(?:with|has|having|of){END}"
     r"|(?:(?:that|which)\s+)?(?:i|we)(?:\s+already)?(?:'ve|\s+have|\s+own)(?:\s+(?:got|already))?(?=\s*(?:$|[,;])|\s+(?:at|in|here|lying|"
     r"sitting|idle|left|what|which|how|around|already|anyway|on\s+hand)\b)", _owned),
    (rf"[1-3]-?d(?=\s+(?:u-?net|cnn|conv\w*|images?|data|scans?|slices|segmentation|(?:medical|mri|ct|x-?ray)\b)){END}",
     asks("the dimensions of images are those of each task's data set", stops=False)),
    (rf"(?:±|\+/?-)\s*{NUMBER}\s*%?{END}", asks("the target is one number; each figure has its own range")),
    (rf"(?:gpus?|cards?|accelerators?)\s+(?:with|of|having)\s+(?:{LEAST}\s*)?(?P<gib>\d{{1,3}})\s?gi?b"
     rf"(?:\s+(?:of\s+)?(?:v?ram|memory))?{END}",
     lambda scan, match: scan.add("memory", match["gib"])),
    (rf"(?:with\s+)?(?:{LEAST}\s*(?P<gib>\d{{1,3}})\s?gi?b|(?P<each>\d{{1,3}})\s?gi?b(?=\s+(?:of\s+)?(?:gpu|card|accelerator|vram\b|memory)))"
     rf"(?:\s+(?:of\s+)?(?:gpu\s+)?(?:vram|memory))?{END}",
     lambda scan, match: scan.add("memory", match["gib"] or match["each"])),
    (rf"{LEAST}\s*{_SPAN}{END}", asks("only an upper limit of the time is understood, as in within 8 hours")),
    (rf"(?:{N}|an?)\s*(?=(?:gpu|tpu|chip|card|[a-z]{{1,5}}\d+[a-z]*)s?[\s-]*hours?{END})", asks(CHIP_HOURS, stops=True)),
    (rf"{_SPAN}\s*(?:/|a|per|each|every)\s*(?:{PERIOD}|night|evening|morning|weekend|workday){END}",
     asks("hours per day are not understood; write within 3 days")),
    (rf"(?:(?:over|for|in|within|during|across)\s+)?{N}[\s-]*years?{END}", _life),
    (rf"{_WITHIN}(?:the\s+)?{_SPAN}{END}", _HOURS),
    (rf"(?:{MOST}|(?:in|over|during)(?:\s+the\s+next)?|expires?\s+in|have)\s*(?P<n>an?|\d{{1,3}}|{COUNT_WORDS})[\s-]*(?P<unit>month|year)s?{END}",
     _limit(lambda match: counted(match["n"]) * LIMIT_HOURS[match["unit"].lower()])),
    (rf"(?!an?\s){_SPAN}{END}", _HOURS),
    (rf"hours?\s*{MOST}\s*(?P<hours>{NUMBER}){END}", _limit(lambda match: amounts.number(match["hours"]))),
    (rf"{N}[\s-]*(?:{OF_GPUS}|{OF_NODES})\s+(?:or\s+(?:fewer|less)|max(?:imum)?|tops|at\s+(?:the\s+)?most){END}",
     _at_most),
    (rf"(?:{NO_RIVAL}{MOST}|(?P<between>between\s+)?(?P<least>\d+|{COUNT_WORDS})\s*(?:-|to|or|(?(between)and|(?!)))(?!\S*[x×*]))"
     rf"\s*(?={N}[\s-]*[x×*]?\s*(?P<any>{OF_GPUS}|{OF_NODES})?)", _limited),
    (rf"{LEAST}\s*(?={N}[\s-]*[x×*]?\s*(?P<any>{OF_GPUS}|{OF_NODES})?)", _least),
    (rf"{N}\s+of\s+(?:them|these|those){END}", _of_them),
    (rf"(?:for\s+)?(?P<n>\d{{1,4}}|(?:an?|{COUNT_WORDS})(?=[\s-]))[\s-]*(?P<unit>y|yrs?|years?|mos?|months?){END}", _term),
    (rf"{N}[\s-]*[x×*]?\s*{OF_GPUS}{END}", _accelerators),
    (rf"{N}[\s-]*{OF_NODES}\s*(?:of|with|having|each\s+with|x|×|\*)\s*(?:the\s+)?(?={EACH})", _nodes),
    (rf"{N}\s*[x×*]\s*(?={EACH})", _nodes),
    (rf"(?P<n>[2-9]|{COUNT_WORDS})\s+(?=\d{{1,2}}\s?[x×*]\s?[a-z])", _nodes),  # `two 8xA100`
    (rf"{N}[\s-]*{OF_NODES}{END}", _counts("nodes")),
    (rf"{N}(?=\s+[a-z][\w.-]*(?:\s+(?:to\s+|at\s+)?{NUMBER}\s?%?)?\s+(?:runs|trainings){END})", _counts("runs")),
    (rf"(?:{MOST}\s*{NUMBER}[\s-]*epochs?|{NUMBER}[\s-]*epochs?\s+(?:max(?:imum)?|tops|at\s+most)){END}",
     asks("epochs cannot be limited; recipe= chooses a schedule")),
    (rf"(?:{MOST}|{LEAST})?\s*{NUMBER}\s*(?:k|million|billion|thousand)?[\s-]*{OTHER_UNITS}(?:\s+(?:of\s+)?(?:ram|vram|memory|storage|disk|size))?{END}",
     asks("this cannot be asked for here")),
    (rf"{NO_RIVAL}{MOST}\s*({NUMBER}){END}",
     lambda scan, match: scan.ask(match[0], f"dollars or hours? Write under ${match[1]} or within {match[1]}h")),
)  # fmt: skip
