"""What others ask for an accelerator, and which rates are far off it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from statistics import median

from msgspec import Struct
from msgspec.structs import replace

from costcalc.catalogue.catalogue import Catalogue, OfferFilter
from costcalc.offers import OFF_MARKET, Offer, PurchaseOption

FAR_BELOW, FAR_ABOVE = 5, 20  # times the market's rate: machines with many processors cost much more
FAR_BELOW_OF_SPOT = 20  # spot of AWS ends at a tenth of on demand; one accelerator's rate for all eight is below this
FEWEST = 3  # providers that make a market
NOT_COMPARED = (PurchaseOption.OWNED, PurchaseOption.FREE)
CURRENCIES = ("USD", "EUR", "GBP", "CHF")  # worth about the same beside these


class Market(Struct, frozen=True):
    """By accelerator, the median of the least that each provider asks for one of it by the hour, on demand."""

    medians: Mapping[str, float]

    def flagged(self, offers: Iterable[Offer]) -> tuple[Offer, ...]:
        """The offers, those far off the market flagged so."""
        return tuple(
            replace(offer, flags=(*offer.flags, OFF_MARKET)) if self._is_far_off(offer) else offer for offer in offers
        )

    def told(self, offer: Offer) -> str:
        """What such an offer asks, and the others."""
        accelerator = offer.machine.accelerator
        asked, others = _of_one(offer), self.medians[accelerator]
        return f"{offer.instance_type} at {asked:.2f} an hour and {accelerator}, others ask {others:.2f} in the median"

    def _is_far_off(self, offer: Offer) -> bool:
        asked = self.medians.get(offer.machine.accelerator)
        if asked is None or not _is_compared(offer):
            return False
        below = FAR_BELOW_OF_SPOT if offer.purchase_option is PurchaseOption.SPOT else FAR_BELOW
        return not asked / below <= _of_one(offer) <= asked * FAR_ABOVE


def market(catalogue: Catalogue, now: datetime) -> Market:
    """The market of the rates current now."""
    rows = catalogue.current_offers(now).listed
    least: dict[str, dict[str, float]] = defaultdict(dict)
    on_demand = OfferFilter(purchase=(PurchaseOption.ON_DEMAND,), regions="all")
    for offer in map(catalogue.offer, catalogue.passing_rows(rows, on_demand).tolist()):
        if _is_compared(offer):
            asked = least[offer.machine.accelerator]
            asked[offer.provider] = min(_of_one(offer), asked.get(offer.provider, _of_one(offer)))
    return Market({name: median(asked.values()) for name, asked in least.items() if len(asked) >= FEWEST})


def _is_compared(offer: Offer) -> bool:
    return (
        bool(offer.machine.accelerators) and offer.purchase_option not in NOT_COMPARED and offer.currency in CURRENCIES
    )


def _of_one(offer: Offer) -> float:
    return float(offer.hourly_rate) / offer.machine.accelerators
