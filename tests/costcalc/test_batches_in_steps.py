"""What does not fit an accelerator's memory: batches are taken in steps, and it is said; networks are refused."""

from math import ceil

import pytest
from fakes.offers import DAY, offer
from msgspec.structs import replace
from support.engine import answer

from costcalc.catalogue.catalogue import Catalogue
from costcalc.hardware import Machine
from costcalc.query import EstimateQuery
from costcalc.training import Metric

ALIBABA = {"metric": Metric.TOP5, "recipe": ("dawnbench-alibaba-rn50-16xgn6e",), "recipes": "all"}
TWINS = ("V100", "V100-32GB")


def machine(accelerator, accelerators=8):
    sold = Machine(accelerator, accelerators, network_gbits_per_second=100.0, most_machines=16)
    return offer(instance_type=accelerator, machine=sold)


@pytest.fixture
def found(ask):
    """By accelerator the estimate of a recipe, on machines that differ in their memory alone."""

    def found(*accelerators, target=0.93, **asked):
        prices = Catalogue.from_offers(map(machine, accelerators), "made up")
        estimates = ask(target, prices=prices, as_of=DAY, overheads="none", **asked).estimates
        return {one.accelerator: one for one in estimates}

    return found


def split(estimate):
    """The words and figures of the sentence on steps: batch, steps, images."""
    return [sentence for sentence in estimate.assumptions if sentence.startswith("Batch ")]


def figures(estimate):
    [sentence] = split(estimate)
    words = sentence.replace(",", "").split()
    return tuple(int(words[words.index(before) + 1]) for before in ("Batch", "into", "most"))


def test_a_batch_too_large_for_the_memory_is_taken_in_steps(found):
    small, large = map(found(*TWINS, nodes=4, **ALIBABA).get, TWINS)
    assert small.global_batch_size == large.global_batch_size == 32_768
    (batch, steps, images), (_, fewer, more) = figures(small), figures(large)
    assert batch == 32_768
    share = batch // 32
    assert (images, more) == (ceil(share / steps), ceil(share / fewer))
    assert steps == 2 * fewer > 2
    assert small.epochs == large.epochs
    assert small.train_hours > 1.001 * large.train_hours


def test_a_batch_that_fits_is_not_mentioned(found):
    for one in found(*TWINS, target=0.757, recipe=("ffcv-rn50-16ep",), recipes="all", nodes=1).values():
        assert split(one) == []


def test_a_batch_that_nobody_published_is_called_taken(found):
    asked = {"recipe": ("nvidia-mxnet-resnet50-v100x8-fp32-90ep",), "recipes": "all", "nodes": 1}
    [sentence] = split(found("T4", target=0.757, **asked)["T4"])
    assert sentence.startswith("Batch 2,048 (assumed; none was published) is split into 2 steps of at most 128 images")


def test_on_a_machine_like_its_own_a_recipe_holds_its_batch_as_it_did(found):
    asked = {"recipe": ("nvidia-pytorch-resnet50-v100x8-fp32-90ep",), "recipes": "all", "nodes": 1}
    both = found("V100", "T4", target=0.757, **asked)
    assert (split(both["V100"]), len(split(both["T4"]))) == ([], 1)


def test_a_network_larger_than_the_memory_is_refused(packaged_evidence):
    def ask(memory_gib):
        fitted = packaged_evidence.fitted
        sheets = fitted.reference.data_sheets
        small = replace(sheets.accelerators["V100"], memory_gib=memory_gib)
        sheets = replace(sheets, accelerators={**sheets.accelerators, "V100": small})
        reference = replace(fitted.reference, data_sheets=sheets)
        evidence = replace(packaged_evidence, fitted=replace(fitted, reference=reference))
        query = EstimateQuery("resnet152", 0.75, as_of=DAY)
        return answer(query, evidence, Catalogue.from_offers([machine("V100", 1)], "made up"), DAY)

    holds, full = ask(16.0), ask(0.5)
    assert (holds.count, holds.rejections.get("does_not_fit_memory")) == (1, None)
    assert (full.count, full.rejections.get("does_not_fit_memory")) == (0, 1)
    assert "batch_too_small" not in full.rejections
