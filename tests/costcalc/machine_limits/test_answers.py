"""What the limits make of answers."""

from datetime import UTC, datetime

import pytest
from support.engine import answer

from costcalc.query import EstimateQuery
from pricing.packaged.catalogue import packaged_catalogue

NOW = datetime(2026, 11, 20, tzinfo=UTC)


@pytest.fixture(scope="module")
def ask(packaged_evidence):
    catalogue = packaged_catalogue()

    def ask(model="resnet18", target=0.69, **parameters):
        query = EstimateQuery(model, target, **{"nodes": 1, "limit": 1000, "purchase": ("on_demand",), **parameters})
        return answer(query, packaged_evidence, catalogue, NOW).estimates

    return ask


def test_a_published_run_is_not_limited_on_its_own_machine(ask):
    own = {"recipes": "all", "recipe": ("ffcv-rn50-32ep",), "instance_type": ("p4d.24xlarge",), "overheads": "none"}
    (alone,), (whole,) = (ask("resnet50", 0.757, pipeline=pipeline, **own) for pipeline in ("none", "pytorch"))
    assert (whole.hours, whole.limited_by) == (alone.hours, "accelerator")
    assert not any("pipeline" in sentence for sentence in whole.assumptions)


def test_four_vcpus_do_not_feed_an_l40s(ask):
    few, many = (ask(instance_type=(f"g6e.{size}xlarge",))[0] for size in ("", "16"))
    assert (few.limited_by, many.limited_by) == ("host", "accelerator")
    assert few.images_per_second < 0.8 * many.images_per_second
    assert any(sentence.startswith("Data pipeline ffcv: ") for sentence in few.assumptions)
    (alone,) = ask(instance_type=("g6e.xlarge",), pipeline="none")
    assert alone.limited_by == "accelerator"
    assert alone.images_per_second == pytest.approx(many.images_per_second, rel=0.02)


def test_slower_pipelines_are_never_faster(ask):
    speeds = {}
    for pipeline in ("none", "ffcv", "pytorch"):
        found = ask(recipe=("ffcv-rn18-32ep",), recipes="all", confidence=0.01, pipeline=pipeline)
        speeds[pipeline] = {(one.provider, one.instance_type, one.region): one.images_per_second for one in found}
    for machine, speed in speeds["none"].items():
        assert speeds["ffcv"][machine] <= speed * (1 + 1e-9)
        assert speeds["pytorch"][machine] <= speed * (1 + 1e-9)


def test_a_set_that_does_not_fit_the_memory_is_read_from_disk(ask):
    (found,) = ask(instance_type=("p3.2xlarge",))
    assert found.limited_by == "storage"
    assert any("each epoch reads them from gp3 at 125 MB/s" in sentence for sentence in found.assumptions)
    assert found.hours_high / found.hours > found.hours / found.hours_low * 0.9


def test_the_vcpus_beside_a_tpu_feed_nothing(ask):
    found = ask("resnet50", 0.757, provider=("gcp",), accelerator=("TPU v6e",), max_price_age=2000)
    assert found
    assert {one.limited_by for one in found} == {"accelerator"}
