"""Writes the compact copies of prices and evidence, from which a command starts faster: run it after a change of the tables."""

from pathlib import Path

from costcalc.evidence.parsing import COMPACT, compact_copy
from pricing.packaged.catalogue import write_compact

if __name__ == "__main__":
    write_compact(Path("pricing/packaged/data"))
    (Path("costcalc/evidence/data") / COMPACT).write_bytes(compact_copy())
