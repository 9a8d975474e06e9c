"""The tables of docs/reference.md are those that the code gives; UPDATE_DOCS=1 writes them."""

import os
import re
from pathlib import Path

import click
import pytest

from api.cli.main import main
from api.cli.settings import source_settings
from api.forms.register import QUESTIONS
from api.questions.fields import Parameter
from api.questions.schemas.training import CostSchema
from api.settings import SETTINGS
from api.web.interface.openapi import OPERATIONS
from pricing.sources import SOURCES

ASKING = [question for question in QUESTIONS if question.command]
MIRROR = "address of the API, or of a mirror"
PAGE = Path(__file__).parents[1] / "docs" / "reference.md"


def table(headings, rows):
    lines = [headings, ["---"] * len(headings), *rows]
    return "".join(
        f"| {' | '.join(' '.join(str(cell).split()).replace('|', '&#124;') for cell in line)} |\n" for line in lines
    )


def paths():
    rows = {}
    for each in OPERATIONS:
        stem, _, ending = each.path.partition(".")
        row = rows.setdefault((each.method, stem if stem != "/openapi" else each.path), [each.summary, []])
        row[1] += [*([ending] if stem != each.path and ending in ("png", "svg", "vl") else []), *each.sheets]
    rows[("post", "/slack/cost")] = ["The slash command, as Slack signs and sends it", []]
    asked = {
        question.path: f"`{' '.join([question.name, *map(written, question.command.arguments)])}`"
        for question in ASKING
    }
    return table(
        ["path", "files", "command", "answers with"],
        [[f"`{method.upper()} {path}`", " ".join(f"`.{kind}`" for kind in dict.fromkeys(files)), asked.get(path, ""), summary]
         for (method, path), (summary, files) in rows.items()],
    )  # fmt: skip


def written(argument):
    return f"[{argument.removesuffix('?')}]".upper() if argument.endswith("?") else argument.upper()


def parameters():
    fields = CostSchema().fields.items()
    rows = [
        [f"`{name}`" if field.example is None else f"`{name}={field.example}`", field.meaning]
        for name, field in fields
        if isinstance(field, Parameter)
    ]
    return table(["parameter, such as", "meaning"], rows)


def commands():
    def rows(group, before):
        for name in group.list_commands(None):
            if not before and name in {question.name for question in ASKING}:
                continue
            command = group.get_command(None, name)
            words = [*before, name]
            if isinstance(command, click.Group):
                yield from rows(command, words)
            if not isinstance(command, click.Group) or command.invoke_without_command:
                arguments = " ".join(
                    each.make_metavar(click.Context(command))
                    for each in command.params
                    if each.param_type_name == "argument"
                )
                yield [f"`{' '.join([*words, arguments]).strip()}`", command.get_short_help_str(200)]

    return table(["costcalc", "does"], rows(main, []))


def sources():
    rows = [
        [f"`{each.name}` {each.label}", each.rates, each.cannot_see, "; ".join(needed(each))]
        for each in SOURCES.values()
    ]
    return table(["source", "rates", "cannot see", "needs, if anything; address of a mirror"], rows)


def needed(source):
    if source.needs != "nothing":
        yield source.needs.removeprefix("nothing; ")
    mirrors = [f"`{setting.variable}`" for setting in source.settings if setting.meaning == MIRROR]
    if mirrors:
        yield " ".join(mirrors)


def settings():
    labels = [f"{source.label}: " for source in SOURCES.values()]
    rows = [
        [
            f"`{each.variable}`" + (f" (`{each.default}`)" if each.default else ""),
            each.meaning.removeprefix(next(filter(each.meaning.startswith, labels), "")),
        ]
        for each in (*SETTINGS, *source_settings())
        if not each.meaning.endswith(MIRROR)
    ]
    return table(["variable (default)", "meaning"], rows)


@pytest.mark.parametrize("make", [paths, parameters, commands, sources, settings])
def test_the_reference_has_what_the_code_has(make):
    block = re.compile(f"(?<=<!-- {make.__name__} -->\n).*?(?=<!-- /{make.__name__} -->)", re.DOTALL)
    if os.environ.get("UPDATE_DOCS"):
        PAGE.write_text(block.sub(lambda _: make(), PAGE.read_text("utf-8")), "utf-8")
    assert block.search(PAGE.read_text("utf-8")).group() == make()
