"""A sentence that asks another question is told the command that answers it, and that command answers."""

import shlex

import pytest
from click.testing import CliRunner
from support.services import packaged_service

from api.cli.main import main

SERVICE = packaged_service()


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("what accuracy does 50 dollars get me with resnet50",
         "the highest accuracy that money or time buys: ask costcalc accuracy resnet50 --budget 50"),
        ("how accurate can resnet18 get in 2 hours on aws",
         "the highest accuracy that money or time buys: ask costcalc accuracy resnet18 --max-hours 2 --provider aws"),
        ("is it worth reserving an A100 to train resnet50 to 76%",
         "whether to commit: ask costcalc commitments resnet50 0.76 --accelerator A100"),
        ("how has the price of training resnet50 changed",
         "how the price of training has changed: ask costcalc trend resnet50"),
        ("largest batch of resnet50 on a 3090", "which batch fits: ask costcalc fit resnet50 --accelerator 'RTX 3090'"),
        ("cheapest training on an H100 in europe",
         "the rates of machines alone: ask costcalc offers --region europe --accelerator H100"),
    ],
)  # fmt: skip
def test_it_is_told_and_answers(sentence, told):
    assert SERVICE.understand(sentence, SERVICE.catalogue()).asked[0] == told
    command = shlex.split(told.partition("costcalc ")[2])
    assert CliRunner().invoke(main, command).exit_code == 0


@pytest.mark.parametrize(
    "sentence",
    [
        "resnet50 to 76% accuracy under $50",
        "which cloud is cheapest for resnet50 at 75.7%",
        "resnet50 76% on aws reserved 1y",
        "how much for resnet 50 at 76% on h100s?",
        "vgg16 70% with a savings plan",
    ],
)
def test_what_a_training_costs_is_sent_nowhere_else(sentence):
    assert not [each for each in SERVICE.understand(sentence, SERVICE.catalogue()).asked if "ask costcalc" in each]
