"""How well the end of a run is predicted from a part of it, by each of the ways that were tried: `python -m tools.partial_runs`.

The table is in points of accuracy, each log left out of its family: FFCV's by run, MLPerf's by organisation.
"""

from __future__ import annotations

import numpy as np

from costcalc.validation import load_published
from costcalc.validation.convergence.partial_runs import SHARES, ffcv_logs, mlperf_logs, simple_ends


def main() -> None:
    """Prints the mean absolute error of each way, at each share of each family's schedules."""
    published = load_published()
    found = {
        f"{name}, {100 * share:.0f} %": simple_ends(logs, share)
        for name, logs in (("FFCV", ffcv_logs(published)), ("MLPerf", mlperf_logs(published)))
        for share in SHARES
    }
    ways = next(iter(found.values()))
    print("| seen | logs | " + " | ".join(ways) + " |")
    print("|---|---:|" + "---:|" * len(ways))
    for seen, errors in found.items():
        means = [f"{np.abs(each).mean():.2f}" for each in errors.values()]
        print(f"| {seen} | {len(next(iter(errors.values())))} | " + " | ".join(means) + " |")


if __name__ == "__main__":
    main()
