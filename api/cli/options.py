"""Options made from the parameters of a schema: their choices, their themes in the help, and what a wrong one stands for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import click

from api.cli.completion import completer

if TYPE_CHECKING:  # a command that is not used does not wait for its schema
    from marshmallow import Schema

    from api.questions.fields import Parameter


@dataclass(frozen=True, slots=True)
class Theme:
    """Options that the help shows together, with a sentence that says what they do; `--help` leaves out the `rare` ones."""

    heading: str
    sentence: str
    everyday: str
    rare: str = ""

    @property
    def names(self) -> list[str]:
        return f"{self.everyday} {self.rare}".split()


THEMES = (
    Theme(
        "What to train",
        "When the target counts as reached, and with which recipes.",
        "model target metric training recipe recipes epochs images_per_second",
        "confidence parameters gmacs samples_per_epoch dataset crossing evidence overheads software pipeline compilation "
        "image_size year precision",
    ),
    Theme(
        "Which machines",
        "Only these machines, clouds and regions.",
        "provider region accelerator accelerators nodes own own_price",
        "regions instance_type available max_accelerators max_nodes rates own_years own_resale own_watts electricity pue",
    ),
    Theme("How to buy", "Only these ways to pay.", "purchase term", "payment utilization"),
    Theme(
        "Limits and order",
        "Limits of cost and time, the order, and how much is shown.",
        "budget max_cost max_hours sort limit runs_per_month",
        "pick frontier basis hour_worth offset",
    ),
    Theme(
        "Prices and money",
        "The date of the prices, the currency, your own rates, and what the bill holds.",
        "as_of since until every discount currency runs",
        "max_price_age fx storage_gb storage_rate egress_gb egress_rate",
    ),
    Theme(
        "Output",
        "How the answer is written; its figures stay the same.",
        "format explain to run help help_all",
        "columns excel sep decimal profile focus table label cost_center",
    ),
    Theme(
        "The run",
        "What the log does not say of the run.",
        "name better batch_size samples_per_epoch hours date scheduled_epochs data_set_gb",
    ),
)
OTHER = Theme("Other options", "These belong to no theme.", "")
SEVERAL = "NAME,... takes several values: separate them with commas, or repeat the option."
LONGEST_CHOICES = 50
MOST_OPTIONS = 30
"""With more of them, `--help` leaves out those that few need."""
FORMATS = ("table", "json", "csv")
ARGUMENTS = ("model", "target")
PARAMETER = re.compile(rf"\b({'|'.join(name for theme in THEMES for name in theme.names if name not in ARGUMENTS)})=")
PATH = re.compile(r"(?<!\S)/(models|offers)\b")
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
        themes = themes_of(shown)
        if _HELP_ALL in shown and not ctx.meta.get(EVERY_OPTION):
            shown = [each for each in shown if _name(each) in themes[each].everyday.split()]
        for theme in (*THEMES, OTHER):
            rows = filter(None, (each.get_help_record(ctx) for each in shown if themes[each] is theme))
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
                    named[name] = given
                else:
                    ctx.fail(f"{each} needs a value.")
            first = [named[name] for name in names[:1] if name in named]
            return super().parse_args(ctx, [*first, *others[1:], *(named[name] for name in names[1:] if name in named)])
        except click.NoSuchOption as error:
            raise click.UsageError(self._no_such_option(error.option_name), ctx) from None

    def _no_such_option(self, given: str) -> str:
        from api.questions.suggestions import either

        meant = [f"--{dashed(name)}" for name in self._meant(given.lstrip("-"))]
        hint = f"did you mean {either(meant)}?" if meant else "--help lists all options"
        return f"there is no option {given}: {hint}"

    def _meant(self, given: str) -> list[str]:
        from api.questions.suggestions import CALLED, nearest, squeeze

        names = [each.name for each in (*self.params, *self.options) if each.name]
        also = [name for name in names if squeeze(given) in CALLED.get(name, "").split()]
        return also or nearest(given, names)


def _show_all(ctx: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if is_asked:
        ctx.meta[EVERY_OPTION] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


EVERY_OPTION = "costcalc.every_option"
_HELP_ALL = click.Option(
    ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_show_all, help="Show every option."
)


def _name(option: click.Option) -> str:
    return option.opts[-1].lstrip("-").replace("-", "_")


def themes_of(options: Iterable[click.Option]) -> dict[click.Option, Theme]:
    """The theme that the help lists each option under: one that none names is a rare one of the option before it."""
    found: dict[click.Option, Theme] = {}
    theme = OTHER
    for option in options:
        theme = next((each for each in THEMES if _name(option) in each.names), theme)
        found[option] = theme
    return found


def dashed(name: str) -> str:
    """A parameter's name as an option is written: `max-hours`."""
    return name.replace("_", "-")


def as_options(text: str) -> str:
    """The text with parameters as options and paths as commands: `max_price_age=900` becomes `--max-price-age=900`."""
    return PATH.sub(r"`costcalc \1`", PARAMETER.sub(lambda found: f"--{dashed(found[1])}=", text))


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
        return click.Option(names, is_flag=True, flag_value="true", default=None, help=_sentence(field.meaning))
    shown = f"[{'|'.join(words)}]"
    fits = words and len(shown) <= LONGEST_CHOICES and shown.count("|") < len(words)
    metavar = shown if fits else METAVARS.get(type(field).__name__, "TEXT")
    more = "" if fits else _takes(words, field)
    return click.Option(
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
