"""What a store knows becomes the next packaged edition, which gives the same answers."""

import csv
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace
from pytest_httpserver import HTTPServer
from support.engine import answer
from support.prices import LATER, NOW, listed, offer
from support.recorded_sources import RECORDED
from support.stores import packaged_edition

from api.cli.main import main
from costcalc.catalogue.catalogue import Catalogue
from costcalc.evidence import load_evidence
from costcalc.offer import Offer
from costcalc.query import EstimateQuery
from pricing.export import export
from pricing.packaged import catalogue as packaged
from pricing.packaged.offers import EDITION, read_packaged
from pricing.packaged.tables import packaged_folder
from pricing.store.store import Store

CLOUDS = ("digitalocean", "lambda", "oci", "runpod", "vast", "verda", "vultr")
TONIGHT = NOW + timedelta(hours=12)


@pytest.fixture
def store(filled_url: str) -> Store:
    return Store(filled_url)


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader((folder / name).read_text().splitlines()))


def current(offers: tuple[Offer, ...]) -> set[Offer]:
    """What is current tonight, whichever source said it."""
    held = Catalogue.from_offers(offers, "")
    return {held.offer(row) for row in held.current_offers(TONIGHT).listed.tolist()}


@pytest.mark.timeout(600)
def test_an_edition_of_refreshed_clouds_gives_the_same_answers(
    store: Store, httpserver: HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in CLOUDS:
        httpserver.clear()
        RECORDED[name].serve(httpserver)
        store.publish(listed(name, *RECORDED[name].collect(httpserver.url_for("")).offers), NOW)
    folder = tmp_path / "edition"
    told = list(export(store.all_offers(), folder, NOW))
    assert [line for line in told if line.startswith("lambda: ")]
    exported = read_packaged(folder)
    assert current(exported.offers) == current(store.all_offers())

    monkeypatch.setattr(packaged, "packaged_folder", lambda: folder)
    monkeypatch.setattr(packaged, "packaged_digest", lambda: exported.digest)
    monkeypatch.delattr(packaged, "read_packaged")  # the compact copy is read
    edition, live, evidence = packaged.packaged_catalogue(), store.load_current(), load_evidence()
    for asked in ({"regions": "all"}, {"provider": ("lambda",)}, {"available": True}, {"sort": "time"}):
        query = EstimateQuery("resnet50", 0.757, limit=200, **asked)
        one, other = (answer(query, evidence, prices, TONIGHT) for prices in (edition, live))
        assert one.estimates == other.estimates
        assert one.estimates


def test_rows_of_the_present_edition_stay_as_they_are(store: Store, tmp_path: Path) -> None:
    assert list(export(store.all_offers(), tmp_path, NOW)) == ["Nothing is new."]
    for table in EDITION:
        assert (tmp_path / table.name).read_bytes() == (packaged_folder() / table.name).read_bytes()


def test_the_difference_is_told_in_words(store: Store, tmp_path: Path) -> None:
    of_p5 = [one for one in packaged_edition().offers if one.instance_type == "p5.48xlarge" and not one.term]
    known = max(of_p5, key=lambda one: one.observed_at)
    dearer = replace(known, hourly_rate=known.hourly_rate * 2, observed_at=NOW, source="AWS price list", flags=())
    new = offer(region="moon-1", source="AWS price list")
    store.publish(listed("aws", dearer, new), NOW)
    store.publish(listed("aws", dearer), LATER)
    told = list(export(store.all_offers(), tmp_path, LATER))
    assert told[0] == "aws: 1 new offers, 1 other rates, 0 ended"
    assert f"{known.hourly_rate:.4f} to {dearer.hourly_rate:.4f} USD an hour (+100.0%)" in told[1]
    judged = {row["source"]: row["hand"] for row in rows(tmp_path, "price_sources.csv")}
    assert judged["AWS price list"] == "first"
    [row] = [row for row in rows(tmp_path, "offers.csv") if row["region"] == "moon-1"]
    assert (row["hourly_rate"], row["observed_at"], row["source"]) == ("3.06", "2026-11-20T12:00:00Z", "AWS price list")


def test_what_breaks_a_rule_is_left_out_and_named(store: Store, tmp_path: Path) -> None:
    store.publish(listed("aws", offer(region="moon-1", machine=replace(offer().machine, accelerator="Z900"))), NOW)
    told = list(export(store.all_offers(), tmp_path, NOW))
    assert "unknown accelerator 'Z900'" in told[0]
    assert not [row for row in rows(tmp_path, "offers.csv") if row["region"] == "moon-1"]


def test_the_command_leaves_out_what_is_not_public(
    store: Store, filled_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.publish(listed("sheet", offer("0.48", provider="mine", source="our contract")), NOW)
    store.publish(listed("aws", offer("2.4", region="mars-1")), NOW)
    store.publish(listed("azure", offer("2.5", region="moon-1")), NOW)
    monkeypatch.setenv("COSTCALC_DATABASE_URL", filled_url)
    done = CliRunner().invoke(main, ["prices", "export", str(tmp_path / "edition")])
    assert (done.exit_code, done.output) == (0, "aws: 1 new offers, 0 other rates, 0 ended\n")
    held = rows(tmp_path / "edition", "offers.csv")
    assert not [row for row in held if row["provider"] == "mine" or row["region"] == "mars-1"]
    assert [Decimal(row["hourly_rate"]) for row in held if row["region"] == "moon-1"] == [Decimal("2.5")]
