"""What others ask for an accelerator, and which rates are far off it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from statistics import median

from msgspec import Struct
from msgspec.structs import replace

from costcalc.catalogue.catalogue import Catalogue, OfferFilter
from costcalc.offer import OFF_MARKET, Offer, PurchaseOption

FAR_BELOW, FAR_ABOVE = 5, 20  # times the market's rate: machines with many processors cost much more
FAR_BELOW_OF_SPOT = 20  # spot of AWS ends at a tenth of on demand; one accelerator's rate for all eight is below this
FEWEST = 3  # providers that make a market
NOT_COMPARED = (PurchaseOption.OWNED, PurchaseOption.FREE)
CURRENCIES = ("USD", "EUR", "GBP", "CHF")  # worth about the same beside these


class Market(Struct, frozen=True):
    """By accelerator, the median of the least that each provider asks for one of it by the hour, on demand."""

    medians: Mapping[str, float]

    def flagged(self, offers: Iterable[Offer]) -> tuple[Offer, ...]:
        """The offers, with a flag on those far off the market."""
        marked = []
        for offer in offers:
            usual = self.medians.get(offer.machine.accelerator) if _is_compared(offer) else None
            below = FAR_BELOW_OF_SPOT if offer.purchase_option is PurchaseOption.SPOT else FAR_BELOW
            is_far = usual is not None and not usual / below <= _of_one(offer) <= usual * FAR_ABOVE
            marked.append(replace(offer, flags=(*offer.flags, OFF_MARKET)) if is_far else offer)
        return tuple(marked)

    def comparison(self, offer: Offer) -> str:
        """The rate of an offer beside the market's, in words."""
        accelerator = offer.machine.accelerator
        rate, others = _of_one(offer), self.medians[accelerator]
        return f"{offer.instance_type} at {rate:.2f} an hour and {accelerator}, others ask {others:.2f} in the median"


def market(catalogue: Catalogue, now: datetime) -> Market:
    """The market of the rates current now."""
    rows = catalogue.current_offers(now).listed
    least: dict[str, dict[str, float]] = defaultdict(dict)
    on_demand = OfferFilter(purchase=(PurchaseOption.ON_DEMAND,), regions="all")
    for offer in map(catalogue.offer, catalogue.passing_rows(rows, on_demand).tolist()):
        if _is_compared(offer):
            rates = least[offer.machine.accelerator]
            rates[offer.provider] = min(_of_one(offer), rates.get(offer.provider, _of_one(offer)))
    return Market({name: median(rates.values()) for name, rates in least.items() if len(rates) >= FEWEST})


def _is_compared(offer: Offer) -> bool:
    is_rented = offer.purchase_option not in NOT_COMPARED
    return is_rented and offer.machine.accelerators > 0 and offer.currency in CURRENCIES


def _of_one(offer: Offer) -> float:
    return float(offer.hourly_rate) / offer.machine.accelerators
