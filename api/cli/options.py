"""Options made from the parameters of a schema: their choices, their themes in the help, and what a wrong one stands for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from api.cli import habits
from api.cli.completion import completer
from api.questions.themes import THEME_OF, THEMES, Theme, dashed

if TYPE_CHECKING:  # a command that is not used does not wait for its schema
    from marshmallow import Schema

    from api.questions.fields import Parameter
    from costcalc.parameters import Param


SEVERAL = "NAME,... takes several values: separate them with commas, or repeat the option."
LONGEST_CHOICES = 50
LEAST_ALIKE = 60  # percent: of short names half are alike by chance
MOST_OPTIONS = 30
"""A command with more options lists only the everyday ones under `--help`."""
FORMATS = ("table", "json", "csv", "xlsx")
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

        own = {"token", *(param.name for param in self.params)}
        fields = self.schema().fields.items()
        return [_option(name, field) for name, field in fields if isinstance(field, Parameter) and name not in own]

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The command's own parameters, then the schema's, then --help, and --help-all where that shows more."""
        helps = [self.get_help_option(ctx), *([_HELP_ALL] if len(self.options) > MOST_OPTIONS else [])]
        return [*self.params, *self.options, *filter(None, helps)]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the options by theme: those that most people need, or all of them for `--help-all` and for short commands."""
        shown = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
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
        """The arguments, with or without their names, and the options of other tools that mean one of ours; any other unknown
        option is refused with those that may be meant."""
        names = [param.name for param in self.params if isinstance(param, click.Argument)]
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        wants_value = {text for option in options if not option.is_flag for text in option.opts}
        known = {text for option in options for text in option.opts} | {f"--{name}" for name in names}
        named: dict[str | None, str] = {}
        ours = args if ctx.resilient_parsing else [*self._as_ours(args, known, wants_value)]
        others, left = [""], iter(ours)
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

    def _as_ours(self, args: Sequence[str], known: set[str], wants_value: set[str]) -> Iterator[str]:
        """The arguments, where `--json` is `--format json` and `--gpu h100` is `--accelerator h100`. Limits are not supposed."""
        before = ""
        for each, after in zip_longest(args, args[1:], fillvalue=""):
            name, sign, value = each.partition("=")
            is_ours = before in wants_value or dashed(name) in known or not habits.is_option(name)
            meant = [] if is_ours else self._called(name)
            is_known = len(meant) == 1 and not (sign and " " in meant[0]) and not meant[0].startswith("--max")
            if not is_ours and not is_known:
                raise click.UsageError(self._no_such_option(name, meant, value or after))
            ours = [*meant[0].split(" "), *([value] if sign else [])] if meant else [each]
            yield from ours
            before = ours[-1]

    def _no_such_option(self, given: str, meant: Sequence[str], value: str) -> str:
        from api.questions.suggestions import either, nearest, squeeze

        word = squeeze(given.lstrip("-"))
        near = meant or [f"--{name}" for name in nearest(word, self._names(), least_alike=LEAST_ALIKE)]
        typed = "" if value.startswith("-") else f" {value}".rstrip()
        options = self._all_but(word) or [each if " " in each else f"{each}{typed}" for each in near]
        hint = f"did you mean {either(options)}?" if options else "--help lists all options"
        return f"there is no option {given}: {habits.INSTEAD.get(word, hint)}"

    def _all_but(self, word: str) -> list[str]:
        """For `nospot`, the option with all its values but that one, where it takes several."""
        fields = {f"--{dashed(name)}": field for name, field in self.schema().fields.items()}
        meant = (each.split(" ") for each in self._called(word.removeprefix("no")) if word.startswith("no"))
        return [
            f"{name} {','.join(value for value in self._values[name] if value not in choice)}"
            for name, *choice in meant
            if choice and getattr(fields.get(name), "listed", False)
        ]

    @cached_property
    def _values(self) -> dict[str, Sequence[str]]:
        """The words that each option takes, if these are all."""
        from api.questions.fields import Parameter

        fields = self.schema().fields.items()
        words = {f"--{dashed(name)}": list(field.choices) for name, field in fields if isinstance(field, Parameter)}
        return {f"--{name}": words.get(f"--{name}", ()) for name in self._names()} | {"--format": FORMATS}

    def _names(self) -> list[str]:
        return [dashed(param.name) for param in (*self.params, *self.options) if param.name]

    def _called(self, given: str) -> list[str]:
        """What people mean by an option: one of ours with that word as its value, or one that they call so."""
        from api.questions.suggestions import CALLED, squeeze

        word = squeeze(given.lstrip("-"))
        valued = [f"{name} {each}" for name, words in self._values.items() for each in words if squeeze(each) == word]
        called = {dashed(name) for table in (CALLED, habits.OPTIONS) for name in habits.called_so(word, table)}
        return valued or [f"--{name}" for name in self._names() if name in called]


def _show_all(ctx: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if is_asked:
        ctx.meta[EVERY_OPTION] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


EVERY_OPTION = "costcalc.every_option"
_HELP_ALL = click.Option(
    ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_show_all, help="Show every option."
)


def output_option() -> click.Option:
    """`-o FILE`: where the answer is written."""
    into = click.File("wb", lazy=True)
    return click.Option(
        ["-o", "--output"], type=into, metavar="FILE", help="Write into FILE; its ending is the format."
    )


def json_option(help: str = "JSON for scripts") -> Callable[[Any], Any]:
    """`--format json` of a command that else prints text, as `form`."""
    kinds = click.Choice(["text", "json"], case_sensitive=False)
    return click.option("--format", "form", type=kinds, default="text", help=help)


def deliver(text: str | bytes, into: BinaryIO | None) -> None:
    """Writes the answer into the file, or prints it."""
    if into is None:
        click.echo(text, nl=False)
    else:
        into.write(text.encode() if isinstance(text, str) else text)


def format_of(into: BinaryIO | None, formats: Collection[str]) -> dict[str, list[str]]:
    """The format that the name of the file ends in, if it is one of these."""
    ending = into.name.rpartition(".")[2].lower() if into else ""
    return {"format": [ending]} if ending in formats else {}


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


def _option(name: str, field: Parameter) -> click.Option:
    from api.questions.fields import Flag

    names, words = [f"--{dashed(name)}", name], list(field.choices)
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
