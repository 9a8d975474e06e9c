"""An answer as an Atom feed (RFC 4287) of one entry, so that a reader tells when it is another one or costs less than a sum."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from xml.etree.ElementTree import Element, SubElement, tostring

from api.formats import words
from costcalc.answers import Answer

NAMESPACE = "http://www.w3.org/2005/Atom"


@dataclass(frozen=True, slots=True)
class Feed:
    """The answer that is watched, the addresses of its page, of the page as it is at this moment, and of the feed, and whether it
    is to be told."""

    answer: Answer
    page: str
    kept: str
    address: str
    is_told: bool


def written(feed: Feed) -> bytes:
    """The feed. Its entry has another identity where what to rent, its cost or its rate is another one."""
    query, told = feed.answer.query, feed.answer.picks and feed.is_told
    updated = f"{feed.answer.lead.sources.price.observed_at if told else feed.answer.prices.as_of:%Y-%m-%dT%H:%M:%SZ}"
    root = Element("feed", xmlns=NAMESPACE)
    _add(root, title=f"{query.model} to {words.goal(query)}", id=feed.address, updated=updated)
    SubElement(root, "link", rel="self", href=feed.address)
    SubElement(SubElement(root, "author"), "name").text = "costcalc"
    if told:
        each, (first, *further) = feed.answer.lead, feed.answer.verdict
        parts = repr((query, each.provider, each.region, each.instance_type, each.billed_cost, updated)).encode()
        entry = SubElement(root, "entry")
        identity = f"{feed.page}#{blake2b(parts, digest_size=8).hexdigest()}"
        _add(entry, title=first, id=identity, updated=updated, summary=" ".join(further))
        SubElement(entry, "link", rel="alternate", type="text/html", href=feed.kept)
    return bytes(tostring(root, encoding="utf-8", xml_declaration=True))


def _add(element: Element, **texts: str) -> None:
    for name, text in texts.items():
        SubElement(element, name).text = text
