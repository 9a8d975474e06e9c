"""Usage, the models and tasks, the recipes of a model, and complaints that say what to type."""

from __future__ import annotations

from collections.abc import Sequence

from api.questions.errors import NotFound
from api.reports.models import summary
from api.reports.rates import RatesDocument
from api.service import Service
from api.slack.message import Message, escape, link, section, table
from costcalc.hardware import counted
from costcalc.query import DECLARED
from costcalc.recipes import Recipe
from costcalc.tasks.tables import tasks
from costcalc.training import Metric

EXAMPLES = (
    ("/cost resnet50 0.757", "the five cheapest estimates"),
    ("/cost resnet50 75.7% on gcp spot under $50 within 4h", "in plain words"),
    ("/cost resnet50 top-5 93% on 8 H100 share", "shows the answer to the whole channel"),
    (
        "/cost resnet50 0.757 provider=aws,gcp purchase=committed_use term=1y currency=EUR",
        "any parameter as name=value",
    ),
    ("/cost models", "the models and tasks"),
    ("/cost recipes resnet50", "the recipes of a model and the accuracy that each reaches"),
)
TRY = "Try `/cost resnet50 0.757`, or `/cost help`."
MOST_RECIPES = 25
MOST_MODELS = 40
_HERE = (
    ("costcalc models lists", "/models lists"),
    ("/models lists", "/cost models lists"),
    ("see /docs for", "/cost help shows"),
)
RECIPE_COLUMNS = (("Recipe", "left"), ("Epochs", "right"), ("Best top-1", "right"), ("Best top-5", "right"),
                  ("Logged on", "left"), ("Year", "right"))  # fmt: skip


def usage(base: str) -> Message:
    """Examples, and the names of the parameters that are used most."""
    shown = "\n".join(f"`{escape(typed)}`  {meaning}" for typed, meaning in EXAMPLES)
    usual = (name for name, each in DECLARED.items() if each.param.use == "everyday" and each.param.part != "goal")
    names = ", ".join(f"`{name}`" for name in usual)
    more = link(f"{base}/docs#get_cost", "all parameters")
    text = f"*What will a training cost, and how long will it take?*\n{shown}\nMost used: {names}; {more}."
    return Message(text, (section(text),))


def complaint(messages: list[str]) -> Message:
    """What was not understood, and what to type."""
    lines = "\n".join(f"• {escape(_here(line))}" for line in messages)
    text = f"{lines}\n{TRY}"
    return Message(text, (section(text),))


def rates(document: RatesDocument, lines: Sequence[str], base: str) -> Message:
    """What machines cost an hour, and where all rates are."""
    told = "\n".join(map(escape, (*document.verdict, *lines)))
    text = f"{told}\n{link(f'{base}{document.link}', 'every rate')}"
    return Message(text, (section(text),))


def _here(line: str) -> str:
    """What HTTP's messages point to, as it is called here."""
    for there, here in _HERE:
        line = line.replace(there, here)
    return line


def models(service: Service, base: str) -> Message:
    """Models of ImageNet with the best top-1 accuracy of their recipes, those with most recipes first, and the tasks beside."""
    rows = [summary(service.evidence, model) for _, model in sorted(service.evidence.models.items())]
    rows = sorted((each for each in rows if each.best_top1 is not None), key=lambda each: -len(each.recipes))
    reached = ", ".join(f"`{each.model}` {each.best_top1:.3f}" for each in rows[:MOST_MODELS])
    others = ", ".join(f"`{name}`" for name in tasks())
    text = (
        f"*Models and the highest top-1 accuracy of their recipes*\n{reached}; "
        f"{link(f'{base}/models', 'all models')}.\n"
        f"*Tasks besides ImageNet*, each with a target of its own\n{others}; {link(f'{base}/tasks', 'all tasks')}."
    )
    return Message(text, (section(text),))


def recipes(service: Service, text: str, base: str) -> Message:
    """One model's recipes, the best accuracy first."""
    name = text.partition(" ")[0]
    if not name:
        return complaint(["which model's recipes? Write /cost recipes resnet50"])
    model = service.model(name)
    ranked = sorted(service.evidence.recipes_of(model.name), key=_best, reverse=True)
    if not ranked:
        raise NotFound(f"no recipe of {model.name} is known, only its speed", "model")
    every = link(f"{base}/models/{model.name}", f"all {len(ranked)}")
    title = (
        f"*Recipes of {escape(model.name)}*, the best first of {every}; choose with `recipe=NAME` or `recipe=mlperf-*`"
    )
    shown = ranked[:MOST_RECIPES]
    lines = "\n".join([title, *(f"{each.name}: {_best(each):.3f}" for each in shown)])
    return Message(lines, (section(title), table(RECIPE_COLUMNS, map(_row, shown))))


def _best(recipe: Recipe) -> float:
    return recipe.best(Metric.TOP1) or recipe.best(Metric.TOP5) or 0.0


def _row(recipe: Recipe) -> tuple[str, ...]:
    top1, top5, system = recipe.best(Metric.TOP1), recipe.best(Metric.TOP5), recipe.system
    return (
        recipe.name,
        "" if recipe.scheduled_epochs is None else f"{recipe.scheduled_epochs:g}",
        "" if top1 is None else f"{top1:.4f}",
        "" if top5 is None else f"{top5:.4f}",
        counted(system.accelerators, system.accelerator, " × ") if system else "",
        str(recipe.year),
    )
