"""Completion in shells: the script that each shell loads, and the names that values complete to."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click
from click.shell_completion import get_completion_class

from api.settings import BadSetting, read_settings

VARIABLE = "_COSTCALC_COMPLETE"
COMMAND = "costcalc"


def script(shell: str, commands: click.Command) -> str:
    """The script by which this shell asks `costcalc` for completions."""
    shells = get_completion_class(shell)
    if shells is None:
        raise click.BadParameter(f"no completion is known for {shell}")
    return shells(commands, {}, COMMAND, VARIABLE).source()


def names_of(parameter: str) -> Sequence[str]:
    """The names that a parameter takes, as one word each; none where the tables or the store cannot be read."""
    from api.bootstrap import CannotStart, build_once

    try:
        service = build_once(read_settings(os.environ))
    except (BadSetting, CannotStart):
        return ()
    if parameter == "model":
        return sorted(service.evidence.models)
    return one_word(getattr(service.names(service.catalogue()), parameter, ()))


def one_word(names: Sequence[str]) -> list[str]:
    """Names as a shell takes them for one word: `RTX-3090` means the same as `RTX 3090`. Commas would part a name."""
    return [name.replace(" ", "-") for name in names if "," not in name]
