"""What people type who know other tools: `--json`, `--gpu h100`, `costcalc list`. What has one meaning is understood."""

from __future__ import annotations

import re

OPTIONS = {
    "explain": "verbose v details why",
    "output": "out outfile outputfile file",
    "limit": "n",
    "nodes": "n",
    "provider": "p",
    "purchase": "p",
}
"""Other words for options, beside those that every surface knows."""
COMMANDS = {
    "cost": "estimate calculate costs train",
    "offers": "rates price gpus machines instances",
    "models": "list ls networks",
}
"""Other words for commands."""
INSTEAD = {
    "quiet": "write 2>/dev/null behind the command",
    "nocolor": "set NO_COLOR=1",
    "color": "a terminal has colours unless NO_COLOR is set",
    "update": "costcalc prices refresh reads new rates",
    "upgrade": "pip install --upgrade costcalc",
    "login": "there is no login: costcalc settings lists what may be set",
    "config": "costcalc settings lists what may be set",
}
"""What to do where nothing of ours is called so."""


def called_so(word: str, table: dict[str, str]) -> list[str]:
    """Our names for what people call so."""
    return [name for name, words in table.items() if word in words.split()]


def is_option(word: str) -> bool:
    """`--gpu` and `-v`, but no number, and no mark of standard input."""
    return re.fullmatch(r"-[a-z]|--[a-z][a-z0-9_-]*", word, re.IGNORECASE) is not None
