"""Writes costcalc/evidence/data/fitted.json anew from the packaged tables: `make fit`, after any change of them."""

from __future__ import annotations

from pathlib import Path

import costcalc.evidence
from costcalc.throughput.fitted import to_json
from costcalc.validation.protocol import fitted
from costcalc.validation.published import fingerprint, load_published


def main() -> None:
    """Fits, calibrates and writes."""
    folder = Path(costcalc.evidence.__file__).parent / "data"
    learned = fitted(load_published(), fingerprint())
    (folder / "fitted.json").write_text(to_json(learned) + "\n", "utf-8")
    print(f"{folder / 'fitted.json'}: {len(learned.core.effects)} + {len(learned.relative.effects)} effects")


if __name__ == "__main__":
    main()
