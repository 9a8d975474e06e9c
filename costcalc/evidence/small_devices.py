"""The packaged devices on which small networks train, each with its source."""

from __future__ import annotations

from importlib import resources

from costcalc.evidence.tables import cells, typed
from costcalc.small_networks import SmallDevice

TABLE = "small_devices.csv"


def small_devices() -> tuple[SmallDevice, ...]:
    """All small devices. Raises TableError."""
    text = (resources.files("costcalc.evidence") / "data" / TABLE).read_text("utf-8")
    return tuple(typed(TABLE, [{**line, "name": line["device"]} for line in cells(TABLE, text)], SmallDevice))
