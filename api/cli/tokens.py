"""`costcalc tokens`: counts a file of examples on this machine, which nobody is sent."""

from __future__ import annotations

import json
from pathlib import Path

import click
from msgspec.structs import asdict

from api.cli.failing import stop
from api.cli.options import json_option
from costcalc.units import count_in_words
from own_runs.counting import BYTES_PER_TOKEN, Counted, WrongFile, counted

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("file", type=FILE)
@click.option("--tokenizer", type=FILE, help="The model's tokenizer.json, which counts exactly.")
@json_option()
def tokens(file: Path, tokenizer: Path | None, form: str) -> None:
    """Count the examples and tokens of FILE.

    FILE is JSON lines, JSON, CSV or text, of which each line is an example. It is read here and sent nowhere.
    """
    try:
        count = counted(file, tokenizer)
    except WrongFile as error:
        stop(str(error))
    except ImportError:
        stop("--tokenizer needs the package tokenizers: pip install tokenizers")
    click.echo(json.dumps({**asdict(count), "mean": count.mean}) if form == "json" else _in_words(count))


def _in_words(count: Counted) -> str:
    how = f"at {BYTES_PER_TOKEN} bytes a token; --tokenizer counts exactly" if count.by_bytes else "by the tokenizer"
    lengths = f"{count.mean:,.0f} on average, {count.longest:,} the longest"
    ask = f"costcalc cost llama-3.1-8b --method lora --tokens {count.tokens} --length {max(count.longest, 16)}"
    return f"{count.examples:,} examples, {count_in_words(count.tokens)} tokens ({lengths}), {how}.\nNext: {ask}"
