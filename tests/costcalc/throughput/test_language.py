"""The laws of language models against published rates, organisations left out, and by hand."""

import math
from statistics import median

import pytest
from msgspec.structs import replace

from costcalc.evidence import load_evidence
from costcalc.evidence.language import find_language_network, language_networks, language_rates
from costcalc.throughput.language.law import Share, TokenLaw, Usual
from costcalc.throughput.language.memory import card_gib, most_sequences, needed_gib, shards
from costcalc.throughput.language.networks import LanguageNetwork, TokenWork
from science.validation.calculators import lines, rivals
from science.validation.language import token_cases
from science.validation.stated_hours import whole_language_runs

CHIPS = load_evidence().accelerators
LAW = TokenLaw(language_rates(), CHIPS)
LLAMA = find_language_network("llama-2-7b")


@pytest.fixture(scope="module")
def cases():
    return dict(token_cases(CHIPS))


@pytest.mark.parametrize(
    ("name", "most", "least_inside", "most_inside"),
    [
        ("pretraining, organisation left out", 0.21, 0.75, 0.92),
        ("all fine-tuning, organisation left out", 0.32, 0.75, 0.92),
        ("memory of fine-tuning", 0.16, 0.9, 1),
    ],
)
def test_medians_and_ranges_of_organisations_left_out(cases, name, most, least_inside, most_inside):
    of = cases[f"language models, {name}"]
    errors = [abs(case.error) for case in of]
    inside = sum(error <= case.half_widths[0] for error, case in zip(errors, of, strict=True)) / len(of)
    assert len(of) > 50
    assert math.expm1(median(errors)) <= most
    assert least_inside <= inside <= most_inside
    assert median(errors) < median(abs(case.baseline_error) for case in of)


def test_calculators_are_further_off_on_the_same_rows():
    scored = {each.name: each for each in rivals(CHIPS)}
    for each in scored.values():
        ours, formula, ftuneai = (
            median(map(abs, errors)) if errors else math.inf for errors in (each.ours, each.formula, each.ftuneai)
        )
        assert ours < min(formula, ftuneai), each.name
    assert {name for name, each in scored.items() if not each.ftuneai} == {"pretraining"}
    assert len(list(lines([*scored.values()]))) == len(scored) + 1


def test_whole_pretrainings_take_longer_than_rates_say_and_the_range_reaches_there():
    runs = list(whole_language_runs(CHIPS))
    inside = sum(abs(case.error) <= case.half_widths[0] for case in runs) / len(runs)
    assert len(runs) == 25
    assert 0.75 <= inside <= 0.92
    assert math.exp(-median(case.error for case in runs)) == pytest.approx(1.8, abs=0.05)  # what a verdict says
    work = TokenWork(LLAMA, "pretrain", 2048)
    assert LAW.rate(work, CHIPS["H100"], 8).slower > LAW.rate(work, CHIPS["H100"], 8).width


def shares(stack, factor, organisation="a", chip="H100"):
    return [
        Share(organisation, chip, stack, hidden, math.log(factor * hidden / (hidden + 300)))
        for hidden in (500, 900, 4000)
    ]


def test_width_is_learned_within_an_organisation_and_stacks_where_a_chip_has_two():
    usual = Usual.of_shares([*shares("plain", 0.32), *shares("tuned", 0.5, "b"), *shares("tuned", 0.9, "c", "TPU v4")])
    assert usual.half_hidden == 300
    assert usual.of_stack == {"any": 1, "plain": pytest.approx(0.8), "tuned": pytest.approx(1.25)}
    alone = Usual.of_shares(shares("plain", 0.32))
    assert alone.of_stack == {"any": 1, "plain": 1, "tuned": 1}
    assert Usual.of_shares([]).half_hidden == 0


def test_chips_without_tf32_compute_slowly_in_32_bits():
    def rate(chip, precision):
        work = TokenWork(find_language_network("gpt2"), "pretrain", 1024, precision=precision)
        return LAW.rate(work, CHIPS[chip], 1).tokens_per_second

    assert rate("A100-80GB", "fp32") / rate("A100-80GB", "bf16") == pytest.approx(0.4)
    assert rate("V100", "fp32") / rate("V100", "bf16") == pytest.approx(1 / 8)


