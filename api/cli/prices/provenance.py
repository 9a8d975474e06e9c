"""Where rates come from: who stated each, who brought it here, and who signed the edition that did."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from api.cli.prices.common import rate_in_words
from costcalc.offer import Offer
from pricing.edition_head import EditionHead
from pricing.refresh import EDITION
from pricing.store.store import Store

BROUGHT = {"packaged": "the prices that ship with costcalc"}
DIGITS = 16  # of a key, by which people tell it from others


def of_rates(store: Store, offers: Iterable[Offer], trusted: tuple[str, ...]) -> Iterator[str]:
    """Two lines for each of these rates."""
    brought: defaultdict[tuple[object, ...], list[str]] = defaultdict(list)
    for origin, standing in store.standing().items():
        for offer in standing:
            brought[_sighting(offer)].append(origin)
    signers = "; or ".join(signed_by(head, trusted) for head in store.taken_editions())
    by = BROUGHT | {EDITION: f"a published edition, the last one taken being {signers}"}
    for offer in offers:
        yield rate_in_words(offer)
        origins = brought[_sighting(offer)]
        yield f"  stated by {offer.source}; brought by {_together(origins, by) or 'a source that states it no longer'}"


def signed_by(head: EditionHead, trusted: tuple[str, ...]) -> str:
    """What identifies an edition, and whether its signer is trusted."""
    number = f"number {head.number} " if head.number else ""
    name = f"{number}of {head.made_at:%Y-%m-%d %H:%M} UTC"
    if not head.key:
        return f"{name}, not signed"
    names = "names" if head.key in trusted else "does not name"
    return f"{name}, signed by {head.key[:DIGITS]}..., which COSTCALC_EDITION_TRUSTED {names}"


def _sighting(offer: Offer) -> tuple[object, ...]:
    """An amount seen at a moment."""
    return (*offer.key, offer.hourly_rate, offer.observed_at)


def _together(origins: Iterable[str], by: Mapping[str, str]) -> str:
    return " and ".join(by.get(origin, f"the source {origin}, which was asked here") for origin in origins)
