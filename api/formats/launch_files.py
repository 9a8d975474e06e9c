"""Launch files: an estimate as SkyPilot and dstack read it, with what to expect in comments above."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import ROUND_CEILING, Decimal
from math import ceil, floor
from shlex import join
from typing import Any

import yaml

from api.formats.launch_scripts import CHECKPOINTS, DATA, language_environment, language_script, launch_script, share
from api.formats.tables import number
from api.formats.words import chance
from api.questions.links import to_url
from api.questions.themes import dashed
from api.reports.launch import Launchable, LaunchReport, left_to_set
from costcalc.answers import Estimate
from costcalc.offer import PurchaseOption
from costcalc.tasks.goals import training_in_words
from costcalc.text import line
from costcalc.training import Metric
from costcalc.units import SECONDS_PER_HOUR
from pricing.packaged.starts import Launcher

Settings = dict[str, Any]
SMALLEST_RATE = Decimal("0.0001")
WITH_REGIONS = ("aws", "azure", "gcp", "oci")
"""Clouds whose regions the launchers name as the providers do."""
VENDORS = {"NVIDIA": "nvidia", "Google": "google", "AMD": "amd", "Intel": "intel"}
"""What dstack calls them."""
NO_COMMAND = 'echo "Write your training command here, or ask again with run=."; exit 1'
RETRY = {"on_events": ["no-capacity", "interruption"], "duration": "1d"}
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
    return f"{_name(report)}{'.dstack' * (report.launcher == 'dstack')}.yaml"


def comments(texts: Iterable[str]) -> str:
    """A comment of each text: one line, whoever wrote it, so that nothing of it is read as a setting."""
    return "".join(f"# {line(text)}\n" for text in texts)


def _expected(machines: Sequence[Launchable], report: LaunchReport) -> Iterator[str]:
    """What the file is for and what to expect of the run."""
    first, *others = [machine.estimate for machine in machines]
    name = _name(report)
    start, logs = (text.format(name=name, file=file_name(report)) for text in _started_by(report.launcher, first))
    if report.trains_nothing:
        yield report.trains_nothing
    yield f"{training_in_words(report.query)} by the recipe {first.recipe}: {first.sources.convergence.source}"
    runs = f" of {report.query.runs} runs, of which this file makes one" if report.query.runs > 1 else ""
    yield f"Expected{runs}: {_figures(first)}"
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
    yield f"Start it with: {start}"
    yield f"Follow it: {logs} > {name}.log, and beside it {_watching(report, first)}"
    yield f"Afterwards: {_adding(report, first)}, then costcalc recipes compare {name}"


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
    if not _trains_by_tokens(report):
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


def _known(**settings: Any) -> Settings:
    """The settings that have a value."""
    return {name: value for name, value in settings.items() if value not in (None, "", {}, [])}


def _skypilot(machines: tuple[Launchable, ...], report: LaunchReport) -> Settings:
    first, resources = machines[0].estimate, [_skypilot_resources(machine, report) for machine in machines]
    mounted = {DATA: report.data, CHECKPOINTS: {"source": report.checkpoints, "mode": "MOUNT"}}
    places = {DATA: report.data, CHECKPOINTS: report.checkpoints}
    return _known(
        name=_name(report),
        num_nodes=first.nodes,
        resources=resources[0] if len(resources) == 1 else {"ordered": resources},
        file_mounts={at: mounted[at] for at, place in places.items() if "://" in place},
        envs=_environment(first, report),
        run=_command(first, report),
    )


def _skypilot_resources(machine: Launchable, report: LaunchReport) -> Settings:
    estimate, start = machine.estimate, report.start(machine.estimate.rented)
    return _known(
        infra="/".join([machine.name.cloud, *_regions(estimate)]),
        **_skypilot_machine(estimate, machine.name.accelerator),
        image_id=start and f"docker:{start.image}",
        disk_size=start and DISK_GB,
        use_spot=_is_spot(estimate),
        job_recovery={"strategy": "EAGER_NEXT_REGION"} if _is_spot(estimate) else None,
        autostop={"idle_minutes": 5, "down": True},
        max_hourly_cost=float(_highest_rate(estimate, report)),
    )


def _skypilot_machine(estimate: Estimate, name: str | None) -> Settings:
    """A machine by its accelerators where the provider has no names for its machines, else by its type."""
    if name:
        return {"accelerators": {name: _per_machine(estimate)}}
    if estimate.accelerator.startswith("TPU"):
        return {"accelerators": {f"tpu-{estimate.instance_type}": 1}}
    kind, _, attached = estimate.instance_type.partition("+")
    return {"instance_type": kind, "accelerators": attached and {estimate.accelerator: _per_machine(estimate)}}


def _dstack(machines: tuple[Launchable, ...], report: LaunchReport) -> Settings:
    estimate, name, start = machines[0].estimate, machines[0].name, report.start(machines[0].estimate.rented)
    places = ((report.data, DATA), (report.checkpoints, CHECKPOINTS))
    return _known(
        type="task",
        name=_name(report),
        nodes=estimate.nodes,
        image=start and start.image,
        shell=start and "bash",
        backends=[name.cloud],
        regions=_regions(estimate),
        **_dstack_machine(estimate, name.accelerator, report),
        spot_policy="spot" if _is_spot(estimate) else "on-demand",
        retry=RETRY if _is_spot(estimate) else None,
        idle_duration="5m",
        max_price=float(_highest_rate(estimate, report)),
        max_duration=f"{floor(report.limits.hours * 60)}m",
        volumes=[place if ":" in place else f"{place}:{at}" for place, at in places if place],
        env=[f"{variable}={value}" for variable, value in _environment(estimate, report).items()],
        commands=[_command(estimate, report)],
    )


def _dstack_machine(estimate: Estimate, name: str | None, report: LaunchReport) -> Settings:
    """A machine by its type, or by its accelerators where the provider has no names for its machines."""
    vendor = VENDORS.get(report.service.evidence.vendor(estimate.accelerator) or "")
    gpu = _known(vendor=vendor, count=_per_machine(estimate))
    disk = report.start(estimate.rented) and f"{DISK_GB}GB.."
    if name is None:
        return {"instance_types": [estimate.instance_type.partition("+")[0]], "resources": _known(gpu=gpu, disk=disk)}
    named = {**gpu, "name": [name], "memory": f"{floor(estimate.accelerator_memory_gib or 0)}GB.."}
    return {"resources": _known(gpu=named, disk=disk)}


def _command(estimate: Estimate, report: LaunchReport) -> str:
    """What the machine runs: the command given, or the recipe's own code."""
    start = report.start(estimate.rented)
    line = start.line(estimate.recipe) if start else None
    if _trains_by_tokens(report):
        return language_script(report.query, report.launcher)
    if start is None or line is None:
        return report.command or NO_COMMAND
    return launch_script(start, line, report.launcher, stops_at_target=estimate.metric == Metric.TOP1)


