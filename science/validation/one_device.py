"""The answers that are shown, beside what was measured on one H100: `science.validation.one_device`.

The rates stand in `device_speeds.csv`: nothing is fitted to them. Each network was timed in many ways, for a range must hold
whatever way somebody runs it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from importlib import resources
from statistics import median

from costcalc.evidence import load_evidence
from costcalc.evidence.tables import cells, typed
from costcalc.training import Throughput
from science.validation.chosen_answers import Chosen, answered

TABLE = "device_speeds.csv"


def on_one_device() -> list[Chosen]:
    """What is answered for each of these rates."""
    text = (resources.files("science") / "data" / TABLE).read_text("utf-8")
    rows = [{**line, "name": line["throughput"]} for line in cells(TABLE, text)]
    return list(answered(load_evidence(), typed(TABLE, rows, Throughput)))


def is_inside(one: Chosen) -> bool:
    """Whether the measured rate lies in the answer's 80 % range."""
    return bool(one.case.half_widths) and abs(one.case.error) <= one.case.half_widths[0]


def main() -> None:
    """Prints a line for each network, and how many rates lie inside."""
    found = on_one_device()
    by_model: dict[str, list[Chosen]] = defaultdict(list)
    for one in found:
        by_model[one.row.model].append(one)
    for model, chosen in sorted(by_model.items()):
        print(f"{model}: {_said(chosen)}")
    print(f"all: {_said(found)}")


def _said(chosen: Sequence[Chosen]) -> str:
    errors = [one.case.error for one in chosen]
    inside = sum(map(is_inside, chosen))
    return f"{inside} of {len(chosen)} inside, ln(predicted / measured time) {median(errors):+.2f} in the median"


if __name__ == "__main__":
    main()
