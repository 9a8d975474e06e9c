import pytest
from support.speeds import rate, recipe

from costcalc.throughput.rates import bits, own_rates, precision_class, training_rate
from costcalc.training import IMAGES_PER_EPOCH, Evaluation, Phase


def test_a_rate_that_counts_evaluation_is_raised_by_its_share():
    assert training_rate(rate(1000)) == 1000
    assert training_rate(rate(1000, includes_evaluation=True)) == pytest.approx(1006)


@pytest.mark.parametrize(
    ("stated", "as_class", "in_bits"),
    [
        ("amp", "16bit", "16bit"),
        ("fp16", "16bit", "16bit"),
        ("bf16", "16bit", "16bit"),
        ("tf32", "tf32", "32bit"),
        ("fp32", "fp32", "32bit"),
        (None, None, None),
    ],
)
def test_precisions_that_run_alike(stated, as_class, in_bits):
    assert (precision_class(stated), bits(stated)) == (as_class, in_bits)


TWO_SIZES = (Phase(128, 0, 3), Phase(256, 3, 4))


def test_rates_of_every_phase_are_the_recipes_own():
    phases = (Phase(128, 0, 3, 900.0), Phase(256, 3, 4, 300.0))
    assert own_rates(recipe(phases=phases, images_per_second=500)) == [900.0, 300.0]


def test_a_rate_for_some_phases_alone_says_nothing():
    assert own_rates(recipe(phases=(Phase(128, 0, 3, 900.0), Phase(256, 3, 4)))) == []
    assert own_rates(recipe()) == []


def test_a_mean_is_shared_out_so_that_the_whole_takes_as_long():
    small, large = own_rates(recipe(phases=TWO_SIZES, images_per_second=600))
    assert small / large == pytest.approx(2**1.6)
    assert 3 / small + 1 / large == pytest.approx(4 / 600)


def test_a_mean_whose_clock_counts_evaluation_is_of_less_training():
    """Four epochs at 600 images/s took 10 % longer with evaluation: training alone ran 10 % faster."""
    phases = tuple(Phase(p.image_size, p.from_epoch, p.to_epoch, None) for p in TWO_SIZES)
    plain = recipe(phases=phases, images_per_second=600)
    counting = recipe(phases=phases, images_per_second=600, clock="training+evaluation")
    assert own_rates(counting)[0] == pytest.approx(own_rates(plain)[0] * counting.clock_factor)
    assert counting.clock_factor > 1


def test_mlperf_states_no_mean_to_share_out():
    assert own_rates(recipe(phases=TWO_SIZES, images_per_second=600, tuned_to=0.759)) == []


def test_a_log_tells_how_much_longer_its_clock_ran():
    hours = 10 * IMAGES_PER_EPOCH / 1000 / 3600
    phases = (Phase(224, 0, 12, 1000.0),)
    logged = recipe(phases=phases, clock="training+evaluation", evaluations=(Evaluation(10, 1.1 * hours, 0.7, None),))
    assert logged.clock_factor == pytest.approx(1.1)
