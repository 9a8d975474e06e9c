"""How a command ends when something is wrong: a message on standard error and an exit status."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import click

from api.questions.errors import Refused
from api.questions.suggestions import many
from api.questions.themes import ARGUMENTS, as_options, dashed
from api.settings import BadSetting, Settings, read_settings
from costcalc.text import line

FAILED, WRONG_USE = 1, 2


def settings_of_environment() -> Settings:
    """The settings, or the end of the command with what is wrong with them."""
    try:
        return read_settings(os.environ)
    except BadSetting as error:
        stop(error)


@contextmanager
def stopping_on_faults() -> Iterator[None]:
    """Ends the command with a message where a question is refused, or where prices, store or evidence cannot be used."""
    from costcalc.evidence.tables import TableError
    from pricing.sources import UnknownSource
    from pricing.store.errors import StoreError

    try:
        yield
    except Refused as refused:
        stop(in_terminal(refused))
    except UnknownSource as error:
        stop(error)
    except (StoreError, TableError) as error:
        stop(error, FAILED)


def in_terminal(refused: Refused) -> str:
    """What to mend first, with options and arguments for parameters, and how many others there are."""
    if not refused.errors:
        return as_options(refused.detail)
    name = min(refused.errors, key=lambda name: ARGUMENTS.index(name) if name in ARGUMENTS else len(ARGUMENTS))
    first, *rest = [
        *refused.errors[name],
        *(text for other in refused.errors if other != name for text in refused.errors[other]),
    ]
    ours = name.upper() if name in ARGUMENTS else f"--{dashed(name)}"
    text = as_options(first.replace(f"{name}=", "") if name in ARGUMENTS else first)
    then = [f"Then mend {many(len(rest), 'other')}."] if rest else []
    return "\n".join([f"{ours}{' is' if text.startswith('missing') else ':'} {text}", *then])


@contextmanager
def stopping_without_extras() -> Iterator[None]:
    """Ends the command with what to install where it needs a package of an extra that is not there."""
    try:
        yield
    except ModuleNotFoundError as error:
        extra = _extra_that_brings(error.name or "")
        if not extra:
            raise
        stop(f"this needs the package {error.name}, run: pip install 'costcalc[{extra}]'", FAILED)


def _extra_that_brings(module: str) -> str:
    """The extra of this package; empty where none brings it."""
    from importlib.metadata import requires  # 10 ms that no other command waits for

    top = module.partition(".")[0].casefold()
    for requirement in requires("costcalc") or ():
        named, _, extra = requirement.partition("extra == ")
        package = re.split(r"[^\w-]", named)[0].casefold().replace("-", "_")
        if extra and package != "costcalc" and package.startswith(top):
            return extra.split(extra[0])[1]
    return ""


def stop(message: object, status: int = WRONG_USE) -> NoReturn:
    """Ends the command with a message on standard error, in which names of files and of other people may stand."""
    shown = "\n".join(map(line, str(message).split("\n")))
    click.echo(f"costcalc: {shown}", err=True)
    sys.exit(status)
