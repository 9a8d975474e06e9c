"""Writes what is learned from the tables, and the compact copy of the evidence: `make fit`, after any change of the tables."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from costcalc.evidence import Evidence


def _of_tasks(beside: Evidence) -> str:
    """What is learned over all tasks, with ranges as wide as results of organisations that were left out need them."""
    from science.fitting.tasks import fitted_tasks
    from science.validation.tasks import left_out, widened

    learned = fitted_tasks(beside)
    return (
        f"{msgspec.json.format(msgspec.json.encode(widened(learned, left_out(beside, learned))), indent=1).decode()}\n"
    )


def main() -> None:
    """Fits, calibrates and writes."""
    os.environ.setdefault(
        "OPENBLAS_NUM_THREADS", "1"
    )  # hundreds of small linear systems: threads only wait for one another
    import costcalc.evidence
    from costcalc.evidence.parsing import COMPACT, compact_copy
    from costcalc.throughput.fitted_parameters import to_json
    from science.fitting.schedules import between, to_csv
    from science.validation.protocol import experiments, fitted_parameters
    from science.validation.published import load_published

    folder = Path(costcalc.evidence.__file__).parent / "data"
    published = load_published()
    schedules = between(published.evidence.recipes)
    (folder / "schedules.csv").write_text(to_csv(schedules), "utf-8")
    learned = fitted_parameters(published, experiments(published))
    (folder / "fitted.json").write_text(to_json(learned) + "\n", "utf-8")
    (folder / "tasks" / "fitted.json").write_text(_of_tasks(published.evidence), "utf-8")
    (folder / COMPACT).write_bytes(compact_copy())
    print(f"{folder / 'fitted.json'}: {len(learned.reference.effects)} + {len(learned.transfer.effects)} effects")
    print(f"{folder / 'schedules.csv'}: {len(schedules)} schedules")


if __name__ == "__main__":
    main()
