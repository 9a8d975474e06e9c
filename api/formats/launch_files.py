"""Launch files: an estimate as SkyPilot and dstack read it, with what to expect in comments above."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import ROUND_CEILING, Decimal
from math import ceil, floor
from shlex import join
from typing import Any

import yaml

from api.formats.language_scripts import language_environment, language_script
from api.formats.launch_scripts import CHECKPOINTS, DATA, launch_script, share
from api.formats.words import chance
from api.questions.links import to_url
from api.reports.launch import Launchable, LaunchReport, left_to_set
from costcalc.answers import Estimate
from costcalc.offer import PurchaseOption
from costcalc.tasks.goals import training_in_words
from costcalc.text import line
from costcalc.training import Metric
from costcalc.units import SECONDS_PER_HOUR
from pricing.packaged.launchers import Launcher

Settings = dict[str, Any]
SMALLEST_RATE = Decimal("0.0001")
WITH_REGIONS = ("aws", "azure", "gcp", "oci")
"""Clouds whose regions the launchers name as the providers do."""
VENDORS = {"NVIDIA": "nvidia", "Google": "google", "AMD": "amd", "Intel": "intel"}
"""What dstack calls them."""
NO_COMMAND = 'echo "Write your training command here, or ask again with run=."; exit 1'
DISK_GB = 400
"""ImageNet (150), what FFCV's code writes of it (202), and the image: more than the launchers' own 256 and 100 GB."""
TERMS = "The terms of ImageNet (image-net.org) let nobody pass it on: data= says where yours lies, with folders train and val"


class _Readable(yaml.SafeDumper):
    """Writes a script as one reads it, line by line."""

    def represent_str(self, data: str) -> yaml.ScalarNode:
        """A text of several lines as a block."""
        return self.represent_scalar("tag:yaml.org,2002:str", data, style="|" if "\n" in data else None)


_Readable.add_representer(str, _Readable.represent_str)


def launch_file(report: LaunchReport) -> bytes:
    """The file. Raises NotFound where the launcher rents none of the machines."""
    machines = report.machines()
    settings = {"skypilot": _skypilot, "dstack": _dstack}[report.launcher](machines, report)
    return (
        comments(_expected(machines, report))
        + yaml.dump(settings, Dumper=_Readable, sort_keys=False, allow_unicode=True, width=120)
    ).encode()


def file_name(report: LaunchReport) -> str:
    """What to save it as; dstack asks for this ending."""
    return f"{_name(report)}{'.dstack' if report.launcher == 'dstack' else ''}.yaml"


def comments(texts: Iterable[str]) -> str:
    """A comment of each text: one line, whoever wrote it, so that nothing of it is read as a setting."""
    return "".join(f"# {line(text)}\n" for text in texts)


def _expected(machines: Sequence[Launchable], report: LaunchReport) -> Iterator[str]:
    """What the file is for and what to expect of the run."""
    first, *others = [machine.estimate for machine in machines]
    if report.trains_nothing:
        yield report.trains_nothing
    yield f"{training_in_words(report.query)} by the recipe {first.recipe}: {first.sources.convergence.source}"
    yield f"Expected{_of_runs(report)}: {_figures(first)}"
    if first.success_probability is not None:
        yield f"Probability of reaching the target in one run: {chance(first.success_probability)}"
    yield f"Rate of {first.sources.price.observed_at.date()}: {first.sources.price.source}"
    yield from _language_code(report) if report.query.method else _code(first, report)
    if report.start(first.rented) or report.launcher == "dstack":
        yield f"It is stopped after {report.limits.hours:.1f} h"
    yield f"No machine is rented for more than {_highest_rate(first, report)} USD an hour by the provider's list"
    yield f"The question: {to_url(report.question)}"
    yield from _interruptions(first, report)
    if report.launcher == "skypilot":
        yield from (f"If none is free: {_figures(other)}" for other in others)
    yield f"Start it with: {start_line(report.launcher, first, _name(report), file_name(report))}"
    yield f"Follow it: {follow(report, first, _name(report))}"
    yield f"Afterwards: {after_the_run(first, _name(report))}"


def _of_runs(report: LaunchReport) -> str:
    runs = report.query.runs
    return f" of {runs} runs, of which this file makes one" if runs > 1 else ""


def _figures(each: Estimate) -> str:
    return (
        f"{each.hours:.2f} h ({each.hours_low:.2f} to {each.hours_high:.2f} in 8 of 10 runs) and {each.billed_cost} "
        f"{each.currency} ({each.billed_cost_low} to {each.billed_cost_high}) on {each.nodes} x {each.provider} "
        f"{each.instance_type}, {each.purchase_option.value.replace('_', ' ')}"
    )


def _interruptions(estimate: Estimate, report: LaunchReport) -> Iterator[str]:
    """What becomes of a spot run that is taken back."""
    start = report.start(estimate.rented)
    if start is None or not _is_spot(estimate):
        return
    if start.checkpoint is None:
        yield "This code can't go on from a checkpoint: if a spot machine is taken back, the training starts anew"
    elif not report.checkpoints:
        yield "If a spot machine is taken back, the training starts anew: with checkpoints=, a bucket or volume, it goes on"


def _language_code(report: LaunchReport) -> Iterator[str]:
    """What the script of a language model needs of its user."""
    if report.command or report.trains_nothing:
        return
    yield "It trains with transformers and peft, on JSON lines (text, or messages), Parquet, CSV or text below DATA"
    yield f"Weights come from huggingface.co; those that ask for consent need HF_TOKEN in the environment ({report.query.model})"
    if not report.data:
        yield f"A fresh machine has no {DATA}: without data= the run ends at once"


def _code(estimate: Estimate, report: LaunchReport) -> Iterator[str]:
    """Where the recipe's code is, what its authors run, and what can't be started here."""
    recipe, start = report.recipe(estimate), report.start(estimate.rented)
    if recipe and recipe.program and recipe.program.repository:
        program = recipe.program
        yield f"Code: {program.repository} ({program.licence or 'licence not stated'}); {program.source}"
    if recipe and recipe.command:
        address, commit = recipe.command.clone
        yield f"Get it with: git clone {address} code && cd code && git checkout {commit}"
        yield f"It is run with: {estimate.recipe_command}"
        yield f"Words in capitals are yours to fill in. By {recipe.command.source}"
    elif recipe and recipe.is_public and not start:
        yield "Its code is public, but no script that starts this run"
    if start and (setting := left_to_set(estimate, report.query)):
        yield f"Its script runs as published: set {setting} in it yourself, or the figures above do not hold"
    if start:
        yield f"It runs {start.repository} at {start.commit[:12]} in {start.image} ({start.source})"
        yield (
            start.tried
            or "Its first minute was tried with programs that stand in for the real ones, not on a rented machine"
        )
        yield TERMS
        if not report.data:
            yield f"A fresh machine has no {DATA}: without data= the run ends at once, and the machine is released 5 min later"
        elif report.launcher == "dstack" and not report.data.startswith("/"):
            yield f"The volume {report.data} must be one of dstack's in that backend and region"
    elif not report.command:
        yield "How to start this code on such a machine is not known: the command below stops at once"
    if better := report.passed_over():
        yield (
            f"Passed over: {better.nodes} x {better.provider} {better.instance_type} by {better.recipe} for {better.billed_cost} "
            f"{better.currency}, where no image of that code is known to start"
        )


def _skypilot(machines: tuple[Launchable, ...], report: LaunchReport) -> Settings:
    resources = [_skypilot_resources(machine, report) for machine in machines]
    data = {DATA: report.data} if "://" in report.data else {}
    kept = {CHECKPOINTS: {"source": report.checkpoints, "mode": "MOUNT"}} if "://" in report.checkpoints else {}
    mounts = {**data, **kept}
    return {
        "name": _name(report),
        "num_nodes": machines[0].estimate.nodes,
        "resources": resources[0] if len(resources) == 1 else {"ordered": resources},
        **({"file_mounts": mounts} if mounts else {}),
        "envs": _environment(machines[0].estimate, report),
        "run": _command(machines[0].estimate, report),
    }


def _skypilot_resources(machine: Launchable, report: LaunchReport) -> Settings:
    estimate, name = machine.estimate, machine.name
    per_machine = estimate.accelerators // estimate.nodes
    infra = f"{name.cloud}/{estimate.region}" if estimate.provider in WITH_REGIONS else name.cloud
    resources: Settings = {"infra": infra}
    if name.accelerator:
        resources["accelerators"] = {name.accelerator: per_machine}
    elif estimate.accelerator.startswith("TPU"):
        resources["accelerators"] = {f"tpu-{estimate.instance_type}": 1}
    else:
        resources["instance_type"], _, attached = estimate.instance_type.partition("+")
        resources |= {"accelerators": {estimate.accelerator: per_machine}} if attached else {}
    if start := report.start(estimate.rented):
        resources |= {"image_id": f"docker:{start.image}", "disk_size": DISK_GB}
    resources["use_spot"] = _is_spot(estimate)
    if _is_spot(estimate):
        resources["job_recovery"] = {"strategy": "EAGER_NEXT_REGION"}
    return resources | {
        "autostop": {"idle_minutes": 5, "down": True},
        "max_hourly_cost": float(_highest_rate(estimate, report)),
    }


def _dstack(machines: tuple[Launchable, ...], report: LaunchReport) -> Settings:
    estimate, name, start = machines[0].estimate, machines[0].name, report.start(machines[0].estimate.rented)
    regions = {"regions": [estimate.region]} if estimate.provider in WITH_REGIONS else {}
    image = {"image": start.image, "shell": "bash"} if start else {}
    volumes = [
        name if ":" in name else f"{name}:{at}"
        for name, at in ((report.data, DATA), (report.checkpoints, CHECKPOINTS))
        if name
    ]
    retry = {"retry": {"on_events": ["no-capacity", "interruption"], "duration": "1d"}} if _is_spot(estimate) else {}
    return {
        "type": "task",
        "name": _name(report),
        "nodes": estimate.nodes,
        **image,
        "backends": [name.cloud],
        **regions,
        **_dstack_machine(estimate, name.accelerator, report),
        "spot_policy": "spot" if _is_spot(estimate) else "on-demand",
        **retry,
        "idle_duration": "5m",
        "max_price": float(_highest_rate(estimate, report)),
        "max_duration": f"{floor(report.limits.hours * 60)}m",
        **({"volumes": volumes} if volumes else {}),
        "env": [f"{variable}={value}" for variable, value in _environment(estimate, report).items()],
        "commands": [_command(estimate, report)],
    }


def _dstack_machine(estimate: Estimate, name: str | None, report: LaunchReport) -> Settings:
    """A machine by its type, or by its accelerators where the provider has no names for its machines."""
    vendor = report.service.evidence.vendor(estimate.accelerator)
    gpu: Settings = {
        **({"vendor": VENDORS[vendor]} if vendor in VENDORS else {}),
        "count": estimate.accelerators // estimate.nodes,
    }
    disk = {"disk": f"{DISK_GB}GB.."} if report.start(estimate.rented) else {}
    if name is None:
        return {"instance_types": [estimate.instance_type.partition("+")[0]], "resources": {"gpu": gpu, **disk}}
    named = {**gpu, "name": [name], "memory": f"{floor(estimate.accelerator_memory_gib or 0)}GB.."}
    return {"resources": {"gpu": named, **disk}}


def _command(estimate: Estimate, report: LaunchReport) -> str:
    """What the machine runs: the command given, or the recipe's own code."""
    start = report.start(estimate.rented)
    line = start.line(estimate.recipe) if start else None
    if report.query.method and not (report.command or report.trains_nothing):
        return language_script(report.query, report.launcher)
    if start is None or line is None:
        return report.command or NO_COMMAND
    return launch_script(start, line, report.launcher, stops_at_target=estimate.metric == Metric.TOP1)


