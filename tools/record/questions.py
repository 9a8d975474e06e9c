"""The questions: some that are always asked, and as many more as wanted, drawn from what a service lists about itself.

Each names the moment it asks about, so that its answer does not depend on the day.
"""

from __future__ import annotations

import csv
import io
import json
import random
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

TERMINAL, SLACK = "TERMINAL", "SLACK"
DATES = ("2016-06-30", "2017-11-20", "2018-04-26", "2019-09-01", "2020-03-10T12:00:00Z", "2021-07-15", "2022-12-31",
         "2024-02-29", "2025-06-01T06:30:00+02:00", "2025-12-01", "2026-06-30", "2026-11-20")  # fmt: skip
PLACES = ("/models", "/models/nosuch", "/models/resnet5", "/models/resnet50?format=csv", "/docs", "/openapi.json", "/readyz",
          "/healthz", "/style.css", "/nosuch", "/costs?model=resnet50", "/cost?model=resnet50", "/cost?format=csv", "/cost.pdf",
          "/cost?model=resnet50&target=0.757&as_of=2019-02-30", "/?model=nosuch&target=0.757&as_of=2026-11-20",
          "/cost.xlsx?format=json&model=resnet50&target=0.757&as_of=2026-11-20",
          "/cost.svg?format=csv&model=resnet50&target=0.757&as_of=2026-11-20",
          "/accuracy?model=resnet50&budget=0.01&as_of=2018-04-26&purchase=on_demand")  # fmt: skip
OTHER_METHODS = {"/cost": "POST", "/plan?as_of=2026-11-20": "DELETE", "/slack/cost": "POST", "/offers": "OPTIONS"}
COMMANDS = ("-h", "--version", "cost -h", "plan -h", "serve -h", "settings -h", "validate -h", "prices -h", "prices refresh -h",
            "prices try -h", "prices status -h", "slack -h", "slack notice -h", "settings", "nosuch", "cost", "cost resnet50",
            "cost resnet50 0.757 --nosuch 1", "cost nosuch 0.757", "cost resnet50 75.7", "validate --format xml",
            "validate --into /nosuch", "prices try nosuch", "prices refresh nosuch", "serve --bind nowhere", "serve --workers 0",
            "plan /nosuch.csv", "slack notice --every month", "slack notice --moved some --dry-run")  # fmt: skip
TYPED = ("", "help", "models", "recipes", "recipes resnet50", "recipes nosuch", "nosuch", "resnet50", "0.757")
WEIGHTS = {"/cost": 80, "/cost.csv": 60, "/cost.xlsx": 36, "/cost.svg": 6, "/cost.png": 4, "/accuracy": 26, "/accuracy.csv": 10,
           "/plan": 14, "/plan.csv": 8, "POST /plan": 36, "/commitments": 18, "/commitments.csv": 10, "/commitments.xlsx": 8,
           "/offers": 16, "/offers.csv": 12, "/offers/changes": 12, "/offers/changes.csv": 8, "/offers/history": 12,
           "/offers/history.csv": 8, "/throughput": 12, "/throughput.csv": 6, "/models/{model}": 12, "/": 16,
           SLACK: 50, "cost": 34, "plan": 8}  # fmt: skip
VALUES: dict[str, tuple[str, ...]] = {
    "accelerators": ("1", "4", "8", "16", "64", "256"), "nodes": ("1", "2", "8", "32"), "max_hours": ("0.5", "4", "12", "100"),
    "max_cost": ("5", "50", "200", "1e4"), "budget": ("0.5", "20", "75.5", "1000"), "confidence": ("0.5", "0.9", "0.99"),
    "utilization": ("0", "0.3", "0.75", "1"), "max_price_age": ("0", "90", "540", "36500"), "runs": ("1", "3", "20", "400"),
    "discount": ("0.12", "aws:0.3", "0.05,gcp:0.2", "azure:1.5"), "currency": ("EUR", "GBP", "jpy", "CHF", "USD", "XXX"),
    "fx": ("EUR:0.92", "GBP:0.8,CHF:1.01", "USD:1"), "storage_gb": ("149", "2000.5"), "storage_rate": ("0.02", "0"),
    "egress_gb": ("10", "500"), "egress_rate": ("0.05", "0.12"), "runs_per_month": ("1", "20", "0.5", "900"),
    "label": ("Q4 vision", "=1+1", "ä;\"b\""), "cost_center": ("R&D 4711", "@SUM(A1)"), "limit": ("1", "3", "7", "20"),
    "offset": ("0", "1", "5", "5000"), "since": DATES[:6], "until": DATES[6:], "as_of": DATES,
}  # fmt: skip
WRONG = ("banana", "-1", "75,7", "1e400", "0", "101", "2019-02-30", "12%", "Ü <b>", "x" * 120, "a,b,,c")
OFFERED = {"provider": "provider", "region": "region", "instance_type": "instance_type", "accelerator": "accelerator",
           "purchase": "purchase_option", "term": "term", "payment": "payment"}  # fmt: skip
