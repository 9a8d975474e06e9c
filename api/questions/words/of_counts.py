"""Readers of spans of machines: numbers of accelerators, machines and runs; whose they are, and where."""

from __future__ import annotations

from api.questions.words.patterns import Match, compiled, counted
from api.questions.words.scan import MACHINE, Scan

NO_MACHINES = "limit the machines, as in at most 4 nodes, or the accelerators, as in at most 32 A100"
_NUMBER_OF = compiled(r"{n} ?[x×*]? ?...")


def accelerators(scan: Scan, match: Match) -> bool:
    """A number of accelerators of a kind: `8 GPUs`; declined for 8 TPU v3, and for 8 GPUs of a name that follows."""
    longer = scan.words.find(scan.text, match.start("kind"), ("accelerator",))
    if (longer and longer.end > match.end()) or scan.words.find(scan.text, match.end() + 1, ("accelerator",)):
        return False
    kind, many = match["kind"].upper()[:3], counted(match["n"])
    if scan.mine:
        return scan.ask(f"my {match[0]}", "which? Name them, as in own=2xRTX4090")
    if kind in ("GPU", "TPU"):
        scan.add("accelerator", kind)
        scan.reading.machines.append({"accelerator": [kind], "accelerators": [str(many)]})
    return scan.count("accelerators", many)


def nodes_of(scan: Scan, match: Match) -> bool:
    """`4 nodes of 8 A100`, `4 x 8 A100`: the number of accelerators that follows is that of each."""
    if scan.at_most:
        scan.at_most = False
        return scan.ask(match[0], NO_MACHINES, stops=True)
    scan.reading.each, scan.reading.owned = True, scan.reading.owned or scan.mine
    return scan.add("nodes", str(counted(match["n"])))


def life(scan: Scan, match: Match) -> bool:
    """A number of years said of a user's own machine is its life."""
    return (scan.reading.owned or "own" in scan.reading.values) and scan.count("own_years", counted(match["n"]))


def at_most(scan: Scan, match: Match) -> bool:
    """`4 GPUs or fewer`."""
    scan.at_most = True
    return accelerators(scan, match) if match["kind"] else scan.count("nodes", counted(match["n"]))


def limited(scan: Scan, match: Match) -> bool:
    """Words before a number of accelerators or machines that make it the most of them; declined before any other number."""
    if not of_a_name(scan, match):
        return False
    if match["least"]:
        scan.ask(match["least"], "of a range, only the upper limit counts", stops=False)
    scan.at_most = True
    return True


def of_a_name(scan: Scan, match: Match) -> bool:
    """Whether a number follows, and then the name of an accelerator or a machine."""
    count = _NUMBER_OF.match(scan.text, match.end())
    return bool(match["any"] or (count and scan.words.find(scan.text, count.end(), MACHINE)))


def of_them(scan: Scan, match: Match) -> bool:
    """`8 of them`: of the accelerators or machines named before."""
    named = [name for name in ("own", *MACHINE) if name in scan.reading.values]
    if not named or named[0] == "own":
        return False
    return scan.count("nodes" if named[0] == "instance_type" else "accelerators", counted(match["n"]))


def owned_before(scan: Scan, _: Match) -> bool:
    """`we have lying around`, behind them."""
    scan.reading.owned |= "accelerator" in scan.reading.values
    return "accelerator" in scan.reading.values


def slice_of_tpus(scan: Scan, match: Match) -> bool:
    """A slice of TPUs that no offer has, as so many chips: `v5e-16`. Of v2 to v5p the number counts cores, two a chip."""
    chip = scan.words.names.word("accelerator", f"TPU {match['chip']}")
    if chip is None or scan.words.find(scan.text, match.start(), ("instance_type",)):
        return False
    many = max(1, int(match["n"]) // (1 if chip[-1] == "e" else 2))
    scan.reading.machines.append({"accelerator": [chip], "accelerators": [str(many)]})
    return scan.add("accelerator", chip) and scan.count("accelerators", many)


def rival(scan: Scan, match: Match) -> bool:
    """Asking whether one provider is cheaper than another means both; asking what is cheaper means all."""
    if not scan.words.is_provider(match["provider"]):
        return False
    if scan.reading.values.get("provider"):
        scan.add("provider", match["provider"].casefold())
    else:
        scan.reading.corrected.append((match[0], "every provider"))
    return scan.add("sort", "time" if match["sort"].casefold() == "faster" else "cost")


def a_provider(scan: Scan, match: Match) -> bool:
    """The cloud that stores the data need not be the one that trains."""
    return scan.words.is_provider(match["provider"])


def sagemaker(scan: Scan, _: Match) -> bool:
    """The machines of SageMaker are those of AWS, at rates of its own."""
    scan.ask("SageMaker", "its own rates are higher than those of EC2, which are answered", stops=False)
    return scan.add("provider", "aws")
