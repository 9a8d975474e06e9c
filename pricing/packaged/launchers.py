"""Which machines a launcher rents, and what it calls them.

A row without an accelerator stands for all machines that its provider has names for; the others are rented by accelerator, of
RunPod the secure machines alone. SkyPilot's names are those of its release 0.14 (sky/provision/runpod/utils.py) and of its
catalogue (skypilot-org/skypilot-catalog, v6 to v8), dstack's those of its release 0.22 (https://dstack.ai/docs/concepts/backends,
gpuhunt); all read in November 2026. `images` is "no" for clouds on
whose machines SkyPilot starts no images (sky/clouds of 0.14.1).
"""

from __future__ import annotations

from functools import cache
from typing import Literal

from msgspec import Struct

from costcalc.answers import Rented
from costcalc.offer import PurchaseOption
from pricing.packaged.tables import Table

LAUNCHERS = Table("launchers.csv", "launcher provider accelerator", "cloud name images")
COMMUNITY = " community"
Launcher = Literal["skypilot", "dstack"]
TITLES: dict[Launcher, str] = {"skypilot": "SkyPilot", "dstack": "dstack"}
BY_THE_HOUR = (PurchaseOption.ON_DEMAND, PurchaseOption.SPOT)
"""How launchers rent."""


class LaunchName(Struct, frozen=True):
    """What a launcher calls a cloud, and one accelerator there; None where it takes the provider's own machine types."""

    cloud: str
    accelerator: str | None
    starts_images: bool = True


def name_of(launcher: Launcher, machine: Rented) -> LaunchName | None:
    """The launcher's name for this machine; None if it does not rent it this way."""
    if machine.purchase_option not in BY_THE_HOUR or machine.instance_type.endswith(COMMUNITY):
        return None
    has_type = " " not in machine.instance_type
    return _names().get((launcher, machine.provider, "" if has_type else machine.accelerator))


def launchable_providers(launcher: str) -> tuple[str, ...]:
    """The providers that the launcher rents from, by name."""
    return tuple(sorted({provider for name, provider, _ in _names() if name == launcher}))


@cache
def _names() -> dict[tuple[str, str, str], LaunchName]:
    rows = LAUNCHERS.read(lambda row: LaunchName(row.text("cloud"), row.maybe("name"), row.is_blank("images")))
    return {(launcher, provider, accelerator): name for (launcher, provider, accelerator), name in rows.items()}
