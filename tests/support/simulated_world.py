"""A simulated world around a store: price sources in the place of the network, and a Redis that may be away."""

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from random import Random

from fakes.edition import KEY
from support.prices import offer

from costcalc.offer import Offer
from pricing import editions
from pricing.edition_head import EditionHead
from pricing.refresh import EDITION
from pricing.scope import Scope
from pricing.sources.running import Outcome
from pricing.sources.source import Collected, SourceSpec

LISTED = ("aws", "gcp")
PUBLISHED = "azure"  # whose rates come in editions
REGIONS = 4
TRUSTED = (editions.public_key(KEY),)
LIES = 500, 2000  # times the true rate; none repeats, since what does for a day is taken over
Key = tuple[str, str]  # provider and region
Rates = dict[Key, Decimal]


class Sources:
    """The true rates of the day, and what the source that is asked next answers."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.rates = {(name, f"region-{at}"): Decimal(3 + at) for name in (*LISTED, PUBLISHED) for at in range(REGIONS)}
        self.answer = Outcome("", 0, None)
        self.editions: dict[bytes, Rates] = {}
        self.newest: EditionHead | None = None

    def ask_all(self, _: list[SourceSpec], *__: object) -> Iterator[Outcome]:
        """In the place of the network."""
        yield self.answer

    def of(self, name: str) -> Rates:
        return {key: rate for key, rate in self.rates.items() if key[0] == name}

    def a_day_passes(self) -> None:
        for key, rate in self.rates.items():
            self.rates[key] = (rate * Decimal(self.chance.uniform(0.9, 1.1))).quantize(Decimal("0.0001"))

    def lie(self, rate: Decimal) -> Decimal:
        """Far too much, far too little, or more than any store can keep."""
        factor = Decimal(self.chance.uniform(*LIES))
        absurd = rate * 10 ** self.chance.randrange(10, 40)
        return Decimal(f"{self.chance.choice([rate * factor, rate / factor, absurd]):.6f}")

    def lists(self, name: str, rates: Rates, moment: datetime, whole: tuple[Scope, ...] = ()) -> None:
        self.answer = Outcome(name, 0.1, Collected(tuple(offers(rates, moment)), whole=whole))

    def fails(self, name: str, reason: str, seconds: float = 0.1, late: bool = False) -> None:
        self.answer = Outcome(name, seconds, None, reason, late)

    def publishes(self, now: datetime) -> bytes:
        """The next edition, of the true rates."""
        rates = self.of(PUBLISHED)
        content = editions.make(offers(rates, now), now, KEY, self.newest)
        self.newest = editions.read(content, TRUSTED, now).head
        self.editions[content] = rates
        return content

    def sends(self, content: bytes, now: datetime) -> EditionHead | None:
        """An edition, as its source reads it; None where that refuses it."""
        try:
            edition = editions.read(content, TRUSTED, now)
        except editions.NoEdition as error:
            self.fails(EDITION, str(error))
            return None
        rates = tuple(map(edition.rates.offer, range(len(edition.rates))))
        self.answer = Outcome(EDITION, 0.1, Collected(rates, edition=edition.head))
        return edition.head


def offers(rates: Rates, moment: datetime) -> list[Offer]:
    return [offer(str(rate), moment, provider=name, region=region) for (name, region), rate in rates.items()]


class Redis:
    """Remembers keys for all workers while it is there."""

    def __init__(self) -> None:
        self.is_away, self.keys = False, set[str]()

    def add(self, key: str, _: int, __: int) -> bool:
        if self.is_away:
            raise ConnectionError("Connection refused")
        is_new = key not in self.keys
        self.keys.add(key)
        return is_new