def _environment(estimate: Estimate, report: LaunchReport) -> dict[str, str]:
    """What the training command needs to know of the recipe."""
    values = {
        "MODEL": estimate.model,
        "TARGET": None if estimate.target is None else f"{estimate.target:g}",
        "RECIPE": estimate.recipe,
        "EPOCHS": f"{estimate.epochs:.4g}",
        "GLOBAL_BATCH_SIZE": estimate.global_batch_size,
        "PRECISION": estimate.precision,
        **_started(estimate, report),
        **_by_tokens(estimate, report),
    }
    return {name: str(value) for name, value in values.items() if value is not None}


def _by_tokens(estimate: Estimate, report: LaunchReport) -> dict[str, object]:
    """What the script of a language model needs beside."""
    if not report.query.method or report.command or report.trains_nothing:
        return {}
    places = {"DATA": _path(report.data, DATA, report), "LIMIT_SECONDS": floor(report.limits.hours * SECONDS_PER_HOUR)}
    return {**language_environment(report.query, estimate), **places}


def _started(estimate: Estimate, report: LaunchReport) -> dict[str, object]:
    """What the script of the recipe's own code needs beside: EPOCHS are all of its schedule, which may end beyond the target."""
    recipe, start = report.recipe(estimate), report.start(estimate.rented)
    line = start.line(estimate.recipe) if start else None
    if recipe is None or start is None or line is None:
        return {}
    part = share(line, estimate.global_batch_size or line.largest_batch, estimate.accelerators)
    return {
        "EPOCHS": ceil(recipe.scheduled_epochs or estimate.epochs),
        "NETWORK": start.networks.get(estimate.model, estimate.model),
        "CONFIG": start.configuration(recipe.command),
        "NODES": estimate.nodes,
        "GPUS": estimate.accelerators // estimate.nodes,
        "BATCH": part.batch,
        "STEPS_GATHERED": part.steps_gathered,
        "LEARNING_RATE": None if part.learning_rate is None else f"{part.learning_rate:.6g}",
        "DATA": _path(report.data, DATA, report),
        "CHECKPOINTS": _path(report.checkpoints, CHECKPOINTS, report) if report.checkpoints else None,
        "LIMIT_SECONDS": floor(report.limits.hours * SECONDS_PER_HOUR),
    }