def test_arithmetic_of_a_token_by_hand():
    """6 x 6.738e9 + 6 x 32 x 4096 x 2048: 42.0 GFLOP; frozen and recomputed 6 x 6.738e9 + 8 x 32 x 4096 x 2048."""
    assert LLAMA.flop_per_token(2048, is_frozen=False, is_recomputed=False) == pytest.approx(42.04e9, rel=1e-3)
    assert LLAMA.flop_per_token(2048, is_frozen=True, is_recomputed=True) == pytest.approx(42.58e9, rel=1e-3)


def test_memory_by_hand():
    """QLoRA of Llama 2 7B, one sequence of 512: 0.71 x 6.738e9 + 2 x 2 x 32000 x 4096 + 512 x (4096 x 98 + 32000 x 12) bytes."""
    states, activations = 0.71 * 6.738e9 + 4 * 32000 * 4096, 512 * (4096 * (2 * 32 + 34) + 32000 * 12)
    assert needed_gib(TokenWork(LLAMA, "qlora", 512), 1) == pytest.approx(1.2 * (states + activations) / 2**30 + 1)


def test_no_published_row_needs_a_larger_card_than_is_said():
    """Of those whose activations are recomputed, as ours are."""
    rows = [rate for rate in language_rates() if rate.memory_gib and rate.recomputed and rate.accelerator in CHIPS]
    cards = {chip.memory_gib for chip in CHIPS.values() if chip.memory_gib}
    for rate in rows:
        parts = shards(rate.work, rate.accelerators or 1, CHIPS[rate.accelerator].memory_gib)
        said = card_gib(replace(rate.work, network=find_language_network(rate.model)), rate.micro_batch, parts)
        assert not [card for card in cards if said <= card < rate.memory_gib], rate
    assert len(rows) > 60


@pytest.mark.parametrize(
    ("name", "method", "length", "chip", "fits"),
    [  # as their papers and guides say
        ("llama-2-7b", "qlora", 512, "T4", True),
        ("llama-2-7b", "lora", 512, "RTX 4090", True),
        ("llama-2-7b", "full", 512, "A100-80GB", False),
        ("llama-2-7b", "lora", 512, "T4", False),
        ("llama-2-70b", "qlora", 512, "A100-80GB", True),
        ("llama-2-70b", "qlora", 512, "RTX 4090", False),
        ("llama-2-13b", "lora", 512, "RTX 4090", False),
    ],
)
def test_what_fits(name, method, length, chip, fits):
    work = TokenWork(find_language_network(name), method, length)
    assert bool(most_sequences(work, 1, CHIPS[chip].memory_gib)) is fits


def test_what_no_chip_computes_is_refused():
    work = TokenWork(LLAMA, "pretrain", 2048, precision="fp8")
    assert LAW.rate(work, CHIPS["A100-80GB"], 8) is None
    assert LAW.rate(work, CHIPS["H100"], 8).tokens_per_second > 40_000


def test_more_is_never_slower():
    one, eight = (LAW.rate(TokenWork(LLAMA, "lora", 1024), CHIPS["H100"], many).tokens_per_second for many in (1, 8))
    assert one < eight <= 8 * one
    mixture = LanguageNetwork.of_size("any", 47_000, 13_000, None)
    assert mixture.is_mixture
    assert LAW.rate(TokenWork(mixture, "lora", 1024), CHIPS["H100"], 8) is not None


def test_every_model_is_found_by_its_name_its_hub_name_and_its_others():
    for each in language_networks().values():
        for word in (each.name, each.hub, *(each.also or "").split()):
            assert find_language_network(word) is each, word
        assert (
            0.2
            < each.active_millions / (12 * each.layers * each.hidden**2 / 1e6 + each.vocabulary * each.hidden / 1e6)
            < 3
        )
