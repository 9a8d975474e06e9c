"""Words that the terminal, Slack and the page share."""

import pytest
from support.services import packaged_service

from api.formats import words


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"instance_type": ["dl1.24xlarge"]}, "aws dl1.24xlarge (8 Gaudi), "),
        ({"instance_type": ["gpu-h100x8-640gb"], "nodes": ["1"]}, "digitalocean gpu-h100x8-640gb, "),
    ],
)
def test_a_machine_in_a_line_names_its_accelerators_unless_its_type_does(asked, said):
    service = packaged_service()
    question, *_ = service.question({"model": ["resnet50"], "target": ["0.757"], **asked}, service.catalogue())
    first = service.answer(question, service.catalogue()).estimates[0]
    assert said in words.in_one_line(first, "billed")


def test_an_estimate_that_is_every_pick_is_said_to_be_all_four():
    service = packaged_service()
    only = {"model": ["llama2-70b-lora"], "accelerator": ["H100"], "accelerators": ["8"], "provider": ["lambda"]}
    question, *_ = service.question(only, service.catalogue())
    answer = service.answer(question, service.catalogue())
    assert {pick.estimate for pick in answer.picks} == {answer.estimates[0]}
    assert words.names_of(answer.estimates[0], answer) == "all four"
