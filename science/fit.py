"""Writes what is learned from the tables, and the compact copy of the evidence: `make fit`, after any change of the tables.

`python -m science.fit hub` works out the networks of model hubs alone, from what was learned before.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:  # numpy reads the number of its threads when it is imported
    from costcalc.evidence import Evidence
    from costcalc.throughput.fitted_parameters import FittedParameters
    from science.validation.published import Published


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
    from costcalc.evidence.parsing import COMPACT, compact_copy, hub_networks
    from costcalc.throughput.fitted_parameters import to_json
    from science.fitting.hub import with_hub
    from science.fitting.partway import table as partway
    from science.validation.published import load_published

    folder = Path(costcalc.evidence.__file__).parent / "data"
    published = load_published()
    learned = published.evidence.fitted if "hub" in sys.argv[1:] else _learned(published, folder)
    learned = with_hub(learned, hub_networks(), published.evidence.models)
    (folder / "fitted.json").write_text(to_json(learned) + "\n", "utf-8")
    (folder / "tasks" / "partway.csv").write_text(partway(), "utf-8")
    (folder / "tasks" / "fitted.json").write_text(_of_tasks(published.evidence), "utf-8")
    (folder / COMPACT).write_bytes(compact_copy())
    print(f"{folder / 'fitted.json'}: {len(learned.reference.effects)} + {len(learned.transfer.effects)} effects")


def _learned(published: Published, folder: Path) -> FittedParameters:
    from science.fitting.schedules import between, to_csv
    from science.validation.protocol import experiments, fitted_parameters

    schedules = between(published.evidence.recipes)
    (folder / "schedules.csv").write_text(to_csv(schedules), "utf-8")
    print(f"{folder / 'schedules.csv'}: {len(schedules)} schedules")
    return fitted_parameters(published, experiments(published))


if __name__ == "__main__":
    main()
