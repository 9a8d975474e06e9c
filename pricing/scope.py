"""What a source read completely: offers no longer listed there have ended."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

Key = tuple[str, ...]  # as `Offer.key` gives it


class Scope(Struct, frozen=True):
    """The part of a source's offers that it read to the end. None stands for all there are.

    `apart_from` are instance types that it listed but could not read; nothing follows from their absence. `read_at` is when the
    part was as it was read, where that is not now: what it lacks had ended by then, and nothing is known since.
    """

    provider: str | None = None
    regions: frozenset[str] | None = None
    purchase_options: frozenset[str] | None = None
    terms: frozenset[str] | None = None
    apart_from: frozenset[str] = frozenset()
    read_at: datetime | None = None

    def holds(self, key: Key) -> bool:
        """Whether an offer with this key belongs to the part."""
        provider, region, instance_type, option, term = key[:5]
        return (
            self.provider in (None, provider)
            and (self.regions is None or region in self.regions)
            and (self.purchase_options is None or option in self.purchase_options)
            and (self.terms is None or term in self.terms)
            and instance_type not in self.apart_from
        )

    def without(self, instance_types: frozenset[str]) -> Scope:
        """This part without these instance types."""
        return replace(self, apart_from=self.apart_from | instance_types)


EVERYTHING = Scope()
