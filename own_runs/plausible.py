"""Whether the speed of a run can be: a log that counts other things than one thinks is wrong by some hundred times."""

from __future__ import annotations

from costcalc.evidence import Evidence
from own_runs.runs import Run

BEYOND = 5.0
"""How many times slower or faster than anybody measured a run may be."""


def implausible(run: Run, evidence: Evidence) -> str | None:
    """What to ask where a known network ran far slower or faster than on any accelerator measured; None where it may be."""
    if run.model not in evidence.models or run.accelerator not in evidence.accelerators:
        return None
    rates = [
        row.images_per_second / row.accelerators
        for row in evidence.throughputs
        if row.model == run.model and row.accelerators
    ]
    own = run.samples_per_second / run.accelerators
    if not rates or min(rates) / BEYOND <= own <= max(rates) * BEYOND:
        return None
    return (
        f"missing: that is {own:,.0f} samples/s on each accelerator, and {run.model} was measured at {min(rates):,.0f} to "
        f"{max(rates):,.0f}; does the log count epochs or batches, are batch_size and samples_per_epoch right?"
    )
