"""The verdict's last line: a launch command starts what the verdict begins with, or says what it starts instead."""

import re
import shlex
from itertools import product
from random import Random

import pytest
from support.services import packaged_service

from api.reports.cost import CostReport
from api.reports.launch import LaunchSchema, launch_report
from api.reports.verdict import in_short
from costcalc.money import money
from costcalc.units import in_words

MODELS = (
    ("resnet50", "0.757"),
    ("resnet50", "0.76"),
    ("vit_b16", "0.79"),
    ("bert-large", "0.72"),
    ("resnet18", "0.69"),
)
BESIDE = (
    {}, {"sort": "time"}, {"sort": "cost"}, {"pick": "balanced"}, {"pick": "surest"}, {"purchase": "spot"}, {"region": "eu"},
    {"provider": "aws,lambda"}, {"max_hours": "12"}, {"max_cost": "90", "currency": "EUR"}, {"accelerator": "A100,GH200"},
    {"nodes": "2"}, {"instance_type": "p4d.24xlarge"}, {"training": "record"}, {"recipes": "all"}, {"discount": "aws:0.2"},
    {"basis": "effective"}, {"runs": "5"}, {"hour_worth": "40"}, {"regions": "all"}, {"confidence": "0.95"},
    {"training": "ordinary"}, {"precision": "amp", "provider": "gcp"}, {"purchase": "spot,on_demand"},
)  # fmt: skip
ASKED = [{"model": model, "target": target, **beside} for (model, target), beside in product(MODELS, BESIDE)]
SOME = Random(29).sample(ASKED, 60)
INSTEAD = re.compile(r" starts (.*?), ([\d.]+ \w+), (\S+) \(no known image for ")


@pytest.fixture(scope="module")
def service():
    return packaged_service()


def named_by(line, lead):
    """The machine, hours and dollars that the line says are started."""
    instead = INSTEAD.search(line)
    return instead.groups() if instead else facts(lead)


def facts(each):
    return in_short(each), in_words(each.hours), money(each.billed_cost, each.currency)


def test_the_launch_file_is_of_the_machine_that_the_verdict_names(service):
    catalogue, launched, instead = service.catalogue(), 0, 0
    for asked in SOME:
        found = CostReport(
            service, catalogue, service.question({name: [text] for name, text in asked.items()}, catalogue)[0]
        ).answer
        line = found.verdict[-1] if found.verdict else ""
        if not line.startswith("Next: costcalc launch "):
            continue
        words = shlex.split(re.split(r" starts | rents it|\.$", line)[0])[3:]
        given = dict(zip(("model", "target"), ([word] for word in words[:2]), strict=True))
        given |= {name[2:].replace("-", "_"): [text] for name, text in zip(words[2::2], words[3::2], strict=True)}
        report = launch_report(service, catalogue, service.parse(LaunchSchema(), given, catalogue)[0])
        first = report.machines()[0].estimate
        told, started = named_by(line, found.lead), facts(first)
        dollars = asked.get("currency", "USD") == "USD" and not asked.keys() & {"discount", "basis"}
        assert told[: 2 + dollars] == started[: 2 + dollars], (asked, found.verdict)
        launched, instead = launched + 1, instead + bool(INSTEAD.search(line))
        if not INSTEAD.search(line):
            assert first.recipe == found.lead.recipe, asked
            assert bool(report.start(first.rented)) == (" rents it" not in line), asked
    assert launched > 20
    assert instead > 5
