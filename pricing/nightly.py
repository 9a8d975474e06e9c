"""What is checked before a night's edition is signed: what moved or ended without an explanation stays as it was, and an edition
whose anchors are off, or that lost too many rates, is not made at all.

A move is explained where the packaged tables state the new rate, or the end, since the last edition: a person wrote that row.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from importlib.resources.abc import Traversable

from msgspec import Struct

from costcalc.catalogue.hands import SEEN_AGAIN
from costcalc.offer import ENDED, Offer, PurchaseOption
from pricing.checks import terms_in_words
from pricing.offer_flags import MARKETPLACE
from pricing.packaged.tables import Row, Table, amount
from pricing.scope import Key

ANCHORS = Table(
    "anchors.csv", "provider region instance_type purchase_option", "hourly_rate currency observed_at source"
)
LARGEST_MOVE = Decimal(1) / 3
LARGEST_SPOT_MOVE = Decimal(2)  # threefold; and no lower than a third
SAME_RATE = Decimal("0.05")  # by which a packaged row may differ from the move that it explains
LARGEST_SHARE_LOST = Decimal("0.05")
LARGEST_SHARE_ENDED = Decimal(1) / 3  # of one source's rates in a night
LARGEST_SHARE_ALIKE = 0.8
FEWEST = 10  # rates of a source of which one can say that they all moved alike
Named = tuple[Key, datetime | None]


class Night(Struct, frozen=True):
    """The rates of an edition, sentences on those that were held back, and why it cannot be signed, if so."""

    offers: tuple[Offer, ...]
    held_back: tuple[str, ...]
    refused: tuple[str, ...]


class Anchor(Struct, frozen=True):
    """A rate that a person looked up."""

    key: Key
    hourly_rate: Decimal
    currency: str

    def fault(self, offer: Offer | None) -> str | None:
        """What is wrong with this offer, which should be about the same."""
        name = " ".join(self.key[:4]).replace("_", " ")
        if offer is None:
            return f"{name} is missing"
        if offer.currency != self.currency or abs(offer.hourly_rate / self.hourly_rate - 1) > LARGEST_MOVE:
            return f"{name} is at {offer.currency} {offer.hourly_rate:f}, not near {self.currency} {self.hourly_rate:f}"
        return None


def read_anchors(folder: Traversable | None = None) -> tuple[Anchor, ...]:
    """The packaged anchors. Raises TableError."""

    def read(row: Row) -> Anchor:
        place = (row.text("provider"), row.text("region"), row.text("instance_type"), row.text("purchase_option"))
        return Anchor((*place, "", "", ""), amount(row, "hourly_rate"), row.text("currency"))

    return tuple(ANCHORS.read(read, folder).values())


def checked(
    before: Iterable[Offer], offers: Iterable[Offer], packaged: Iterable[Offer], anchors: Sequence[Anchor]
) -> Night:
    """The rates of the night after `before`, with what the packaged tables explain."""
    known, new, explained = _by_key(before), _by_key(offers), _by_key(packaged)
    odd = _odd(known, new, explained)
    kept = {name: known[name] if name in odd else offer for name, offer in new.items()}
    kept |= {name: known[name] for name in odd if name not in new}
    standing = {key: offer for (key, ahead), offer in kept.items() if not ahead and ENDED not in offer.flags}
    refused = [fault for anchor in anchors if (fault := anchor.fault(standing.get(anchor.key)))]
    of_before = [key for (key, ahead), offer in known.items() if not ahead and ENDED not in offer.flags]
    lost = [key for key in of_before if key not in standing]
    if len(lost) > LARGEST_SHARE_LOST * len(of_before):
        refused.append(f"{len(lost):,} of {len(of_before):,} rates are lost")
    return Night(tuple(kept.values()), tuple(odd.values()), tuple(refused))


def _by_key(offers: Iterable[Offer]) -> dict[Named, Offer]:
    return {(offer.key, offer.announced_for): offer for offer in sorted(offers, key=lambda offer: offer.observed_at)}


def _odd(
    known: Mapping[Named, Offer], new: Mapping[Named, Offer], explained: Mapping[Named, Offer]
) -> dict[Named, str]:
    """By name, what is odd about an offer beside what was known of it, unless the packaged tables explain that."""
    standing = {name: offer for name, offer in known.items() if ENDED not in offer.flags}
    unexplained = {
        name: before for name, before in standing.items() if not _explains(explained.get(name), before, new.get(name))
    }
    stand = {name: offer for name, offer in new.items() if ENDED not in offer.flags}
    pairs = {name: (before, stand[name]) for name, before in unexplained.items() if name in stand}
    gone = [name for name in unexplained if name not in stand]
    moved = {name: fault for name, pair in pairs.items() if (fault := _move(*pair))}
    alike = _alike_by_source({name: pair for name, pair in pairs.items() if name not in moved})
    return (
        {name: f"{_words(known[name])}: gone, as {of}" for name, of in _gone_together(gone, standing).items()}
        | moved
        | {name: f"{_words(new[name])}: the whole list moved alike" for name in alike}
    )


def _gone_together(gone: Sequence[Named], standing: Mapping[Named, Offer]) -> dict[Named, str]:
    """Those that more than a third of their source's rates went with, with how many went."""
    rates = Counter(map(_source, standing.values()))
    went = Counter(_source(standing[name]) for name in gone)
    together = {source for source, n in went.items() if n > 1 and n > LARGEST_SHARE_ENDED * rates[source]}
    sources = {name: _source(standing[name]) for name in gone}
    return {name: f"{went[of]} of {rates[of]}" for name, of in sources.items() if of in together}


