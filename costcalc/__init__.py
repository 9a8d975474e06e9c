"""What training a model to an accuracy costs and how long it takes: the engine, and the public names.

`cost`, `ask`, `compare` and the like answer as HTTP does; they are made in `api.python` and only named here.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from api.python import CostAnswer, Refused, Reply, Session, ask, commitments, compare, cost, offers, session, trend
    from costcalc.answers import Answer
    from costcalc.catalogue.catalogue import Catalogue
    from costcalc.estimate import answer
    from costcalc.evidence import load_evidence
    from costcalc.query import EstimateQuery

    __version__: str

_ANSWERS = (
    "CostAnswer", "Refused", "Reply", "Session",
    "ask", "commitments", "compare", "cost", "offers", "session", "trend",
)  # fmt: skip
_HOMES = {
    "Answer": "costcalc.answers",
    "Catalogue": "costcalc.catalogue.catalogue",
    "EstimateQuery": "costcalc.query",
    "answer": "costcalc.estimate",
    "load_evidence": "costcalc.evidence",
    **dict.fromkeys(_ANSWERS, "api.python"),
}
__all__ = [
    "Answer", "Catalogue", "CostAnswer", "EstimateQuery", "Refused", "Reply", "Session",
    "answer", "ask", "commitments", "compare", "cost", "load_evidence", "offers", "session", "trend",
]  # fmt: skip


def __dir__() -> list[str]:
    """What one may call, and nothing that this module needs itself."""
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    """A public name, imported from its module at its first use: `import costcalc` alone costs nothing."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name != "__version__":
        raise AttributeError(f"module 'costcalc' has no attribute {name!r}")
    from importlib.metadata import version  # 20 ms that a question from a terminal need not wait for

    return version("costcalc")
