"""Rules for lengths of time, and for numbers of accelerators, machines and runs."""

from __future__ import annotations

from decimal import Decimal

from api.questions import amounts
from api.questions.amounts import NUMBER, SPAN, plain
from api.questions.spellings import term
from api.questions.words.patterns import COUNT_WORDS, END, LEAST, MOST, PERIOD, Found, N, asks, counted
from api.questions.words.scan import Scan, Understand

OF_GPUS = r"(?P<kind>gpus?|tpus?(?:\s+chips?)?|(?:tpu\s+)?chips?|cards?|accelerators?)"
OF_NODES = r"(?:nodes?|machines?|instances?|servers?|boxes|hosts?|vms?)"
EACH = rf"(?:\d{{1,2}}(?!\d)|{COUNT_WORDS})\s*[x×*]?\s*(?!gi?b)[a-z]"
LIMIT_HOURS = {"month": Decimal(730), "year": Decimal(8760)}
SIZE_ALONE = "the size alone says too little; write model=any with parameters= in millions, gmacs= and epochs="
ABOUT = "about "
"""Before the name of a parameter that a sentence tells of its network, until it is clear whether the network is a known one."""
OTHER_UNITS = (
    r"(?:gi?b|tb|mb|images?|samples?|v?cpus?|cores?|kwh|watts?|w|px|pixels?|tflops|flops|gflops|steps?|iterations?|params|"
    r"parameters|classes|images?/s|img/s)"
)


def _hours(scan: Scan, found: Found) -> bool:
    hours = amounts.hours(found["span"])
    assert hours is not None
    return scan.add("max_hours", plain(hours))


def _bare_hours(scan: Scan, found: Found) -> bool:
    hours = amounts.number(found["hours"])
    assert hours is not None
    return scan.add("max_hours", plain(hours))


def _and_a_half(scan: Scan, found: Found) -> bool:
    parts = (amounts.hours(found["span"]), amounts.hours(f"half a {found['span'].split()[-1]}"))
    return scan.add("max_hours", plain(sum(filter(None, parts), Decimal(0))))


def _hours_and_minutes(scan: Scan, found: Found) -> bool:
    return scan.add("max_hours", plain(int(found["hours"]) + Decimal(found["minutes"]) / 60))


def _long(scan: Scan, found: Found) -> bool:
    count = counted(found["n"])
    return scan.add("max_hours", plain(count * LIMIT_HOURS[found["unit"].lower()]))


def _term(scan: Scan, found: Found) -> bool:
    count = counted(found["n"])
    known = term(f"{count} {found['unit']}")
    return scan.add("term", known) if known else False


def _accelerators(scan: Scan, found: Found) -> bool:
    longer = scan.words.find(scan.text, found.start("kind"), ("accelerator",))
    if (longer and longer.end > found.end()) or scan.words.find(scan.text, found.end() + 1, ("accelerator",)):
        return False  # 8 TPU v3, 8 GPUs of a name that follows
    kind = found["kind"].lower()[:3]
    if scan.mine:
        return scan.ask(f"my {found[0]}", "which? Name them, as in own=2xRTX4090")
    if kind in ("gpu", "tpu"):
        scan.add("accelerator", kind.upper())
    return scan.add("accelerators", str(counted(found["n"])))


def _nodes(scan: Scan, found: Found) -> bool:
    """`4 nodes of 8 A100`, `4 x 8 A100`: the number of accelerators that follows is that of each."""
    scan.reading.each = True
    return scan.add("nodes", str(counted(found["n"])))


def _counts(name: str) -> Understand:
    return lambda scan, found: scan.add(name, str(counted(found["n"])))


def _age(scan: Scan, found: Found) -> bool:
    hours = amounts.hours(found["span"])
    assert hours is not None
    return scan.add("max_price_age", plain(hours / 24)) if hours >= 24 else False


def _size(name: str) -> Understand:
    """The size or the speed of a network of the asker's own."""
    return lambda scan, found: scan.add(f"{ABOUT}{name}", found["amount"].replace(",", "."))


def _memory(scan: Scan, found: Found) -> bool:
    return scan.add("memory", found["gib"] or found["each"])


def _no_unit(scan: Scan, found: Found) -> bool:
    return scan.ask(found[0], f"dollars or hours? Write under ${found[1]} or within {found[1]}h")