def _alike_by_source(pairs: Mapping[Named, tuple[Offer, Offer]]) -> Iterator[Named]:
    """Those whose source's whole list, or nearly, moved by one factor: a unit or a currency has changed."""
    rates: Counter[str] = Counter()
    moved: dict[tuple[str, Decimal], list[Named]] = defaultdict(list)
    for name, (before, offer) in pairs.items():
        source, ratio = _source(offer), round(_ratio(before, offer), 2)
        if source == _source(before):
            rates[source] += 1
            moved[source, ratio] += [name] if ratio != 1 else []
    for (source, _), together in moved.items():
        if len(together) >= FEWEST and len(together) > LARGEST_SHARE_ALIKE * rates[source]:
            yield from together


def _ratio(before: Offer, offer: Offer) -> Decimal:
    return offer.hourly_rate / before.hourly_rate if before.hourly_rate else Decimal(1)


def _move(before: Offer, offer: Offer) -> str | None:
    """What is odd about the amount of an offer beside the last one of the same source, and about its currency."""
    if offer.currency != before.currency:
        return (
            f"{_words(offer)}: {before.currency} {before.hourly_rate:f} became {offer.currency} {offer.hourly_rate:f}"
        )
    ratio = _ratio(before, offer)
    if offer.purchase_option is PurchaseOption.SPOT or MARKETPLACE in offer.flags:
        is_large = not 1 / (1 + LARGEST_SPOT_MOVE) <= ratio <= 1 + LARGEST_SPOT_MOVE
    else:
        is_large = abs(ratio - 1) >= LARGEST_MOVE
    if _source(offer) != _source(before) or not is_large:
        return None
    return f"{_words(offer)}: {before.hourly_rate:f} to {offer.hourly_rate:f} {offer.currency} ({ratio - 1:+.0%})"


def _explains(packaged: Offer | None, before: Offer, offer: Offer | None) -> bool:
    """Whether a packaged row that is younger than what was known says what the new one says, or that the offer has ended."""
    if packaged is None or packaged.observed_at <= before.observed_at:
        return False
    if offer is None or ENDED in offer.flags:
        return ENDED in packaged.flags
    return packaged.currency == offer.currency and abs(offer.hourly_rate / packaged.hourly_rate - 1) <= SAME_RATE


def _source(offer: Offer) -> str:
    return offer.source.partition(SEEN_AGAIN)[0]


def _words(offer: Offer) -> str:
    return f"{offer.provider} {offer.instance_type} in {offer.region}, {terms_in_words(offer)} ({_source(offer)})"