def _path(place: str, mounted: str, report: LaunchReport) -> str:
    """Where the machine finds a bucket, a volume or a path of its own, which SkyPilot leaves where it is."""
    return place if place.startswith("/") and report.launcher == "skypilot" else mounted


def _highest_rate(each: Estimate, report: LaunchReport) -> Decimal:
    """The dollars by the list beyond which the launcher shall not rent one machine."""
    highest = report.listed_dollars(each, report.limits.highest_rate(each))
    return (highest / each.nodes).quantize(SMALLEST_RATE, ROUND_CEILING)


def _is_spot(estimate: Estimate) -> bool:
    return estimate.purchase_option is PurchaseOption.SPOT


def _name(report: LaunchReport) -> str:
    plain = "".join(sign if sign.isalnum() else "-" for sign in report.query.model.lower())
    return f"{plain}-{report.query.target:g}".replace(".", "")


def start_line(launcher: Launcher, estimate: Estimate, name: str, file: str) -> str:
    """What starts the file, under a name that its log is found by."""
    if launcher == "dstack":
        return f"dstack apply -f {file}"
    return f"sky jobs launch -n {name} {file}" if _is_spot(estimate) else f"sky launch --down -c {name} {file}"


def follow(report: LaunchReport, estimate: Estimate, name: str) -> str:
    """What writes its log here, and what follows that."""
    logs = {
        "dstack": f"dstack logs {name}",
        "skypilot": f"sky jobs logs -n {name}" if _is_spot(estimate) else f"sky logs {name}",
    }
    recipe = report.recipe(estimate)
    planned = recipe.scheduled_epochs if recipe and recipe.scheduled_epochs else estimate.epochs
    rate, budget = report.dollars(estimate.hourly_rate), report.query.max_cost
    options = [
        *("--rate", f"{rate:.6g}"),
        *(() if estimate.target is None else ("--target", f"{estimate.target:g}")),
        *("--planned-epochs", f"{planned:.4g}"),
        *_metric(estimate),
        *(("--max-cost", f"{report.dollars(budget) / report.query.runs:.2f}") if budget is not None else ()),
    ]
    return f"{logs[report.launcher]} > {name}.log, and beside it {join(['costcalc', 'watch', f'{name}.log', *options])}"


def after_the_run(estimate: Estimate, name: str) -> str:
    """What makes its log a recipe, and sets what was predicted beside what it took."""
    facts = [
        *("--name", name),
        *("--model", estimate.model),
        *("--dataset", estimate.dataset),
        *_metric(estimate),
        *("--instance-type", f"{estimate.provider}:{estimate.instance_type}"),
        *(("--nodes", f"{estimate.nodes}") if estimate.nodes > 1 else ()),
        *(("--batch-size", f"{estimate.global_batch_size}") if estimate.global_batch_size else ()),
    ]
    return f"{join(['costcalc', 'recipes', 'add', f'{name}.log', *facts])}, then costcalc recipes compare {name}"


def _metric(estimate: Estimate) -> tuple[str, ...]:
    return ("--metric", estimate.metric.value) if isinstance(estimate.metric, Metric) else ()
