"""A run whose speed nobody reaches, or falls so far below, was read by another measure than its owner's."""

from datetime import UTC, date, datetime

import pytest
from msgspec.structs import replace
from support.services import packaged_service

from own_runs.adding import implausible
from own_runs.runs import CurvePoint, Run

NOW = datetime(2026, 11, 20, tzinfo=UTC)
RUN = Run(
    "mine", "resnet50", "imagenet", "top1", False, (CurvePoint(1.0, 100.0, 0.5),), "A100-80GB", 8, 1, 2048, 1_281_167, 20_000.0,
    date(2026, 11, 20), NOW, "log.csv", "0", "CSV",
)  # fmt: skip


@pytest.mark.parametrize(
    ("speed", "changed", "asked"),
    [
        (20_000.0, {}, False),
        (0.4267, {}, True),  # steps that are epochs
        (6_000_000.0, {}, True),
        (0.4267, {"model": "mine"}, False),
        (0.4267, {"accelerator": "some processor"}, False),
        (1_444_000.0, {"model": "mine", "dataset": "mine"}, True),  # so many images are ImageNet's
        (
            1_444_000.0,
            {"model": "mine", "dataset": "mine", "samples_per_epoch": 60_000},
            False,
        ),  # those of MNIST are small
        (1_444_000.0, {"model": "mine", "dataset": "mine", "samples_per_epoch": 60_001, "data_set_gb": 100.0}, True),
        (9e9, {"model": "mine", "dataset": "mine", "samples_per_epoch": 60_001}, True),
    ],
)
def test_what_no_card_was_measured_at_is_asked_about(speed, changed, asked):
    told = implausible(replace(RUN, samples_per_second=speed, **changed), packaged_service().evidence)
    assert bool(told) == asked
    if told:
        assert "does the log count epochs or batches" in told