_SPAN = rf"(?P<span>{SPAN})"
_I_HAVE = r"(?:i|we)(?:\s+only)?(?:\s+have|'ve|\s+got)(?:\s+got|\s+only|\s+just)*"
_WITHIN = rf"(?:(?:{MOST}|in|for|takes?|deadline(?:\s+of)?|{_I_HAVE})\s*)"
TIMES_AND_COUNTS = (
    (rf"(?:no|not)\s+older\s+than\s*{_SPAN}{END}", _age),
    (rf"(?:{MOST}\s*)?{_SPAN}\s+old{END}", _age),
    (rf"(?:from|of|in)\s+(?:the\s+)?(?:last|past)\s+{_SPAN}{END}", _age),
    (rf"{_WITHIN}?(?P<span>(?:an?|\d{{1,3}}|{COUNT_WORDS})\s+(?:hour|day|week)s?)\s+and\s+a\s+half{END}", _and_a_half),
    (rf"{_WITHIN}?(?P<hours>\d{{1,3}})\s?h(?:ours?\s*(?:and\s+)?)?\s*(?P<minutes>[0-5]?\d)\s*(?:m|min|minutes?)?{END}",
     _hours_and_minutes),
    (rf"(?P<amount>{NUMBER})\s*(?:m|million)?[\s-]*param(?:eter)?s?{END}", _size("parameters")),
    (rf"(?P<amount>{NUMBER})\s*g?macs?{END}", _size("gmacs")),
    (rf"(?P<amount>{NUMBER})\s*(?:images?|imgs?|samples?)\s*(?:/|per|a)\s*s(?:ec(?:ond)?)?{END}",
     _size("images_per_second")),
    (rf"{NUMBER}\s*g?flops?{END}", asks("write gmacs=: the same number where a product and its sum count as one, else half")),
    (rf"(?:with\s+)?(?:{LEAST}\s*(?P<gib>\d{{1,3}})\s?gi?b|(?P<each>\d{{1,3}})\s?gi?b(?=\s+(?:of\s+)?(?:gpu|card|accelerator|v?ram\b|memory)))"
     rf"(?:\s+(?:of\s+)?(?:gpu\s+)?(?:v?ram|memory))?{END}", _memory),
    (rf"{NUMBER}\s*[kmb]?[\s-]*(?:param(?:eter)?s?|tokens?){END}",
     asks(SIZE_ALONE)),
    (rf"{LEAST}\s*{_SPAN}{END}", asks("only an upper limit of the time is understood, as in within 8 hours")),
    (rf"{_SPAN}\s*(?:/|a|per)\s*{PERIOD}{END}", asks("hours per day are not understood; write within 3 days")),
    (rf"{_WITHIN}(?:the\s+)?{_SPAN}{END}", _hours),
    (rf"{MOST}\s*(?P<n>an?|\d{{1,3}}|{COUNT_WORDS})[\s-]*(?P<unit>month|year)s?{END}", _long),
    (rf"(?!an?\s){_SPAN}{END}", _hours),
    (rf"hours?\s*{MOST}\s*(?P<hours>{NUMBER}){END}", _bare_hours),
    (rf"(?:\d+|{COUNT_WORDS})\s*(?:-|to|or)\s*{N}[\s-]*(?:{OF_GPUS}|{OF_NODES}){END}",
     asks("only an exact number is understood, as in 8 GPUs")),
    (rf"(?:for\s+)?(?P<n>\d{{1,4}}|(?:an?|{COUNT_WORDS})(?=[\s-]))[\s-]*(?P<unit>y|yrs?|years?|mos?|months?){END}", _term),
    (rf"(?:{MOST}|{LEAST})\s*{N}[\s-]*(?:{OF_GPUS}|{OF_NODES}){END}",
     asks("only an exact number is understood, as in 8 GPUs")),
    (rf"{N}[\s-]*[x×*]?\s*{OF_GPUS}{END}", _accelerators),
    (rf"{N}[\s-]*{OF_NODES}\s*(?:of|with|having|each\s+with|x|×|\*)\s*(?:the\s+)?(?={EACH})", _nodes),
    (rf"{N}\s*[x×*]\s*(?={EACH})", _nodes),
    (rf"{N}[\s-]*{OF_NODES}{END}", _counts("nodes")),
    (rf"{N}\s*(?:runs?|times|trainings|experiments|repetitions|seeds){END}", _counts("runs")),
    (rf"{N}(?=\s+[a-z][\w.-]*\s+(?:runs|trainings){END})", _counts("runs")),  # of a network: `40 resnet50 runs`
    (rf"(?:for\s+)?{N}[\s-]*epochs?{END}", _counts("epochs")),
    (rf"{MOST}\s*{NUMBER}[\s-]*epochs?{END}", asks("a limit on the epochs is not asked for; recipe= chooses a schedule")),
    (rf"batch[\s-]*(?:sizes?)?\s*(?:of|=|:)?\s*\d+{END}", asks("each recipe has its own batch size; recipe= chooses one")),
    (rf"(?:{MOST}|{LEAST})?\s*{NUMBER}[\s-]*{OTHER_UNITS}(?:\s+(?:of\s+)?(?:ram|vram|memory|storage|disk|size))?{END}",
     asks("this cannot be asked for here")),
    (rf"{MOST}\s*({NUMBER}){END}", _no_unit),
)  # fmt: skip
