"""Questions about dates that the snapshot in memory does not know are answered from the store's segments."""

import shutil
from datetime import timedelta

import pytest
from support.prices import NOW, listed, offer
from support.services import service_of

from api.stored import FixedPrices
from api.web.app import create_app
from costcalc.offer import PurchaseOption
from pricing.store import publish as publishing
from pricing.store.errors import StoreUnavailable
from pricing.store.store import Store

DAY = timedelta(days=1)
DAYS = 60


@pytest.fixture(scope="module")
def sixty_days(tmp_path_factory):
    """The folder of a store with a rate a day, of which only the last few are in memory."""
    folder = tmp_path_factory.mktemp("sixty_days")
    store = Store(f"sqlite:///{folder}/prices.sqlite3")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(publishing, "ROWS_IN_A_BOOK", 10)
        for day in range(DAYS):
            now = NOW + (day - DAYS) * DAY
            spot = offer("1", now, purchase_option=PurchaseOption.SPOT)
            store.publish(listed("aws", offer(str(day + 2), now), spot), now)
    return folder


@pytest.fixture
def store(sixty_days, tmp_path):
    shutil.copytree(sixty_days, tmp_path, dirs_exist_ok=True)
    return Store(f"sqlite:///{tmp_path}/prices.sqlite3")


@pytest.fixture
def client(store):
    return create_app(service_of(FixedPrices(store.load_current(), lambda: store))).test_client()


def rate(document):
    return [row["hourly_rate"] for row in document["offers"] if row["purchase_option"] == "on_demand"]


def day(number):
    return f"{NOW + (number - DAYS) * DAY:%Y-%m-%dT%H:%M:%SZ}"


def test_the_rates_of_any_date_are_known(client, store):
    assert not store.load_current().knows(NOW - DAYS * DAY)
    for number in (0, 7, 31, DAYS - 1):
        assert rate(client.get(f"/offers?as_of={day(number)}").json) == [number + 2]


def test_changes_and_history_go_back_as_far(client):
    [change] = client.get(f"/offers/changes?since={day(3)}&as_of={day(40)}&purchase=on_demand").json["changes"]
    assert (change["previous_hourly_rate"], change["hourly_rate"]) == (5, 42)
    history = client.get("/offers/history?instance_type=p3.2xlarge&purchase=on_demand").json
    assert [row["hourly_rate"] for row in history["history"]] == [number + 2 for number in range(DAYS)]


def test_an_estimate_at_a_date_rests_on_the_rates_of_that_date(client):
    def rates(number):
        found = client.get(f"/cost?model=resnet50&target=0.757&purchase=on_demand&as_of={day(number)}").json[
            "estimates"
        ]
        return {row["hourly_rate"] for row in found}

    assert rates(4) == {6}
    assert rates(DAYS - 1) == {DAYS + 1}


def test_a_store_out_of_reach_costs_only_the_dates_before(store):
    def gone():
        raise StoreUnavailable("down")

    client = create_app(service_of(FixedPrices(store.load_current(), gone))).test_client()
    assert client.get("/offers").status_code == 200
    refused = client.get(f"/offers?as_of={day(3)}")
    assert (refused.status_code, "earlier prices cannot be read" in refused.json["detail"]) == (503, True)