def _environment(estimate: Estimate, report: LaunchReport) -> dict[str, str]:
    """What the training command needs to know of the recipe."""
    values: Settings = {
        "MODEL": estimate.model,
        "TARGET": number(estimate.target, "g"),
        "RECIPE": estimate.recipe,
        "EPOCHS": f"{estimate.epochs:.4g}",
        "GLOBAL_BATCH_SIZE": estimate.global_batch_size,
        "PRECISION": estimate.precision,
        **_started(estimate, report),
    }
    if _trains_by_tokens(report):
        values |= language_environment(report.query, estimate)
        values |= {"DATA": _path(report.data, DATA, report), "LIMIT_SECONDS": _limit_seconds(report)}
    return {name: str(value) for name, value in _known(**values).items()}


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
        "GPUS": _per_machine(estimate),
        "BATCH": part.batch,
        "STEPS_GATHERED": part.steps_gathered,
        "LEARNING_RATE": number(part.learning_rate, ".6g"),
        "DATA": _path(report.data, DATA, report),
        "CHECKPOINTS": report.checkpoints and _path(report.checkpoints, CHECKPOINTS, report),
        "LIMIT_SECONDS": _limit_seconds(report),
    }


def _limit_seconds(report: LaunchReport) -> int:
    return floor(report.limits.hours * SECONDS_PER_HOUR)


