"""An estimate under its flat names: each reads the part of the type that it states, and JSON writes them in their order."""

from typing import ClassVar, get_args, get_origin, get_type_hints

import msgspec
import pytest
from fakes.offers import DAY, offer
from support.engine import answer

from api.formats.json import to_json
from costcalc.answers import Estimate
from costcalc.catalogue.catalogue import Catalogue
from costcalc.flat import NAMES, flat
from costcalc.query import EstimateQuery


@pytest.mark.parametrize("name", NAMES)
def test_a_name_reads_a_figure_of_its_type(name):
    _, (path,) = vars(Estimate)[name].fget.__reduce__()
    kind = Estimate
    for part in path.split("."):
        hints = get_type_hints(kind if part != "parts" else Estimate.__init__)
        kind = get_args(hints[part])[0] if get_origin(hints[part]) is ClassVar else hints[part]
    assert kind == get_type_hints(Estimate)[name]


def test_json_has_the_figures_flat_and_in_order(packaged_evidence):
    prices = Catalogue.from_offers([offer()], "made up")
    (estimate,) = answer(EstimateQuery("resnet50", 0.757, nodes=1, limit=1), packaged_evidence, prices, DAY).estimates
    written = msgspec.json.decode(to_json({"estimate": estimate}))["estimate"]
    assert tuple(written) == NAMES
    assert (written["hours_low"], written["provider"]) == (estimate.hours_low, estimate.provider)
    assert repr(flat(estimate)).startswith("Estimate(rank=1, frontier=True, provider=")
