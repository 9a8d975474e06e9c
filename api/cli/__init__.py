"""The terminal. A command with a file of its own is imported when it is named, as `cli.watch`."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from api.cli import log, mcp, measure, prices, recipes, settings, tokens, watch  # noqa: F401
else:

    def __getattr__(name: str) -> ModuleType:
        """The file of a command."""
        return import_module(f"{__name__}.{name}")
