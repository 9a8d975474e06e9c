"""Small made-up results of MLPerf, whose answers can be worked out by hand."""

from msgspec import Struct
from msgspec.structs import replace

from costcalc.evidence import Evidence
from costcalc.hardware import Accelerator
from costcalc.recipes import Recipe
from costcalc.throughput.fitted_parameters import ElapsedTime, unfitted
from costcalc.training import IMAGES_PER_EPOCH, Evaluation, Model, Phase, System, Throughput
from science.validation.published import Published, ReferencePoint, Result

REFERENCE_POINTS = ((2048, 36.0), (4096, 37.0), (8192, 40.0), (16384, 43.0))
ELAPSED = ElapsedTime(0.25, 0.6)
RESNET50 = Model("resnet50", (), "resnet", 25.6, 4.1, 224, "made up")


def accelerator(name, tflops=300.0, bandwidth=1500.0, **facts):
    sheet = {
        "vendor": "NVIDIA",
        "cluster_network": True,
        "predicted_unmeasured": True,
        "power_watts": 400,
        "introduced": 2020,
    } | facts
    return Accelerator(
        name=name,
        memory_gib=80,
        dense_16bit_tflops=tflops,
        memory_bandwidth_gb_per_s=bandwidth,
        source="made up",
        chip=name,
        **sheet,
    )


ACCELERATORS = [accelerator("X100"), accelerator("Y100", 150.0, 750.0), accelerator("Z100", 600.0, 3000.0)]


class Row(Struct, frozen=True):
    """One published run: its recipe, the rate in its log, and its time."""

    recipe: Recipe
    throughput: Throughput
    result: Result


def mlperf_row(organisation, name="X100", count=8, nodes=1, *, rate=2500.0, epochs=36.0, minutes=None, **facts):
    """A run at `rate` images/s on each accelerator. Without `minutes` it takes as long as ELAPSED says."""
    batch, year, round = facts.get("batch", 256 * count), facts.get("year", 2022), facts.get("round", "v2.0")
    named = f"mlperf-{round}-{organisation}-{name}-{count}-{nodes}-{batch}".casefold()
    training = epochs * IMAGES_PER_EPOCH / (rate * count)
    seconds = 60 * minutes if minutes else ELAPSED.seconds(training)
    recipe = Recipe(
        name=named,
        model="resnet50",
        organisation=organisation,
        family=facts.get("family", "mlperf-lars"),
        framework="MXNet",
        framework_family="mxnet",
        stack="mlperf",
        precision="mixed",
        optimizer="lars",
        global_batch_size=batch,
        scheduled_epochs=epochs,
        system=System(name, count, nodes),
        runs=5,
        is_log=True,
        clock="training+evaluation",
        images_per_second=rate * count,
        year=year,
        source="made up",
        phases=(Phase(224, 0.0, epochs, rate * count),),
        evaluations=(Evaluation(epochs, seconds / 3600, 0.7595, None),),
        tuned_to=0.759,
        division=facts.get("division", "closed"),
    )
    throughput = Throughput(
        name=named,
        model="resnet50",
        image_size=224,
        accelerator=name,
        accelerators=count,
        nodes=nodes,
        precision="mixed",
        framework="MXNet",
        framework_family="mxnet",
        stack="mlperf",
        global_batch_size=batch,
        images_per_second=rate * count,
        data="real",
        organisation=organisation,
        year=year,
        round=round,
        source="made up",
        note=facts.get("note", ""),
    )
    result = Result(named, organisation, name, count, nodes, batch, epochs, seconds / 60, "mlperf", round)
    return Row(recipe, throughput, result)


def publish(rows, accelerators=ACCELERATORS, *, logged=True, groups=None, **changes):
    """These runs as everything that was ever published."""
    evidence = Evidence(
        accelerators={each.name: each for each in accelerators},
        models={"resnet50": RESNET50},
        recipes=tuple(row.recipe for row in rows),
        schedules=(),
        throughputs=tuple(row.throughput for row in rows) if logged else (),
        fitted=unfitted({"resnet50": RESNET50}),
        version="made up",
    )
    rounds = {"v2.0": "fit", "v3.0": "test"}
    listed = {"organisation": {}, "recipe_family": {}, "round": rounds, "whole_runs": {}} | (groups or {})
    known = Published(evidence, tuple(row.result for row in rows), (), (), listed)
    points = tuple(ReferencePoint(batch, epochs) for batch, epochs in REFERENCE_POINTS)
    return replace(known, **{"reference_points": points} | changes)


def predicted(cases, learner):
    """ln(seconds) that was predicted, by name: it must not move with what was held out."""
    truth = {run.name: run.log_seconds for run in learner.runs}
    return {case.name: case.error + truth[case.name] for case in cases}


def throughput_row(model, name="X100", *, rate, stack="tool", organisation="Dan", precision="fp16", count=1):
    """Somebody's rate of a network outside MLPerf, in images/s of all accelerators."""
    made = mlperf_row(organisation, name, count).throughput
    return replace(
        made,
        name=f"{stack} {organisation} {model} {precision} {name} {count}",
        model=model,
        stack=stack,
        precision=precision,
        global_batch_size=256 * count,
        images_per_second=rate,
    )
