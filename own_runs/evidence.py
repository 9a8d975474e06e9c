"""A training run as the evidence that answers about it use: its recipe, its speed, and how it is carried to other machines."""

from __future__ import annotations

import math
from hashlib import blake2b
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from costcalc.evidence import Evidence
from costcalc.fields import filled
from costcalc.recipes import EVALUATION_COUNTED, OwnRecipe
from costcalc.throughput.data_sheets import part
from costcalc.throughput.fitted_parameters import FittedParameters, HalfWidth
from costcalc.throughput.memory import BYTES_PER_ACTIVATION, BYTES_PER_GIB, HELD, room_gib
from costcalc.throughput.workloads import REFERENCE_SIZE, SIXTEEN_BIT
from costcalc.training import OWN_DATA, YOU, MetricEvaluation, Model, Phase, System, Throughput
from costcalc.units import SECONDS_PER_HOUR
from own_runs.runs import FRAMEWORK, OWN_CODE, Run

IMAGENET = "imagenet"  # whose images are taken to be prepared by PyTorch's usual code


def evidence_of(run: Run, evidence: Evidence, shared_by: str | None = None) -> Evidence:
    """The evidence for questions whose model is this run, which is its only recipe; `shared_by` is whose it is, None the asker's.

    A network that we know lends its arithmetic, its memory and its fitted effects. The speed of any other is carried from chip to
    chip by the ratios of chips, with a range that is wide by rule.
    """
    network = evidence.find_model(run.model)
    renamed = network and replace(network, name=run.name, aliases=(), series=None)
    model = renamed or _unknown_network(run, evidence)
    recipe = recipe_of(run, model, shared_by)
    size, as_usual = recipe.phases[0].image_size, ("includes_evaluation", "round")
    speed = filled(Throughput, recipe, run, image_size=size, data="real", note="", as_usual=as_usual)
    all_said = msgspec.json.encode((run, shared_by))  # one log may have been sent twice, as different things
    return alone(
        evidence,
        model,
        recipe,
        blake2b(all_said, digest_size=8).hexdigest(),
        own_speeds=() if run.instance_type else (speed,),
        fitted=_fitted(run, model, network, evidence.fitted),
    )


def alone(beside: Evidence, network: Model, recipe: OwnRecipe, version: str, **more: Any) -> Evidence:
    """The evidence for questions about one training, which has this recipe alone; `more` are further fields of it."""
    return replace(
        beside,
        models={**beside.models, network.name: network},
        recipes=(recipe,),
        schedules=(),
        version=f"{beside.version}+{version}",
        later=(),
        of_own_run=True,
        **{"own_speeds": (), **more},
    )


def recipe_of(run: Run, model: Model, shared_by: str | None = None) -> OwnRecipe:
    """The run as a recipe, with its curve and its speed; the log's clock counts evaluations too."""
    clock = (point.seconds and point.seconds / SECONDS_PER_HOUR for point in run.curve)
    evaluations = tuple(
        MetricEvaluation(at.epochs, hours, value=at.value) for at, hours in zip(run.curve, clock, strict=True)
    )
    machines = f"{run.accelerators} x {run.accelerator}"
    return OwnRecipe(
        name=run.name,
        model=run.name,
        organisation=shared_by or YOU,
        shared_by=shared_by,
        family=model.family,
        framework=run.written_by,
        framework_family=FRAMEWORK,
        stack=OWN_CODE if run.dataset == IMAGENET else OWN_DATA,
        precision=run.precision,
        global_batch_size=run.batch_size,
        scheduled_epochs=run.scheduled_epochs or run.epochs,
        system=System(run.accelerator, run.accelerators, run.nodes, run.provider, run.instance_type),
        runs=1,
        is_log=True,
        clock=EVALUATION_COUNTED,
        images_per_second=run.samples_per_second,
        year=run.ran_on.year,
        source=f"log {run.source}, shared by {shared_by}" if shared_by else f"your log {run.source}",
        note=f"{run.source} ({run.written_by}), of {run.model} on {run.dataset}, {machines}, {run.ran_on}",
        phases=(Phase(run.image_size or model.image_size or REFERENCE_SIZE, 0.0, run.epochs, run.samples_per_second),),
        evaluations=evaluations,
        published=run.ran_on.isoformat(),
        code="own",
        samples_per_epoch=run.samples_per_epoch,
        data_set_gb=run.data_set_gb or 0.0,
        metric=run.metric,
        lower_is_better=run.lower_is_better,
    )


def _unknown_network(run: Run, evidence: Evidence) -> Model:
    """A network known by this run alone, whose batch is taken to fill the accelerators' memory."""
    room = float(room_gib(np.array(part(evidence.accelerators, run.accelerator).memory_gib or math.inf), None))
    held = HELD * BYTES_PER_ACTIVATION[run.precision in SIXTEEN_BIT] / BYTES_PER_GIB
    activations = room / (run.batch_size / run.accelerators) / held / 1e6
    return Model(
        name=run.name,
        aliases=(),
        family=run.name,
        parameters_millions=None,
        gmacs=None,
        image_size=run.image_size or REFERENCE_SIZE,
        source=f"log {run.source}",
        activations_millions=activations if math.isfinite(activations) else None,
    )


def _fitted(run: Run, model: Model, network: Model | None, fitted: FittedParameters) -> FittedParameters:
    """The network's fitted parameters under the run's name. The range of an unknown network is as wide, by rule, as that of code
    without a published speed."""
    models, effects, widths = (
        {**fitted.transfer.models, run.name: model},
        {**fitted.transfer.effects},
        {**fitted.widths},
    )
    if network is None:
        widths["network"] = HalfWidth(fitted.widths["code"].ln, by_rule=True)
    for key, effect in fitted.transfer.effects.items():
        if network and network.name in key:
            effects[tuple(run.name if part == network.name else part for part in key)] = effect
    return replace(fitted, transfer=replace(fitted.transfer, models=models, effects=effects), widths=widths)
