"""`costcalc prices sources` says what every source is, from its own description."""

import pytest
from click.testing import CliRunner

from api.cli.main import main
from pricing.sources import SOURCES


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
