"""What can be wrong with a store. Nothing is imported here, so that every edge can name these errors."""

from __future__ import annotations

from pathlib import Path


class StoreError(Exception):
    """The store cannot do what was asked; the message says what to do."""


class StoreUnavailable(StoreError):
    """The store cannot be reached or read. The message names its address, never a password."""


class StoreDamaged(StoreUnavailable):
    """An SQLite file that is not whole; the message names it, what is wrong and the two ways out."""

    def __init__(self, path: Path | str, fault: object) -> None:
        super().__init__(
            f"the price store {path} is damaged ({fault}): `costcalc prices restore FILE` puts a backup in its place, and "
            "`costcalc prices rebuild` sets it aside and starts a new one"
        )


class StoreGone(StoreUnavailable):
    """A store that stood here before and does not any more. `remedy` says what to do, and names no place."""

    def __init__(self, address: str, way_out: str) -> None:
        self.remedy = f"it is gone, and with it the refreshed prices and people's own runs: {way_out}"
        super().__init__(f"the price store {address}: {self.remedy}")


class StoreBusy(StoreError):
    """Another process is publishing and did not finish in time."""