def _path(place: str, mounted: str, report: LaunchReport) -> str:
    """Where the machine finds a bucket, a volume or a path of its own, which SkyPilot leaves where it is."""
    return place if place.startswith("/") and report.launcher == "skypilot" else mounted


def _highest_rate(each: Estimate, report: LaunchReport) -> Decimal:
    """The dollars by the list beyond which the launcher shall not rent one machine."""
    highest = report.listed_dollars(each, report.limits.highest_rate(each))
    return (highest / each.nodes).quantize(SMALLEST_RATE, ROUND_CEILING)


def _is_spot(estimate: Estimate) -> bool:
    return estimate.purchase_option is PurchaseOption.SPOT


def _trains_by_tokens(report: LaunchReport) -> bool:
    """Whether the file brings the script of a language model."""
    return bool(report.query.method) and not (report.command or report.trains_nothing)


def _per_machine(estimate: Estimate) -> int:
    return estimate.accelerators // estimate.nodes


def _regions(estimate: Estimate) -> list[str]:
    """The region, where launchers know it by the provider's name."""
    return [estimate.region] * (estimate.provider in WITH_REGIONS)


def _name(report: LaunchReport) -> str:
    plain = "".join(sign if sign.isalnum() else "-" for sign in report.query.model.lower())
    return f"{plain}-{report.query.target:g}".replace(".", "")


def _started_by(launcher: Launcher, estimate: Estimate) -> tuple[str, str]:
    """What starts a file under a name that its log is found by, and what prints that log."""
    if launcher == "dstack":
        return "dstack apply -f {file}", "dstack logs {name}"
    if _is_spot(estimate):
        return "sky jobs launch -n {name} {file}", "sky jobs logs -n {name}"
    return "sky launch --down -c {name} {file}", "sky logs {name}"


def _watching(report: LaunchReport, estimate: Estimate) -> str:
    """What follows the log of the run."""
    recipe, budget = report.recipe(estimate), report.query.max_cost
    return _on_log(
        "watch",
        _name(report),
        rate=f"{report.dollars(estimate.hourly_rate):.6g}",
        target=number(estimate.target, "g"),
        planned_epochs=f"{(recipe and recipe.scheduled_epochs) or estimate.epochs:.4g}",
        metric=_metric(estimate),
        max_cost="" if budget is None else f"{report.dollars(budget) / report.query.runs:.2f}",
    )


def _adding(report: LaunchReport, estimate: Estimate) -> str:
    """What makes the log a recipe, so that what was predicted can be set beside what it took."""
    return _on_log(
        "recipes add",
        _name(report),
        name=_name(report),
        model=estimate.model,
        dataset=estimate.dataset,
        metric=_metric(estimate),
        instance_type=f"{estimate.provider}:{estimate.instance_type}",
        nodes=estimate.nodes if estimate.nodes > 1 else None,
        batch_size=estimate.global_batch_size or None,
    )


def _on_log(command: str, run: str, /, **options: object) -> str:
    """A command of costcalc on the log of a run, with the options that have a value."""
    given = [word for name, value in _known(**options).items() for word in (f"--{dashed(name)}", str(value))]
    return join(["costcalc", *command.split(), f"{run}.log", *given])


def _metric(estimate: Estimate) -> str:
    return estimate.metric.value if isinstance(estimate.metric, Metric) else ""
