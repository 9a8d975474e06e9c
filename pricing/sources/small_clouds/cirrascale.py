"""Cirrascale's whole servers by the month, cheaper the longer the term, from the public pricing page.

There is no API: the page is read as it is laid out, and a page laid out otherwise is refused. Each option shows a month's
price, its term and the accelerator-hour that comes to at 730 hours a month. In June 2026 the page showed the monthly price
beside the annual rate: where the two disagree by more than a cent an accelerator-hour, the rate by the hour is taken and the
offer flagged `approximate`. An option without a term is left out and named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal

from msgspec import Struct
from msgspec.structs import replace
from selectolax.lexbor import LexborHTMLParser, LexborNode

from costcalc.hardware import Machine
from costcalc.offer import Offer
from pricing.packaged.machine_facts import filled, packaged_machines
from pricing.packaged.names import accelerator
from pricing.packaged.providers import billing
from pricing.sources.common.endpoint import Site, address
from pricing.sources.common.listing import Listing, amount, monthly
from pricing.sources.common.rows import LeftOut, read_rows
from pricing.sources.source import Collected

SOURCE = "Cirrascale pricing page"
PATH = "/pricing"
REGION = "us"
TOLERANCE = Decimal("0.01")  # dollars by the accelerator-hour: the page rounds to cents
TERMS = {"monthly": "1mo", "3 month": "3mo", "3-month": "3mo", "6 month": "6mo", "6-month": "6mo", "annual": "1y"}
TITLE = re.compile(
    r"(?P<count>\d+)\s*x\s+(?:nvidia|amd)\s+(?P<gpu>[^(\s]++(?:\s++[^(\s]++)*+)\s*(?:\((?P<note>[^)]*)\))?",
    re.IGNORECASE,
)
PRICE = re.compile(r"\$([\d,]+(?:\.\d+)?)")
GIGABYTES = re.compile(r"(?<!\d)(\d+)\s*GB", re.IGNORECASE)
TITLE_CLASS = "plan-trigger__text--secondary"


class Option(Struct, frozen=True):
    """A server's price for one term, as the page words it."""

    title: str
    price: str
    duration: str
    hourly: str


def offers(page: str, now: datetime) -> Collected:
    """The page's plans as offers. Each option is a row by itself, so that an odd one doesn't cost its plan the others."""
    servers = (option for option in _options(page) if TITLE.fullmatch(option.title))
    return read_rows("cirrascale", servers, lambda option: _offers(option, now))


def _options(page: str) -> Iterator[Option]:
    """Every option below a title; those of clusters are prices "as low as" and don't count."""
    title = ""
    for node in LexborHTMLParser(page).css(f"div.{TITLE_CLASS}, div.option"):
        if TITLE_CLASS in (node.attributes["class"] or ""):
            title = _text(node)
        elif "cluster" not in title.casefold():
            texts = (_text(node.css_first(f"div.option__{part}")) for part in ("price", "duration", "duration__hr"))
            yield Option(title, *texts)


def _text(node: LexborNode | None) -> str:
    """An element's text without doubled and non-breaking spaces, empty where there is no element."""
    return " ".join(node.text(separator=" ").split()) if node else ""


def _offers(option: Option, now: datetime) -> Iterator[Offer]:
    machine = _machine(option.title)
    term = next((term for text, term in TERMS.items() if text in option.duration.casefold()), None)
    if term is None:
        raise LeftOut("prices whose term is not said left out", f"{option.title} {option.price or option.hourly}")
    hours = billing("cirrascale").hours_in_month
    month, is_exact = _month(option, machine.accelerators * hours)
    kind = f"{machine.accelerators}x {machine.accelerator}"
    packaged = packaged_machines("cirrascale").get(kind)
    offer = Listing("cirrascale", SOURCE, now).offer(REGION, kind, filled(machine, packaged), month / hours)
    yield replace(monthly(offer, month, term), flags=() if is_exact else ("approximate",))


def _machine(title: str) -> Machine:
    named = TITLE.fullmatch(title)
    assert named is not None
    memory = GIGABYTES.search(title)
    name = accelerator("cirrascale", GIGABYTES.sub("", named["gpu"]).strip(), float(memory[1]) if memory else None)
    return Machine(name, int(named["count"]))


def _month(option: Option, accelerator_hours: int) -> tuple[Decimal, bool]:
    """A month of the whole server, of so many accelerator-hours, and whether the page's two figures agree on it.

    Raises LeftOut without a rate."""
    price, hourly = PRICE.search(option.price), PRICE.search(option.hourly)
    if hourly is None:
        raise LeftOut("prices without an accelerator-hour left out", option.price or option.duration)
    each = amount(hourly[1].replace(",", ""))
    if price:
        month = amount(price[1].replace(",", ""))
        if abs(month / accelerator_hours - each) <= TOLERANCE:
            return month, True
    return each * accelerator_hours, False


SPEC = Site("cirrascale", address("COSTCALC_CIRRASCALE_URL", "https://cirrascale.com")).spec(
    lambda api, now: offers(api.text(PATH), now),  # one page shows everything
    label="Cirrascale",
    rates="by the month, for 1, 3, 6 or 12 months",
    cannot_see='clusters of many nodes ("as low as" prices), storage, discounts by quote',
)
