"""How many requests one visitor may send: by its token, or by its address."""

from __future__ import annotations

import logging
import time
from math import ceil

from limits import RateLimitItem, parse
from limits.aio.storage import Storage
from limits.aio.strategies import SlidingWindowCounterRateLimiter
from limits.storage import storage_from_string

from api.web.asker import Access, visitor_of
from api.web.serving.request import Request

log = logging.getLogger("costcalc")


class RateLimit:
    """A limit such as "600/minute" over a sliding window; None limits nobody.

    Several servers count together where `redis_url` is set. Nobody is refused while Redis is away.
    """

    def __init__(self, limit: str | None, access: Access, redis_url: str | None = None) -> None:
        self._item: RateLimitItem | None = parse(limit) if limit else None
        self._access = access
        self._counter = SlidingWindowCounterRateLimiter(_storage(redis_url))

    async def seconds_to_wait(self, request: Request) -> int:
        """0 where its visitor may ask now, else the seconds until it may."""
        if self._item is None:
            return 0
        parsed = request.parsed()
        visitor = visitor_of(parsed, self._access.token_of(parsed, look=False))
        try:
            if await self._counter.hit(self._item, visitor):
                return 0
            window = await self._counter.get_window_stats(self._item, visitor)
        except Exception as error:  # noqa: BLE001  the storage's own errors differ by library
            log.warning("requests are not limited, for the counts cannot be read: %s", error)
            return 0
        return max(1, ceil(window.reset_time - time.time()))


def _storage(redis_url: str | None) -> Storage:
    """Counts in Redis, or in this process."""
    if redis_url is None:
        return storage_from_string("async+memory://")  # type: ignore[return-value]
    return storage_from_string(f"async+{redis_url}", implementation="redispy")  # type: ignore[return-value]
