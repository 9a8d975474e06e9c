"""What answers each question and what the answer looks like, a file for each; `register` has the questions, one row each.

The files are imported when they are named as `forms.cost`: no command waits for what another one needs.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from api.forms import (  # noqa: F401
        accuracy,
        ask,
        changes,
        commitments,
        compare,
        cost,
        estimate,
        every_round,
        fit,
        history,
        mlperf,
        models,
        offers,
        small,
        tasks,
        throughput,
        trend,
    )  # fmt: skip
else:

    def __getattr__(name: str) -> ModuleType:
        """A question's file."""
        return import_module(f"{__name__}.{name}")
