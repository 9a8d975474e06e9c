"""The packaged table `rate_moves.csv`: how far rates move after they were seen."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from importlib.resources.abc import Traversable

from costcalc.rate_moves import Moves, Moving, RateMoves
from pricing.packaged.tables import Row, Table, day

RATE_MOVES = Table(
    "rate_moves.csv", "providers purchase_option generation days", "moves of_providers fall expected rise since"
)
Figures = tuple[float, float, float]
JUST_SEEN = 0, (0.0, 0.0, 0.0)


@cache
def rate_moves(folder: Traversable | None = None) -> RateMoves:
    """All that is known. Raises TableError, naming file and line."""
    since = max(RATE_MOVES.read(lambda row: day(row, "since"), folder).values())
    known: dict[Moving, list[tuple[int, Figures]]] = defaultdict(lambda: [JUST_SEEN])
    for (kind, option, generation, _), moved in RATE_MOVES.read(_moved, folder).items():
        known[kind, option, generation].append(moved)
    moves = {}
    for name, by_days in known.items():
        days, figures = zip(*sorted(by_days), strict=True)
        moves[name] = Moves(days, *zip(*figures, strict=True))
    return RateMoves(moves, since)


def _moved(row: Row) -> tuple[int, Figures]:
    return row.integer("days"), (row.number("fall"), row.number("expected"), row.number("rise"))
