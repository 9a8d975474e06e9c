"""What reports share: the question that they answer, and the part of a long list that is shown, with what that leaves out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from msgspec.structs import replace

from api.questions.values import Values
from api.reports.unused import unused

if TYPE_CHECKING:
    from api.service import Service
    from costcalc.answers import Answer
    from costcalc.catalogue.catalogue import Catalogue
    from costcalc.query import EstimateQuery


V = TypeVar("V")


class Sliced(Protocol):
    """What has a number of rows, and parts."""

    def __len__(self) -> int: ...

    def __getitem__(self, part: slice, /) -> Any: ...


L = TypeVar("L", bound="Sliced")


@dataclass(frozen=True)
class OfQuery:
    """One question to one service about one snapshot; nothing is computed before it is asked for."""

    service: Service
    catalogue: Catalogue
    query: EstimateQuery

    def ask(self, **changes: Any) -> Answer:
        """The answer to the question with these changes."""
        return self.service.answer(replace(self.query, **changes), self.catalogue)

    def sweep(self, name: str, values: Iterable[V], **changes: Any) -> Iterator[tuple[V, Answer]]:
        """The same question of several values of a parameter: each with its answer, asked when it is looked at."""
        return ((value, self.ask(**{name: value, **changes})) for value in values)

    def in_vain(self) -> Iterator[str]:
        """What the question states that changes nothing of its answer, in sentences."""
        return unused(self.query, lambda query: [self.service.answer(query, self.catalogue)])

    @property
    def rest(self) -> Rest | None:
        """The rows that a list leaves out; None for what is no list."""
        return None


class Rest(NamedTuple):
    """The rows behind those that an answer shows: the `offset` of the first of them, and the `total` of rows that there are."""

    offset: int
    total: int

    def __str__(self) -> str:
        return f"{self.total - self.offset:,} of {self.total:,} rows are left out here. The next row has offset={self.offset}."


def paged(rows: L, values: Values, default_limit: int | None = None) -> tuple[L, int, Rest | None]:
    """The rows that `offset` and `limit` ask for, all the rest without a limit, asked for or by default; how many there are; and
    what the page leaves out behind it."""
    start, limit, total = values.get("offset", 0), values.get("limit", default_limit), len(rows)
    end = total if limit is None else start + limit
    page: L = rows[start:end]
    return page, total, Rest(end, total) if end < total else None
