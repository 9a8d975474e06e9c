"""What a whole sentence says of machines: which are compared, which are the user's own, and where they are."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from api.questions.names import MEMORY_TOLERANCE
from api.questions.spellings import ALONE, MAKERS
from api.questions.suggestions import Guesses
from api.questions.words.messages import TOOK
from api.questions.words.reading import Reading
from api.questions.words.scan import MACHINE
from api.questions.words.vocabulary import Vocabulary
from pricing.packaged.places import places

SPEED, FAMILIES = "images_per_second", (*MAKERS, "CPU")
ON = ("accelerator", "accelerators", "nodes")
NO_HOURS = frozenset({"model", "target", "dataset", "recipe", "epochs", "method", "tokens", "examples", "own"})
MOST_PLACES = 3  # that are compared
COMPARES = frozenset(["vs", "versus", "or", "against", "than"])
RENTED = frozenset(["cloud", "rent", "rents", "renting", "rented", "rental", "lease"])


def sides(reading: Reading, _: Vocabulary) -> None:
    """Machines that differ in number are compared as they are written: `v4-32 against 8 A100`; so are a machine type and an
    accelerator where the sentence compares."""
    machines = [side for side in reading.machines if not any(_says_more(other, side) for other in reading.machines)]
    is_one_machine = reading.each and not all("nodes" in side for side in machines)
    if reading.owned or is_one_machine or "own" in reading.values:
        return
    numbers = {tuple(side.get("accelerators", side.get("nodes", ()))) for side in machines}
    kinds = {kind for side in machines for kind in MACHINE if kind in side}
    if (len(kinds) > 1 and compared(reading)) or (len(kinds) == 1 and len(numbers) > 1):
        reading.sides = tuple(machines)
        reading.drop("instance_type", *ON)


def compared(reading: Reading) -> frozenset[str]:
    """The words of the sentence that compare."""
    return COMPARES & {word.casefold() for word in reading.ignored}


def _says_more(side: Mapping[str, list[str]], other: Mapping[str, list[str]]) -> bool:
    """Whether one has all values of the other plus a number."""
    return len(side) > len(other) and {**side, **other} == side


def regions(reading: Reading, _: Vocabulary) -> None:
    """A place where the providers asked about have one region each is those regions; a place within another says it alone."""
    providers, named = reading.values.get("provider", []), reading.values.pop("place", [])
    if 1 < len(named) <= MOST_PLACES and not reading.sides and compared(reading) - {"or"}:
        reading.sides = tuple({"region": [place]} for place in named)
        return
    inside = {place: {*places().codes(place)} for place in named}
    for place in [name for name in named if not any(inside[other] < inside[name] for other in named if inside[other])]:
        there = [region for region in places().of(places().codes(place), providers) if region.kind == "region"]
        by_provider = {region.provider: region.code for region in there}
        exact = providers and len(there) == len(by_provider) == len(providers)
        for text in by_provider.values() if exact else [place]:
            reading.put("region", text)


def memory(reading: Reading, words: Vocabulary) -> None:
    """An amount of memory means the accelerators that have it, of those named or of all; a user's own has what it has."""
    sizes, names = reading.values.pop("memory", []), words.names
    if not sizes or "own" in reading.values or reading.owned:
        return
    least, guesses = max(map(int, sizes)), Guesses()
    wanted = reading.values.get("accelerator", ["GPU"])
    allowed = {name for text in wanted for name in names.resolve("accelerator", text, guesses)}
    sheets = ((name, names.sheets.get(name)) for name in names.accelerator if name in allowed)
    has_it = least * (1 - MEMORY_TOLERANCE)
    enough = [ALONE.get(name, name) for name, sheet in sheets if sheet and (sheet.memory_gib or 0) >= has_it]
    if enough:
        reading.values["accelerator"] = enough
    else:
        reading.ask(f"{least} GB", "none of these accelerators has that much memory")


def counts(reading: Reading, _: Vocabulary) -> None:
    """A number of accelerators in one machine holds for each of several."""
    numbers = [int(reading.values[name][0]) for name in ("accelerators", "nodes") if reading.values.get(name)]
    if reading.each and len(numbers) > 1:
        reading.values["accelerators"] = [str(prod(numbers))]


def owned(reading: Reading, _: Vocabulary) -> None:
    """Accelerators that somebody has, or would buy, are those of a user's own machine."""
    values = reading.values
    if not reading.owned or "own" in values or "purchase" in values:
        return
    named = [name for name in values.get("accelerator", ["machine"]) if name not in FAMILIES]
    if named != ["machine"] and len(named) == 1 and ("accelerators" in values or "nodes" not in values):
        values["own"] = [f"{values.get('accelerators', ['1'])[0]}x {named[0]}"]
        if not RENTED & {word.casefold() for word in reading.ignored}:  # else the same are to be rented, for comparison
            reading.drop(*ON)
    else:
        reading.ask(
            f"my {' '.join(values.get('accelerator', named))}",
            "which? Name it, as in own=1xRTX4090",
            bool(named[1:]) or None,
        )


def hours(reading: Reading, _: Vocabulary) -> None:
    """Hours that an unnamed training took on the first machine that is named: what they cost, and what it takes on the others."""
    named = {name for name, values in reading.values.items() if values}
    if "took" not in named or not reading.machines or named & NO_HOURS or reading.sides[2:]:
        return
    home, *others = reading.machines
    if len(home.get("accelerator", ())) == 1:
        reading.drop(*ON)
        reading.values["on"] = [f"{home.get('accelerators', ['1'])[0]}x {home['accelerator'][0]}"]
        reading.values.update({name: list(texts) for name, texts in others[0].items()} if others else {})
        reading.sides = ()
        reading.asked = [asked for asked in reading.asked if not asked.message.startswith(TOOK.partition(";")[0])]


def one_version(reading: Reading, words: Vocabulary) -> None:
    """An accelerator that somebody has or used, and that comes in several versions, none with its bare name, is taken for the
    largest."""
    for name in ("own", "on"):
        for at, text in enumerate(reading.values.get(name, ())):
            count, _, chip = text.partition("x ")
            versions = words.names.versions(chip)
            if len(versions) > 1 and chip not in versions:
                largest = [version for version in versions if not version.endswith("-PCIe")][-1]
                reading.values[name][at] = f"{count}x {largest}"
                reading.corrected.append((chip, largest))


def speed(reading: Reading, _: Vocabulary) -> None:
    """A speed is that of the one machine beside it, which is the user's own or is named."""
    values, texts = reading.values, [text for text in reading.values.get(SPEED, ()) if "@" not in text]
    if not texts:
        return
    count = values.get("accelerators", ["1"])[0]
    machines = values.get("own") or [f"{count}x {name}" for name in values.get("accelerator", ())]
    if len(texts) == len(machines) == 1:
        values[SPEED] = [f"{texts[0]}@{machines[0].replace('x ', 'x', 1)}"]
    else:
        reading.drop(SPEED)
        reading.ask(f"{texts[0]} images/s", "of which machine? Write images_per_second=250@1xT4", stops=True)
