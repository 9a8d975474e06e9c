"""Which packaged sources are first hand: the provider's own page, archived or copied, its own project, or its own answer.

What somebody else collected, composed or typed is second hand, even where it names the provider's page: nobody can look up any
more what stood there on that day. Where two of them state the same amount, they vouch for it, but for those that have it from a
third party: the column `copies` names it, or is `unknown`.
"""

from __future__ import annotations

from importlib.resources.abc import Traversable

from msgspec import Struct
from msgspec.structs import replace

from costcalc.offer import COPIED, SECOND_HAND, Offer
from pricing.packaged.tables import Row, Table

PRICE_SOURCES = Table("price_sources.csv", "source", "hand copies what")


class Hands(Struct, frozen=True):
    """How the sources of first-hand rates start, and those that have their rates from a third party."""

    first: tuple[str, ...]
    copied: tuple[str, ...]

    def flagged(self, offer: Offer) -> Offer:
        """The offer, flagged as second hand unless its source is first hand."""
        flags = self.flags(offer.source)
        return replace(offer, flags=(*offer.flags, *flags)) if flags else offer

    def flags(self, source: str) -> tuple[str, ...]:
        """The flags of a source's offers: none of first hand."""
        if source.startswith(self.first):
            return ()
        return (SECOND_HAND, COPIED) if source.startswith(self.copied) else (SECOND_HAND,)


def read_hands(folder: Traversable | None = None) -> Hands:
    """Which sources are first hand, and which are copies. Raises TableError."""

    def read(row: Row) -> tuple[bool, str | None]:
        hand = row.text("hand")
        if hand not in ("first", "second"):
            raise ValueError(f"hand {hand!r} is neither first nor second")
        return hand == "first", row.maybe("copies")

    rows = PRICE_SOURCES.read(read, folder)
    first = tuple(start for (start,), (is_first, _) in rows.items() if is_first)
    return Hands(first, tuple(start for (start,), (_, copies) in rows.items() if copies))
