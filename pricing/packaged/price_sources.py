"""Which packaged sources are first hand: the provider's own page, archived or copied, its own project, or its own answer.

What somebody else collected, composed or typed is second hand, even where it names the provider's page: nobody can look up any
more what stood there on that day.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.resources.abc import Traversable

from costcalc.offers import SECOND_HAND, Offer
from pricing.packaged.tables import Row, Table

PRICE_SOURCES = Table("price_sources.csv", "source", "hand what")


def first_hand_sources(folder: Traversable | None = None) -> tuple[str, ...]:
    """How the sources of first-hand rates start. Raises PackagedTableError."""
    return tuple(start for (start,), said in PRICE_SOURCES.read(_is_first_hand, folder).items() if said)


def with_hand(offer: Offer, first_hand: tuple[str, ...]) -> Offer:
    """The offer, flagged as second hand unless its source starts like one of these."""
    return offer if offer.source.startswith(first_hand) else replace(offer, flags=(*offer.flags, SECOND_HAND))


def _is_first_hand(row: Row) -> bool:
    hand = row.text("hand")
    if hand not in ("first", "second"):
        raise ValueError(f"hand {hand!r} is neither first nor second")
    return hand == "first"
