"""What a store tells of the rates of a machine, as `/offers/history` reads it."""

from datetime import UTC, datetime
from typing import NamedTuple

from api.forms.history import seen_between
from costcalc.offer import Offer
from pricing.store.store import Store

LAST = datetime(9999, 1, 1, tzinfo=UTC)


class Seen(NamedTuple):
    """One rate: the offer as first observed, and when it was last seen unchanged."""

    offer: Offer
    last_seen_at: datetime


def history(store: Store, instance_type: str) -> list[Seen]:
    """Every rate of a machine type (case ignored) that was ever observed, by offer and then oldest first."""
    catalogue = store.load_history([instance_type])
    found = seen_between(catalogue, {}, LAST)
    rows = zip(found.first.tolist(), found.last.tolist(), strict=True)
    return [Seen(catalogue.offer(first), catalogue.offer(last).observed_at) for first, last in rows]
