"""How much longer plain loops take: rows that name what exists, beside what the newest round published of the same chip."""

import pytest
from support.services import packaged_service

from costcalc.tasks.plain_loops import plain_loops, times_as_long
from costcalc.tasks.tables import results, tasks


def test_each_row_is_of_a_task_and_an_accelerator_that_are_known():
    accelerators = packaged_service().evidence.accelerators
    for loop in plain_loops():
        assert loop.task in tasks()
        assert loop.accelerator in accelerators
        assert loop.samples_per_second > 0
        assert (loop.layers_timed is None) == (loop.layers is None)


def test_it_is_the_ratio_to_the_newest_results_on_one_machine():
    loop, times = times_as_long("stable-diffusion-v2")
    newest = [
        each.passes_per_minute * 1e6 / 60 / each.accelerators
        for each in results()[loop.task]
        if (each.round, each.accelerator, each.nodes) == ("4.1", "H100", 1)
    ]
    assert min(newest) < times * loop.samples_per_second < max(newest)
    assert loop.compilation == "eager"


@pytest.mark.parametrize("task", ["ssd", "gpt3-175b"])
def test_there_is_none_without_a_result_of_that_chip_or_a_loop(task):
    assert times_as_long(task) is None
