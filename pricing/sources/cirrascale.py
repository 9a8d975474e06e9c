"""Cirrascale: whole servers by the month, cheaper the longer the term, from the public pricing page.

Needs no permission. There is no API: the page is read as it is laid out, and a page laid out otherwise is refused.
Cannot see: clusters of many nodes ("as low as" prices by the accelerator-hour), storage, discounts by quote. The page gives
a month's price and the accelerator-hour it comes to, at 730 hours a month; where the two disagree, the rate by the hour is
taken and flagged `approximate`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from html.parser import HTMLParser

from costcalc.hardware import Machine
from costcalc.offers import Offer, PurchaseOption
from pricing.packaged.machine_facts import filled, packaged_machines
from pricing.packaged.names import accelerator
from pricing.sources.common.amounts import amount, monthly
from pricing.sources.common.endpoint import Endpoint, Site
from pricing.sources.common.http import Http
from pricing.sources.common.rows import LeftOut, read_rows
from pricing.sources.source import Collected, Environment, SchemaChanged, SourceSpec

SOURCE = "Cirrascale pricing page"
SITE = Site("cirrascale", "COSTCALC_CIRRASCALE_URL", "https://cirrascale.com")
PATH = "/pricing"
REGION = "us"
HOURS_IN_MONTH = 730
TOLERANCE = Decimal("0.01")  # dollars by the accelerator-hour: the page rounds to cents
TERMS = {"monthly": "1mo", "3 month": "3mo", "3-month": "3mo", "6 month": "6mo", "6-month": "6mo", "annual": "1y"}
TITLE = re.compile(r"(?P<count>\d+)\s*x\s+(?:nvidia|amd)\s+(?P<gpu>[^(]+?)\s*(?:\((?P<note>[^)]*)\))?", re.IGNORECASE)
PRICE = re.compile(r"\$([\d,]+(?:\.\d+)?)")
GIGABYTES = re.compile(r"(\d+)\s*GB", re.IGNORECASE)
FIELDS = {
    "plan-trigger__text--secondary": "title",
    "option": "option",
    "option__price": "price",
    "option__duration": "duration",
    "option__duration__hr": "hourly",
}


@dataclass
class Option:
    """The texts of one term of a plan."""

    price: str = ""
    duration: str = ""
    hourly: str = ""


@dataclass
class Plan:
    """The texts of one plan."""

    title: str = ""
    options: list[Option] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Cirrascale:
    """The source: one page."""

    api: Endpoint

    def collect(self, now: datetime) -> Collected:
        """Every server's ladder of terms. Raises SourceError."""
        return offers(self.api.text(PATH), now)


class _Page(HTMLParser):
    """Collects the texts that stand in the elements of a plan, whatever lies between them."""

    def __init__(self) -> None:
        super().__init__()
        self.plans: list[Plan] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Notes which part of a plan opens."""
        if tag != "div":
            return
        classes = (dict(attrs).get("class") or "").split()
        part = next((FIELDS[name] for name in classes if name in FIELDS), "")
        self._open.append(part)
        if part == "title":
            self.plans.append(Plan())
        elif part == "option" and self.plans:
            self.plans[-1].options.append(Option())

    def handle_endtag(self, tag: str) -> None:
        """Closes the innermost part."""
        if tag == "div" and self._open:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        """Adds the text to the part it stands in."""
        part = next((part for part in reversed(self._open) if part), "")
        if part == "title":
            self.plans[-1].title += data
        elif part in ("price", "duration", "hourly") and self.plans and self.plans[-1].options:
            option = self.plans[-1].options[-1]
            setattr(option, part, (getattr(option, part) + " " + data).strip())


def offers(page: str, now: datetime) -> Collected:
    """The page's plans as offers."""
    reader = _Page()
    reader.feed(page)
    if not reader.plans:
        raise SchemaChanged("cirrascale: the pricing page shows no plans as it used to")
    return read_rows("cirrascale", _steps(reader.plans), lambda step: _offers(step[0], step[1], now))


def _steps(plans: Iterable[Plan]) -> Iterator[tuple[str, Option]]:
    """Each option by itself, so that an odd one doesn't cost its plan the others. Clusters and other goods don't count."""
    for plan in plans:
        title = " ".join(plan.title.split())
        if TITLE.fullmatch(title) and "cluster" not in title.casefold():
            yield from ((title, option) for option in plan.options)


def _offers(title: str, option: Option, now: datetime) -> Iterator[Offer]:
    machine = _machine(title)
    if machine is None:
        return
    term = _term(title, option)
    month, is_exact = _month(option, machine.accelerators)
    kind = f"{machine.accelerators}x {machine.accelerator}"
    rate = month / HOURS_IN_MONTH
    known = packaged_machines("cirrascale").get(kind)
    offer = Offer("cirrascale", REGION, kind, filled(machine, known), PurchaseOption.MONTHLY, rate, now, SOURCE)
    yield replace(monthly(offer, month, HOURS_IN_MONTH, term), flags=() if is_exact else ("approximate",))


def _machine(title: str) -> Machine | None:
    """None for an accelerator of which there are no figures."""
    read = TITLE.fullmatch(title)
    assert read is not None
    memory = GIGABYTES.search(title)
    name = accelerator("cirrascale", GIGABYTES.sub("", read["gpu"]).strip(), float(memory[1]) if memory else None)
    return Machine(name, int(read["count"])) if name else None


def _term(title: str, option: Option) -> str:
    for text, term in TERMS.items():
        if text in option.duration.casefold():
            return term
    raise LeftOut("prices whose term is not said left out", f"{title} {option.price or option.hourly}")


def _month(option: Option, count: int) -> tuple[Decimal, bool]:
    """A month of the whole server, and whether the page's two figures agree on it. Raises LeftOut without a rate."""
    price, hourly = PRICE.search(option.price), PRICE.search(option.hourly)
    if hourly is None:
        raise LeftOut("prices without an accelerator-hour left out", option.price or option.duration)
    each = amount(hourly[1].replace(",", ""))
    if price:
        month = amount(price[1].replace(",", ""))
        if abs(month / HOURS_IN_MONTH / count - each) <= TOLERANCE:
            return month, True
    return each * count * HOURS_IN_MONTH, False


def _build(environment: Environment, http: Http) -> Cirrascale:
    return Cirrascale(SITE.open(environment, http))


SPEC = SourceSpec("cirrascale", "Cirrascale", _build, SITE.settings, SITE.secrets)
