"""Launch files: an estimate as SkyPilot and dstack read it, with what to expect in comments above."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import ROUND_CEILING, Decimal
from math import ceil
from typing import Any

import yaml

from api.formats.words import chance
from api.questions.links import to_url
from api.reports.launch import Launchable, LaunchReport
from costcalc.answers import Estimate
from costcalc.money import CENT
from costcalc.offers import PurchaseOption
from costcalc.programs import Program
from costcalc.text import line

Settings = dict[str, Any]
DEARER = Decimal("1.1")
"""How much dearer than the rate here a machine may have become."""
LONGER = 2
"""A run that takes so many times the upper end of its range hangs."""
WITH_REGIONS = ("aws", "azure", "gcp", "oci")
"""Clouds whose regions the launchers name as the providers do."""
VENDORS = {"NVIDIA": "nvidia", "Google": "google", "AMD": "amd", "Intel": "intel"}
"""What dstack calls them."""
NO_COMMAND = 'echo "Write your training command here, or ask again with run=."; exit 1'
START = {
    "skypilot": {True: "sky jobs launch {file}", False: "sky launch --down {file}"},
    "dstack": {True: "dstack apply -f {file}", False: "dstack apply -f {file}"},
}


def launch_file(report: LaunchReport) -> bytes:
    """The file. Raises NotFound where the launcher rents none of the machines."""
    machines = report.machines()
    settings = {"skypilot": _skypilot, "dstack": _dstack}[report.launcher](machines, report)
    return (
        comments(_expected(machines[0].estimate, report))
        + yaml.safe_dump(settings, sort_keys=False, allow_unicode=True, width=120)
    ).encode()


def file_name(report: LaunchReport) -> str:
    """What to save it as; dstack asks for this ending."""
    return f"{_name(report)}{'.dstack' if report.launcher == 'dstack' else ''}.yaml"


def comments(texts: Iterable[str]) -> str:
    """A comment of each text: one line, whoever wrote it, so that nothing of it is read as a setting."""
    return "".join(f"# {line(text)}\n" for text in texts)


def _expected(estimate: Estimate, report: LaunchReport) -> Iterator[str]:
    """What the file is for and what to expect of the run."""
    one = estimate
    yield f"{one.model} to {one.target:g} {one.metric} by the recipe {one.recipe}: {one.sources.convergence.source}"
    yield (
        f"Expected: {one.hours:.2f} h ({one.hours_low:.2f} to {one.hours_high:.2f} in 8 of 10 runs) and {one.billed_cost} "
        f"{one.currency} ({one.billed_cost_low} to {one.billed_cost_high}) on {one.nodes} x {one.provider} "
        f"{one.instance_type}, {one.purchase_option.value.replace('_', ' ')}"
    )
    yield (
        f"Probability of reaching the target in one run: {chance(one.success_probability)}. Rate of "
        f"{one.sources.price.observed_at.date()}: {one.sources.price.source}"
    )
    yield from _code(report.program(one), one.recipe_command)
    yield f"The question: {to_url(report.question)}"
    yield "Start it with: " + START[report.launcher][_is_spot(one)].format(file=file_name(report))


def _code(program: Program | None, command: str | None) -> Iterator[str]:
    """Where the recipe's code is, and what its authors run."""
    if program and program.repository:
        yield f"Code: {program.repository} ({program.licence or 'licence not stated'}); {program.source}"
    if command:
        yield f"Its authors run: {command}"


def _skypilot(machines: tuple[Launchable, ...], report: LaunchReport) -> Settings:
    resources = [_skypilot_resources(one) for one in machines]
    return {
        "name": _name(report),
        "num_nodes": machines[0].estimate.nodes,
        "resources": resources[0] if len(resources) == 1 else {"ordered": resources},
        "envs": _environment(machines[0].estimate),
        "run": report.command or NO_COMMAND,
    }


def _skypilot_resources(machine: Launchable) -> Settings:
    one, name = machine.estimate, machine.name
    per_machine = one.accelerators // one.nodes
    infra = f"{name.cloud}/{one.region}" if one.provider in WITH_REGIONS else name.cloud
    found: Settings = {"infra": infra}
    if name.accelerator:
        found["accelerators"] = {name.accelerator: per_machine}
    elif one.accelerator.startswith("TPU"):
        found["accelerators"] = {f"tpu-{one.instance_type}": 1}
    else:
        found["instance_type"], _, attached = one.instance_type.partition("+")
        found |= {"accelerators": {one.accelerator: per_machine}} if attached else {}
    found["use_spot"] = _is_spot(one)
    if _is_spot(one):
        found["job_recovery"] = {"strategy": "EAGER_NEXT_REGION"}
    return found | {"max_hourly_cost": float(_highest_rate(one))}


def _dstack(machines: tuple[Launchable, ...], report: LaunchReport) -> Settings:
    one, name = machines[0].estimate, machines[0].name
    regions = {"regions": [one.region]} if one.provider in WITH_REGIONS else {}
    retry = {"retry": {"on_events": ["no-capacity", "interruption"], "duration": "1d"}} if _is_spot(one) else {}
    return {
        "type": "task",
        "name": _name(report),
        "nodes": one.nodes,
        "backends": [name.cloud],
        **regions,
        "instance_types": [one.instance_type.partition("+")[0]],
        "resources": {"gpu": {**_vendor(one, report), "count": one.accelerators // one.nodes}},
        "spot_policy": "spot" if _is_spot(one) else "on-demand",
        **retry,
        "max_price": float(_highest_rate(one)),
        "max_duration": f"{ceil(LONGER * one.hours_high)}h",
        "env": [f"{variable}={value}" for variable, value in _environment(one).items()],
        "commands": [report.command or NO_COMMAND],
    }


def _vendor(estimate: Estimate, report: LaunchReport) -> dict[str, str]:
    """Who makes the accelerator: dstack takes NVIDIA for granted where nobody says."""
    vendor = report.service.evidence.vendor(estimate.accelerator)
    return {"vendor": VENDORS[vendor]} if vendor in VENDORS else {}


def _environment(estimate: Estimate) -> dict[str, str]:
    """What the training command needs to know of the recipe."""
    values = {
        "MODEL": estimate.model,
        "TARGET": f"{estimate.target:g}",
        "RECIPE": estimate.recipe,
        "EPOCHS": f"{estimate.epochs:.4g}",
        "GLOBAL_BATCH_SIZE": estimate.global_batch_size,
        "PRECISION": estimate.precision,
    }
    return {name: str(value) for name, value in values.items() if value is not None}


def _highest_rate(estimate: Estimate) -> Decimal:
    """The rate of one machine beyond which the launcher shall not rent it."""
    return (estimate.hourly_rate / estimate.nodes * DEARER).quantize(CENT, ROUND_CEILING)


def _is_spot(estimate: Estimate) -> bool:
    return estimate.purchase_option is PurchaseOption.SPOT


def _name(report: LaunchReport) -> str:
    plain = "".join(sign if sign.isalnum() else "-" for sign in report.query.model.lower())
    return f"{plain}-{report.query.target:g}".replace(".", "")
