"""The calls of an OpenAPI document as `/docs` shows them: under titles, each path once with all its forms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from api.questions.register import QUESTIONS

Json = dict[str, Any]
FORMS = {"": "JSON", "csv": "CSV", "xlsx": "XLSX", "png": "PNG", "svg": "SVG"}
TITLES = {
    **{question.path.strip("/"): question.topic for question in QUESTIONS if question.topic},
    "plan": "Many trainings at once",
    "launch": "Launch files",
    "recipes": "Your own runs",
    "service": "The service itself",
    "page": "This page",
    "slack": "Slack",
}


@dataclass(frozen=True, slots=True)
class Call:
    """A path that is asked by a method, in each of its forms: the operations by the form that they answer in."""

    method: str
    stem: str
    operations: dict[str, Json]

    @property
    def first(self) -> Json:
        """The operation of its first form, which is named without an ending where there is one."""
        return next(iter(self.operations.values()))

    @property
    def paths(self) -> list[tuple[str, str]]:
        """Each form with its path."""
        return [(FORMS.get(form, form), f"{self.stem}.{form}".rstrip(".")) for form in self.operations]

    @property
    def parameters(self) -> list[Json]:
        """Those that any form takes, each once, required ones first."""
        every = {each["name"]: each for one in self.operations.values() for each in one.get("parameters", ())}
        return sorted(every.values(), key=lambda each: not each.get("required"))

    @property
    def can_be_tried(self) -> bool:
        """Whether a form of a page can ask it."""
        return self.method == "get" and "{" not in self.stem


def topics(document: Json) -> dict[str, list[Call]]:
    """The calls of an OpenAPI document under the titles of what they are about."""
    calls: dict[tuple[str, str, str], Call] = {}
    for path, methods in document["paths"].items():
        stem, form = _parts(path)
        for method, operation in methods.items():
            title = TITLES.get(operation["tags"][0], operation["tags"][0].capitalize())
            calls.setdefault((title, stem, method), Call(method, stem, {})).operations[form] = operation
    found: dict[str, list[Call]] = {}
    for (title, _, _), call in calls.items():
        found.setdefault(title, []).append(call)
    return found


def _parts(path: str) -> tuple[str, str]:
    """A path without the ending that names its form, and that ending."""
    stem, _, form = path.rpartition(".")
    return (stem, form) if form in FORMS and stem else (path, "")
