"""The commands around a launch file: what starts it, what follows it, and what compares it with the prediction afterwards."""

from __future__ import annotations

from shlex import join

from api.reports.launch import Launcher, LaunchReport
from costcalc.answers import Estimate
from costcalc.offers import PurchaseOption
from costcalc.training import Metric


def start_line(launcher: Launcher, one: Estimate, name: str, file: str) -> str:
    """What starts the file, under a name that its log is found by."""
    if launcher == "dstack":
        return f"dstack apply -f {file}"
    return f"sky jobs launch -n {name} {file}" if _is_spot(one) else f"sky launch --down -c {name} {file}"


def follow(report: LaunchReport, one: Estimate, name: str) -> str:
    """What writes its log here, and what follows that."""
    logs = {
        "dstack": f"dstack logs {name}",
        "skypilot": f"sky jobs logs -n {name}" if _is_spot(one) else f"sky logs {name}",
    }
    recipe = report.recipe(one)
    planned = recipe.scheduled_epochs if recipe and recipe.scheduled_epochs else one.epochs
    asked = [
        *("--instance", _machine(one)),
        *("--target", f"{one.target:g}"),
        *("--planned-epochs", f"{planned:.4g}"),
        *_metric(one),
        *(("--max-cost", f"{report.query.max_cost:f}") if report.query.max_cost is not None else ()),
    ]
    return f"{logs[report.launcher]} > {name}.log, and beside it {join(['costcalc', 'watch', f'{name}.log', *asked])}"


def after_the_run(one: Estimate, name: str) -> str:
    """What makes its log a recipe, and sets what was predicted beside what it took."""
    facts = [
        *("--name", name),
        *("--model", one.model),
        *("--dataset", one.dataset),
        *_metric(one),
        *("--instance-type", f"{one.provider}:{one.instance_type}"),
        *(("--nodes", f"{one.nodes}") if one.nodes > 1 else ()),
        *(("--batch-size", f"{one.global_batch_size}") if one.global_batch_size else ()),
    ]
    return f"{join(['costcalc', 'recipes', 'add', f'{name}.log', *facts])}, then costcalc recipes compare {name}"


def _machine(one: Estimate) -> str:
    several = f":{one.nodes}" if one.nodes > 1 else ""
    return f"{one.provider}:{one.instance_type}{several}{':spot' if _is_spot(one) else ''}"


def _metric(one: Estimate) -> tuple[str, ...]:
    return ("--metric", one.metric.value) if isinstance(one.metric, Metric) else ()


def _is_spot(one: Estimate) -> bool:
    return one.purchase_option is PurchaseOption.SPOT
