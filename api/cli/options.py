"""Options made from the parameters of a schema: their choices, their themes in the help, and what a wrong one stands for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import click

from api.cli.completion import completer
from api.questions.themes import THEME_OF, THEMES, Theme, dashed

if TYPE_CHECKING:  # a command that is not used does not wait for its schema
    from marshmallow import Schema

    from api.questions.fields import Parameter
    from costcalc.parameters import Param


SEVERAL = "NAME,... takes several values: separate them with commas, or repeat the option."
LONGEST_CHOICES = 50
MOST_OPTIONS = 30
"""A command with more options lists only the everyday ones under `--help`."""
FORMATS = ("table", "json", "csv")
INTO_A_FILE = ("o", "out", "outfile", "output-file")
METAVARS = {
    "Names": "NAME",
    "Moment": "DATE",
    "Target": "FRACTION",
    "Targets": "FRACTION",
    "Discounts": "FRACTION",
    "OwnRates": "RATE",
    "Currency": "CODE",
    "Choices": "WORD",
    "Separator": "SIGN",
    "Number": "NUMBER",
    "NumberOrWord": "NUMBER",
}
"""What the help calls the value of each kind of parameter."""


class SchemaCommand(click.Command):
    """A command with an option for each parameter of a schema that is not one of its own parameters."""

    def __init__(self, name: str, schema: Callable[[], Schema], **keywords: Any) -> None:
        super().__init__(name, **keywords)
        self.schema = schema

    @cached_property
    def options(self) -> list[click.Option]:
        from api.questions.fields import Parameter

        own = {"token", *(each.name for each in self.params)}
        fields = self.schema().fields.items()
        return [_option(name, field) for name, field in fields if isinstance(field, Parameter) and name not in own]

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The command's own parameters, then the schema's, then --help, and --help-all where that shows more."""
        helps = [self.get_help_option(ctx), *([_HELP_ALL] if len(self.options) > MOST_OPTIONS else [])]
        return [*self.params, *self.options, *filter(None, helps)]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the options by theme: those that most people need, or all of them for `--help-all` and for short commands."""
        shown = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        if _HELP_ALL in shown and not ctx.meta.get(EVERY_OPTION):
            shown = [each for each in shown if not (isinstance(each, ParameterOption) and each.param.use == "rare")]
        for theme in THEMES:
            rows = filter(None, (each.get_help_record(ctx) for each in shown if theme_of(each) is theme))
            if listed := list(rows):
                with formatter.section(theme.heading):
                    formatter.write_text(theme.sentence)
                    formatter.write_dl(listed)
        formatter.write_paragraph()
        formatter.write_text(SEVERAL)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments, with or without their names; an unknown option is refused with the one that is meant."""
        try:
            names = [each.name for each in self.params if isinstance(each, click.Argument)]
            options = [each for each in self.get_params(ctx) if isinstance(each, click.Option) and not each.is_flag]
            wants_value = {text for each in options for text in each.opts}
            named: dict[str | None, str] = {}
            others, left = [""], iter(args)
            for each in left:
                name, sign, value = each.removeprefix("--").partition("=")
                if others[-1] in wants_value or name not in names or not (sign or each.startswith("--")):
                    others.append(each)
                elif (given := value if sign else next(left, None)) is not None:
                    named[name] = f"{named[name]},{given}" if name in named else given
                elif not ctx.resilient_parsing:  # who completes it is about to type it
                    ctx.fail(f"{each} needs a value.")
            first = [named[name] for name in names[:1] if name in named]
            return super().parse_args(ctx, [*first, *others[1:], *(named[name] for name in names[1:] if name in named)])
        except click.NoSuchOption as error:
            raise click.UsageError(self._no_such_option(error.option_name), ctx) from None

    def _no_such_option(self, given: str) -> str:
        from api.questions.suggestions import either

        word = given.lstrip("-")
        if word in INTO_A_FILE:
            return f"there is no option {given}: write > FILE behind the command"
        meant = self._meant(word)
        hint = f"did you mean {either(meant)}?" if meant else "--help lists all options"
        return f"there is no option {given}: {hint}"

    def _meant(self, given: str) -> list[str]:
        """What one may have meant by an option: one with that word as its value, one that people call so, or one spelt alike."""
        from api.questions.fields import Parameter
        from api.questions.suggestions import CALLED, nearest, squeeze

        fields: dict[str, Any] = dict(self.schema().fields)
        word = squeeze(given)
        values = {name: choices(field) for name, field in fields.items() if isinstance(field, Parameter)}
        values["format"] = FORMATS
        names = [each.name for each in (*self.params, *self.options) if each.name]
        valued = [
            f"--{dashed(name)} {choice}" for name in names for choice in values.get(name, ()) if squeeze(choice) == word
        ]
        also = CALLED | {"explain": "verbose v details why"}
        called = [name for name in names if word in also.get(name, "").split()]
        return valued or [f"--{dashed(name)}" for name in called or nearest(given, names)]


def _show_all(ctx: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if is_asked:
        ctx.meta[EVERY_OPTION] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


EVERY_OPTION = "costcalc.every_option"
_HELP_ALL = click.Option(
    ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_show_all, help="Show every option."
)


class ParameterOption(click.Option):
    """The option of a parameter."""

    def __init__(self, param: Param, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.param = param


def theme_of(option: click.Option) -> Theme:
    """The theme that the help lists an option under: a command's own ones are about its output."""
    return THEME_OF[option.param.part if isinstance(option, ParameterOption) else "layout"]


def texts(options: dict[str, Any]) -> dict[str, list[str]]:
    """The options that were given, each with its texts, as a query string has them."""
    return {name: [given] if isinstance(given, str) else list(given) for name, given in options.items() if given}


def choices(field: Parameter) -> Sequence[str]:
    """The words that a parameter takes; empty where it takes others too."""
    from api.questions.fields import TERMS, Choice, Separator, Terms

    if isinstance(field, Choice):
        return list(field.choices)
    return Separator.signs if isinstance(field, Separator) else TERMS if isinstance(field, Terms) else ()


def _option(name: str, field: Parameter) -> click.Option:
    from api.questions.fields import Flag

    names, words = [f"--{dashed(name)}", name], choices(field)
    if isinstance(field, Flag):
        return ParameterOption(
            field.param, names, is_flag=True, flag_value="true", default=None, help=_sentence(field.meaning)
        )
    shown = f"[{'|'.join(words)}]"
    fits = words and len(shown) <= LONGEST_CHOICES and shown.count("|") < len(words)
    metavar = shown if fits else METAVARS.get(type(field).__name__, "TEXT")
    more = "" if fits else _takes(words, field)
    return ParameterOption(
        field.param,
        names,
        multiple=True,
        metavar=f"{metavar},..." if field.listed else metavar,
        help=_sentence(field.meaning + more),
        shell_complete=completer(name, words),
    )


def _takes(words: Sequence[str], field: Parameter) -> str:
    """What is written for a parameter whose choices do not stand before it, if its meaning does not say."""
    if words:
        return f": {' '.join(words)}"
    if not field.example or "default" in field.meaning:
        return ""
    return f". Example: {field.example}" if ";" in field.meaning else f", for example {field.example}"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
