"""Writes the compact copy of the packaged prices, from which a command starts faster: run it after a change of the tables."""

from pathlib import Path

from pricing.packaged.catalogue import write_compact

if __name__ == "__main__":
    write_compact(Path("pricing/packaged/data"))