DATED = ("as_of", "since", "until")
NEEDED = ("model", "target", *DATED)
FLAGS = ("excel", "frontier")
ACCEPTED = ("*/*", "*/*", "application/json", "text/csv", "text/html", "application/pdf")
PHRASES = ("on {provider}", "{accelerator}", "8 x {accelerator}", "{instance_type}", "{purchase}", "within 12h", "under $200",
           "€1.5k", "at most 40 gbp", "fastest", "frontier", "all regions", "no overheads", "share", "12% discount", "95% sure",
           "currency=CHF", "limit=3", "runs=20", "16 gpus", "2 nodes", "hourss")  # fmt: skip

WELL_KNOWN = 4  # models with the most measured speeds: two thirds of the questions ask for these
MOST_PARAMETERS = 5

Pairs = list[tuple[str, str]]


@dataclass(frozen=True)
class Question:
    """An HTTP request. In a terminal `place` are the words after `costcalc`, and the body is standard input; in Slack `place`
    is what a person typed after /cost.
    """

    method: str
    place: str
    headers: dict[str, str] = field(default_factory=dict)
    body: str = ""


@dataclass(frozen=True)
class Listed:
    """What a service lists: the schema of each parameter by method and path, models, recipes, and offers of each date."""

    parameters: dict[str, dict[str, Any]]
    models: list[dict[str, Any]]
    recipes: list[str]
    offers: dict[str, list[dict[str, Any]]]


def listed_by(ask: Callable[[Question], bytes]) -> Listed:
    """What the service that answers so lists."""

    def get(place: str) -> Any:
        return json.loads(ask(Question("GET", place)))

    paths, models = get("/openapi.json")["paths"], get("/models")["models"]
    parameters = {
        f"{method.upper()} {path}": {each["name"]: each["schema"] for each in known.get("parameters", ())}
        for path, methods in paths.items()
        for method, known in methods.items()
    }
    offers = {day: _newest(get(f"/offers?{urlencode({'as_of': day})}")["offers"]) for day in DATES}
    return Listed(parameters, models, sorted({name for each in models for name in each["recipes"]}), offers)


