"""How many requests one visitor may send: counted for each token, and for each address where none is sent."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from math import ceil

from limits import RateLimitItem, parse
from limits.aio.storage import Storage
from limits.aio.strategies import SlidingWindowCounterRateLimiter
from limits.storage import storage_from_string

log = logging.getLogger("costcalc")


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who asks: a digest of the token, or the address from which the request came."""

    name: str

    @classmethod
    def of(cls, address: str, headers: Mapping[bytes, bytes]) -> Visitor:
        """By the Authorization header, else by the address."""
        token = headers.get(b"authorization")
        return cls(blake2b(token, digest_size=12).hexdigest() if token else address)


class RateLimit:
    """A limit such as "600/minute" over a sliding window; None limits nobody.

    Several servers count together where `redis_url` is set. Nobody is refused while Redis is away.
    """

    def __init__(self, limit: str | None, redis_url: str | None = None) -> None:
        self._item: RateLimitItem | None = parse(limit) if limit else None
        self._counter = SlidingWindowCounterRateLimiter(_storage(redis_url))

    async def seconds_to_wait(self, visitor: Visitor) -> int:
        """0 where the visitor may ask now, else the seconds until it may."""
        if self._item is None:
            return 0
        try:
            if await self._counter.hit(self._item, visitor.name):
                return 0
            window = await self._counter.get_window_stats(self._item, visitor.name)
        except Exception as error:  # noqa: BLE001  the storage's own errors differ by library
            log.warning("requests are not limited, for the counts cannot be read: %s", error)
            return 0
        return max(1, ceil(window.reset_time - time.time()))


def _storage(redis_url: str | None) -> Storage:
    """Counts in Redis, or in this process."""
    if redis_url is None:
        return storage_from_string("async+memory://")  # type: ignore[return-value]
    return storage_from_string(f"async+{redis_url}", implementation="redispy")  # type: ignore[return-value]
