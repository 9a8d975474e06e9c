"""What packaged tables know where a provider leaves it unsaid: machines, the memory of accelerators, how use is metered."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from costcalc.hardware import Machine
from costcalc.offers import Offer
from pricing.packaged.offers import packaged_folder


def filled(machine: Machine, packaged: Machine | None = None) -> Machine:
    """The machine with what the provider leaves unsaid: from the packaged machine if that has the same accelerators.

    An accelerator's memory is that of its data sheet where nothing else says it.
    """
    if packaged is None or (packaged.accelerator, packaged.accelerators) != (machine.accelerator, machine.accelerators):
        return replace(
            machine, accelerator_memory_gib=machine.accelerator_memory_gib or _memories().get(machine.accelerator)
        )
    return replace(
        machine,
        accelerator_memory_gib=machine.accelerator_memory_gib or packaged.accelerator_memory_gib,
        vcpus=machine.vcpus or packaged.vcpus,
        memory_gib=machine.memory_gib or packaged.memory_gib,
    )


@dataclass(frozen=True, slots=True)
class Billing:
    """How a provider meters: the increment, and the least that is billed."""

    increment_seconds: int = 3600
    minimum_seconds: int = 0

    def of(self, offer: Offer) -> Offer:
        """The offer, metered so."""
        return replace(offer, billing_increment_seconds=self.increment_seconds, minimum_seconds=self.minimum_seconds)


def billing(provider: str) -> Billing:
    """How a provider meters, as packaged; whole hours where that isn't known."""
    return _billings().get(provider, Billing(3600, 3600))


@cache
def _billings() -> Mapping[str, Billing]:
    text = (packaged_folder() / "providers.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return {
        row["provider"]: Billing(int(row["billing_increment_seconds"]), int(row["minimum_seconds"])) for row in rows
    }


@cache
def _memories() -> Mapping[str, float]:
    """GiB of each accelerator, by its data sheet."""
    return {row["accelerator"]: float(row["memory_gib"]) for row in _accelerators() if row["memory_gib"]}


@cache
def _accelerators() -> tuple[Mapping[str, str], ...]:
    text = (files("costcalc") / "evidence" / "data" / "accelerators.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))


def data_sheet_memory_gib(accelerator: str) -> float | None:
    """GiB of one accelerator, None where that isn't known."""
    return _memories().get(accelerator)


def known_accelerators() -> tuple[str, ...]:
    """The canonical names of all accelerators."""
    return tuple(row["accelerator"] for row in _accelerators())
