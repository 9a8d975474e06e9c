"""`costcalc prices sources` says what every source is, from its own description; copies of a store come back."""

import pytest
from click.testing import CliRunner

from api.cli.main import main
from pricing.sources import SOURCES
from pricing.store.store import Store


def said(*words):
    return CliRunner().invoke(main, ["prices", "sources", *words])


def test_every_source_is_listed_and_nothing_is_cut_off():
    listed = said()
    assert listed.exit_code == 0
    assert "…" not in listed.output
    assert [name for name in SOURCES if f"\n{name}: " not in f"\n{listed.output}"] == []


@pytest.mark.parametrize("name", SOURCES)
def test_one_source_is_described_with_its_settings(name):
    described = said(name)
    spec = SOURCES[name]
    assert described.exit_code == 0
    wanted = [spec.label, spec.rates, spec.needs, spec.cannot_see, *(each.variable for each in spec.settings)]
    assert [text for text in wanted if text not in described.output] == []


def test_an_unknown_source_is_wrong_use_and_the_nearest_is_named():
    refused = said("lamda")
    assert (refused.exit_code, "did you mean lambda?" in refused.output) == (2, True)


def test_a_copy_of_a_store_without_prices_comes_back_and_is_called_that(monkeypatch, tmp_path):
    url, copy = f"sqlite:///{tmp_path}/prices.sqlite3", str(tmp_path / "copy.sqlite3")
    monkeypatch.setenv("COSTCALC_DATABASE_URL", url)
    Store(url)
    done = [CliRunner().invoke(main, ["prices", *words]) for words in (["backup", copy], ["restore", copy])]
    assert [each.exit_code for each in done] == [0, 0]
    assert "again, in which no refresh has stored prices\n" in done[1].output
    assert "the old store is kept as" in done[1].output
