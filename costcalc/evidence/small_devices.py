"""The packaged devices on which small networks train, each with its source."""

from __future__ import annotations

from costcalc.evidence.tables import cells, text_of, typed
from costcalc.small_networks import SmallDevice

TABLE = "small_devices.csv"


def small_devices() -> tuple[SmallDevice, ...]:
    """All small devices. Raises TableError."""
    lines = [{**line, "name": line["device"]} for line in cells(TABLE, text_of(TABLE))]
    return tuple(typed(TABLE, lines, SmallDevice))
