"""Readers of spans of machines: numbers of accelerators, machines and runs; whose they are."""

from __future__ import annotations

from api.questions.words.patterns import Match, counted
from api.questions.words.scan import Scan

NO_MACHINES = "limit the machines, as in at most 4 nodes, or the accelerators, as in at most 32 A100"


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


def limited(scan: Scan, _: Match) -> bool:
    """Words before a number of accelerators or machines that make it the most of them."""
    scan.at_most = True
    return True


def owned_before(scan: Scan, _: Match) -> bool:
    """`we have lying around`, behind them."""
    scan.reading.owned |= "accelerator" in scan.reading.values
    return "accelerator" in scan.reading.values


def rival(scan: Scan, match: Match) -> bool:
    """`cheaper than aws`, where no provider stands before it."""
    return scan.words.is_provider(match["provider"]) and not scan.reading.values.get("provider")
