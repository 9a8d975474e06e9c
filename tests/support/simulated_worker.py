"""A worker of a simulated server: it answers over its application, from the store and from its memory."""

import json
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal

from support.engine import MEMORY, evidence
from support.simulated_world import Rates

from api.service import Service
from api.settings import Settings
from api.stored import StoredRuns, StoredSignIns, WatchedPrices
from api.web.app import create_app
from pricing.store.store import Store
from pricing.store.worker_catalogue import WorkerCatalogue

NEVER = 1e6
MOST = 100


class Worker:
    def __init__(self, url: str, clock: Callable[[], datetime]) -> None:
        self.catalogue = WorkerCatalogue(lambda: Store(url), clock, poll_seconds=NEVER)
        runs, sign_ins = StoredRuns(self.catalogue), StoredSignIns(self.catalogue)
        prices = WatchedPrices(self.catalogue)
        service = Service(evidence(), prices, clock, runs=runs, sign_ins=sign_ins, memory=MEMORY)
        self.client = create_app(service, Settings()).test_client()

    def rates(self, moment: datetime | None = None) -> Rates:
        """What it says of now, or of a moment."""
        asked = {"limit": str(MOST)} | ({"as_of": moment.isoformat()} if moment else {})
        answer = self.client.get("/offers", query_string=asked, headers={"Accept": "application/json"})
        assert answer.status_code == 200, answer.text
        listed = json.loads(answer.data, parse_float=Decimal, parse_int=Decimal)["offers"]
        return {(row["provider"], row["region"]): row["hourly_rate"] for row in listed}

    def close(self) -> None:
        self.catalogue.close()
