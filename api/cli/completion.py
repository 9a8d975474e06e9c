"""Completion in shells: the names that values complete to. Click itself prints the script that a shell loads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

import click
from click.shell_completion import CompletionItem

from api.settings import BadSetting, read_settings


def completer(name: str, words: Sequence[str] = ()) -> Callable[..., list[CompletionItem]]:
    """Completes a parameter's value: one of these words, or of the names that the parameter takes."""

    def complete(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
        return [CompletionItem(completion) for completion in completions(words or names_of(name), begun)]

    return complete


def completions(names: Sequence[str], begun: str) -> Iterator[str]:
    """The known words that start so; of several with commas the last is completed."""
    before, comma, last = begun.rpartition(",")
    return (f"{before}{comma}{word}" for word in names if word.casefold().startswith(last.casefold()))


def names_of(parameter: str) -> Sequence[str]:
    """The names that a parameter takes, as one word each; none where the tables or the store cannot be read."""
    from api.bootstrap import build_once
    from costcalc.evidence.tables import TableError
    from pricing.store.errors import StoreError

    try:
        service = build_once(read_settings(os.environ))
    except (BadSetting, StoreError, TableError):
        return ()
    if parameter == "model":
        return sorted(service.evidence.models)
    if parameter == "sources":
        return service.sources
    return one_word(getattr(service.names(service.catalogue()), parameter, ()))


def one_word(names: Sequence[str]) -> list[str]:
    """Names as a shell takes them for one word: `RTX-3090` means the same as `RTX 3090`. Commas would part a name."""
    return [name.replace(" ", "-") for name in names if "," not in name]
