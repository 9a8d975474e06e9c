"""Packaged prices enter a store once, and each edition of them corrects the one before."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from support.histories import history
from support.prices import LATER, NOW, listed, offer
from support.stores import packaged_edition

from costcalc.catalogue.catalogue import Catalogue
from pricing.packaged.networks import CLUSTERS, NETWORKS
from pricing.packaged.offers import CHANGES, FREE_TIERS, OWNED
from pricing.packaged.price_sources import PRICE_SOURCES
from pricing.store.changes import By
from pricing.store.store import Store

DAY = timedelta(days=1)


@pytest.fixture
def edition(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "instance_types.csv").write_text(
        "provider,instance_type,accelerator,accelerators,accelerator_memory_gib,vcpus,memory_gib,source\n"
        "aws,p3.2xlarge,V100,1,16,8,61,x\n"
    )
    (folder / "providers.csv").write_text(
        "provider,family,name,page,billing_increment_seconds,minimum_seconds,hours_in_month,source,observed_on\n"
        "aws,,AWS,,1,60,730,x,2026-11-20\n"
    )
    for table in (CHANGES, OWNED, FREE_TIERS, PRICE_SOURCES, NETWORKS, CLUSTERS):
        (folder / table.name).write_text(",".join(table.columns) + "\n")
    write_offers(folder, "3.06,2018-04-26", "3.00,2019-01-01")
    return folder


def write_offers(folder: Path, *rates: str) -> None:
    header = (
        "provider,region,instance_type,purchase_option,term,payment,offering_class,upfront,recurring_hourly,monthly,"
        "hours_in_month,currency,parts,effective_from,source,flags,hourly_rate,observed_at\n"
    )
    rows = [f"aws,us-east-1,p3.2xlarge,on_demand,,,,,,,,USD,,,x,,{rate}\n" for rate in rates]
    (folder / "offers.csv").write_text(header + "".join(rows))


def rates(store: Store) -> list[str]:
    return [str(seen.offer.hourly_rate) for seen in history(store, "p3.2xlarge")]


def test_a_filled_store_holds_the_packaged_prices(filled_url: str) -> None:
    packaged, held = packaged_edition(), Store(filled_url).load_current()
    assert len(held) == len(packaged.offers)
    direct = Catalogue.from_offers(packaged.offers, "direct")
    assert np.array_equal(np.sort(held.columns.hourly), np.sort(direct.columns.hourly))


def test_an_empty_store_is_filled_once_however_many_workers_start(store_url: str, edition: Path) -> None:
    def start(_: int) -> str:
        return Store(store_url).fill(NOW, edition)

    with ThreadPoolExecutor(4) as workers:
        names = set(workers.map(start, range(4)))
    assert len(names) == 1
    assert len(Store(store_url).load_current()) == 2


def test_a_newer_edition_is_merged_once_and_corrects_the_older(store: Store, edition: Path) -> None:
    first = store.fill(NOW, edition)
    assert store.fill(LATER, edition) == first
    store.publish(listed("aws", offer("2.5")), NOW)
    write_offers(edition, "3.06,2018-04-26", "3.05,2019-01-01", "2.90,2020-01-01")
    second = store.fill(LATER, edition)
    assert second != first
    assert rates(store) == ["3.06", "3.05", "2.9", "2.5"]
    assert len(store.load_current()) == 4
    assert store.fill(LATER, edition) == second


def test_a_packaged_rate_that_was_withdrawn_stays_so_in_the_next_edition(store: Store, edition: Path) -> None:
    store.fill(NOW, edition)
    [wrong] = store.standing_offers("packaged")
    assert len(store.withdraw("packaged", frozenset([wrong.key]), By("anna", NOW)).ended) == 1
    write_offers(edition, "3.06,2018-04-26", "3.00,2019-01-01", "2.90,2020-01-01")
    store.fill(LATER, edition)
    assert store.standing_offers("packaged") == ()
    catalogue = store.load_current()
    assert [len(catalogue.current_offers(moment, 36_500).rows) for moment in (NOW - DAY, LATER)] == [1, 0]


def test_an_older_edition_started_again_changes_nothing(store: Store, edition: Path) -> None:
    store.fill(NOW, edition)
    write_offers(edition, "3.06,2018-04-26")
    store.fill(NOW, edition)
    write_offers(edition, "3.06,2018-04-26", "3.00,2019-01-01")
    store.fill(NOW, edition)
    assert rates(store) == ["3.06"]