class Draw:
    """Draws questions; the same seed and the same lists give the same questions."""

    def __init__(self, listed: Listed, seed: int) -> None:
        self._listed = listed
        self._random = random.Random(seed)
        trained = sorted((each for each in listed.models if each["best_top1"]), key=lambda each: -each["throughputs"])
        self._models = [*trained, *trained[:WELL_KNOWN] * (2 * len(trained) // WELL_KNOWN)]

    def questions(self, count: int) -> list[Question]:
        """So many questions: those that are always asked, then drawn ones."""
        always = [
            *(Question(TERMINAL, words) for words in COMMANDS),
            *(Question("GET", place) for place in PLACES),
            *(Question(method, place) for place, method in OTHER_METHODS.items()),
            *(Question(SLACK, text) for text in TYPED),
        ]
        kinds = self._random.choices(list(WEIGHTS), list(WEIGHTS.values()), k=max(0, count - len(always)))
        return [*always, *map(self._question, kinds)][:count]

    def _question(self, kind: str) -> Question:
        if kind == SLACK:
            return Question(SLACK, self._typed())
        if kind == "/models/{model}":
            return Question("GET", f"/models/{self._one(self._listed.models)['model']}")
        if kind == "cost":
            return Question(TERMINAL, self._words())
        if kind == "plan":
            words = f"plan - --as-of {self._one(DATES)}{self._one(('', ' --format json', ' --currency EUR'))}"
            return Question(TERMINAL, words, body=self._rows("text/csv"))
        return self._request(kind)

    def _request(self, kind: str) -> Question:
        if kind == "POST /plan":
            form = self._one(("text/csv", "application/json"))
            beside = urlencode({"as_of": self._one(DATES)}) + self._one(("", "&currency=EUR", "&format=csv&sep=%3B"))
            return Question("POST", f"/plan?{beside}", {"Content-Type": form}, self._rows(form))
        pairs = self._mistaken(self._pairs(f"GET {kind}"))
        if kind == "/cost.csv" and self._chance(0.4) and "profile" not in dict(pairs):
            pairs = [*pairs, ("profile", "focus")]
        return Question("GET", f"{kind}?{urlencode(pairs)}", {"Accept": self._one(ACCEPTED)})

    def _pairs(self, operation: str) -> Pairs:
        """Parameters that agree: the model reaches the target, and the filters let one offer of that day pass."""
        schemas = self._listed.parameters[operation]
        day = self._one((*DATES, *DATES[7:], *DATES[7:]))
        drawn = self._facts(day)
        drawn |= {name: self._one(values) for name, values in VALUES.items() if name != "as_of"}
        drawn |= {name: self._one(words) for name, schema in schemas.items() if (words := _words(schema))}
        wanted = {*NEEDED, *self._some(sorted(drawn.keys() & schemas.keys()), MOST_PARAMETERS)}
        wanted |= {"instance_type"} if operation.startswith("GET /offers/history") else set()
        wanted |= {"limit"} if operation.startswith(("GET /offers", "GET /throughput")) else set()
        return [(name, drawn[name]) for name in schemas if name in wanted and name in drawn]

    def _facts(self, day: str) -> dict[str, str]:
        offer = self._one(self._listed.offers[day] or self._listed.offers[DATES[-1]])
        model = self._one(self._models)
        share = self._one((0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 1.01))
        facts = {name: str(offer[key]) for name, key in OFFERED.items() if offer[key] is not None}
        recipe = self._one((*model["recipes"], self._one(self._listed.recipes), "mlperf-*"))
        target = f"{model['best_top1'] * share:.4f}"
        return {**facts, "model": model["model"], "target": target, "recipe": recipe, "as_of": day}

    def _mistaken(self, pairs: Pairs) -> Pairs:
        """Now and then a wrong value, a misspelt name, a name without its value, or one given twice."""
        places = [place for place, (name, _) in enumerate(pairs) if name not in DATED]
        if not places or self._chance(0.85):
            return pairs
        place = self._one(places)
        name, value = pairs[place]
        wrong = self._one(((name, self._one(WRONG)), (name[:-1], value), (name, ""), (name, "other")))
        return [*pairs, wrong] if wrong[1] == "other" else [*pairs[:place], wrong, *pairs[place + 1 :]]

    def _rows(self, form: str) -> str:
        """A plan's rows; those of a sheet have the same columns."""
        known = [dict(self._mistaken(self._pairs("POST /plan"))) for _ in range(self._random.randint(1, 5))]
        own = self._some(("provider", "accelerator", "accelerators", "max_hours", "runs", "_note"), 2)
        if form != "text/csv":
            return json.dumps([{**each, "_note": "ours"} for each in known])
        sheet, names = io.StringIO(), ["model", "target", *own]
        rows = [[row.get(name, "") for name in names] for row in known]
        csv.writer(sheet, delimiter=self._one((",", ";"))).writerows([names, *rows])
        return sheet.getvalue()

    def _words(self) -> str:
        given = dict(self._mistaken(self._pairs("GET /cost.csv")))
        model, target = given.pop("model", "resnet50"), given.pop("target", "0.757")
        options = [[f"--{name.replace('_', '-')}", *([] if name in FLAGS else [text])] for name, text in given.items()]
        form = self._one(([], [], ["--explain"], ["--format", "json"], ["--format", "csv"]))
        return shlex.join(["cost", model, target, *sum(options, form)])

    def _typed(self) -> str:
        day = self._one(DATES)
        known = {"purchase": "spot", **self._facts(day)}
        phrases = [phrase.format(**known) for phrase in self._some(PHRASES, 3)]
        target = self._one((known["target"], f"{float(known['target']) * 100:.4g}%"))
        return " ".join([known["model"], target, *phrases, f"as of {day}" if "+" not in day else f"as_of={day}"])

    def _one(self, some: Any) -> Any:
        return self._random.choice(some)

    def _some(self, things: Any, most: int) -> list[Any]:
        return self._random.sample(things, self._random.randint(0, most))

    def _chance(self, share: float) -> bool:
        return self._random.random() < share


def _newest(offers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The half that was seen last, whose prices are seldom stale."""
    return sorted(offers, key=lambda each: str(each["observed_at"]))[len(offers) // 2 :]


def _words(schema: dict[str, Any]) -> list[str]:
    """The words among which a parameter chooses."""
    one = schema.get("items", schema)
    first = one.get("anyOf", [one])[0]
    return ["true", "false"] if first.get("type") == "boolean" else list(first.get("enum", ()))
