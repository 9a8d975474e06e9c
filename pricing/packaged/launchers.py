"""Which machines a launcher rents, and what it calls them.

A row without an accelerator stands for all machines that its provider has names for; the others are rented by accelerator.
SkyPilot's names are those of its release 0.14 (sky/provision/runpod/utils.py; of RunPod it rents secure machines alone), dstack's
backends those of its release 0.22 (https://dstack.ai/docs/concepts/backends); both read in November 2026.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from pricing.packaged.tables import Table

LAUNCHERS = Table("launchers.csv", "launcher provider accelerator", "cloud name")
SECURE = " secure"


@dataclass(frozen=True, slots=True)
class LaunchName:
    """What a launcher calls a cloud, and one accelerator there; None where it takes the provider's own machine types."""

    cloud: str
    accelerator: str | None


def launch_name(launcher: str, provider: str, instance_type: str, accelerator: str) -> LaunchName | None:
    """How the launcher asks for this machine; None where it does not rent it."""
    names = _names()
    if " " not in instance_type:
        return names.get((launcher, provider, ""))
    return names.get((launcher, provider, accelerator)) if instance_type.endswith(SECURE) else None


def launchable_providers(launcher: str) -> tuple[str, ...]:
    """The providers that the launcher rents from, by name."""
    return tuple(sorted({provider for name, provider, _ in _names() if name == launcher}))


@cache
def _names() -> dict[tuple[str, str, str], LaunchName]:
    rows = LAUNCHERS.read(lambda row: LaunchName(row.text("cloud"), row.maybe("name")))
    return {(launcher, provider, accelerator): name for (launcher, provider, accelerator), name in rows.items()}
