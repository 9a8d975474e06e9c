"""Writes costcalc/evidence/data/fitted.json anew from the packaged tables: `make fit`, after any change of them."""

from __future__ import annotations

import os
from pathlib import Path


def main() -> None:
    """Fits, calibrates and writes."""
    os.environ.setdefault(
        "OPENBLAS_NUM_THREADS", "1"
    )  # hundreds of small linear systems: threads only wait for one another
    import costcalc.evidence
    from costcalc.throughput.fitted_parameters import to_json
    from costcalc.validation.protocol import fitted
    from costcalc.validation.published import fingerprint, load_published

    folder = Path(costcalc.evidence.__file__).parent / "data"
    learned = fitted(load_published(), fingerprint())
    (folder / "fitted.json").write_text(to_json(learned) + "\n", "utf-8")
    print(f"{folder / 'fitted.json'}: {len(learned.reference.effects)} + {len(learned.transfer.effects)} effects")


if __name__ == "__main__":
    main()
