"""What an answer promises of its next step, and what that step gives: `python -m tools.next_steps [ONE_IN]`.

Each question is asked in the terminal and its next step is run as it is printed. A launch file's figures are set beside those of
the sentence that promises it, and its limits beside those of the question; the prices are the packaged ones.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import yaml
from click.testing import CliRunner, Result

from api.cli.main import main

QUESTIONS = """
resnet50 0.757
resnet50
resnet50 0.757 --provider aws,gcp,azure --max-cost 8
resnet50 0.757 --provider aws --max-hours 4
resnet50 0.76 --max-cost 30 --currency EUR
resnet50 0.757 --discount aws:0.2 --provider aws
resnet50 0.757 --provider runpod
resnet50 0.757 --provider lambda
resnet50 0.757 --provider gcp --purchase spot
resnet50 0.757 --purchase spot,on_demand
resnet50 0.757 --accelerator A100,H100
resnet50 0.757 --accelerator H100 --sort time
resnet50 0.757 --region europe
resnet50 0.757 --provider aws --region us-west-2
resnet50 0.757 --runs 5 --max-cost 60
resnet50 0.757 --training ordinary
resnet50 0.757 --recipe torchvision-resnet50-90ep --max-cost 60
resnet50 0.757 --precision amp
resnet50 0.757 --nodes 2
resnet50 0.757 --accelerators 8 --max-hours 2
resnet50 0.757 --instance-type p4d.24xlarge
resnet50 0.757 --purchase reserved --provider aws
resnet50 0.757 --basis effective
resnet50 0.757 --pick balanced
resnet50 0.757 --pick surest --max-cost 20
resnet50 0.757 --hour-worth 40
resnet50 0.757 --confidence 0.95
resnet50 0.757 --rates confirmed
resnet50 0.757 --own "1x RTX 4090"
resnet50 0.757 --max-cost 1
resnet50 0.803
resnet50 0.93 --metric top5
resnet18 0.69
resnet18 0.69 --max-cost 2 --provider aws,azure,gcp
resnet101 --max-cost 40
vit_b16 0.8
vit_b16 0.8 --max-cost 200 --region europe
vit_b16 0.79 --purchase spot --max-cost 150
convnext_tiny
swin_tiny
efficientnet_b0
mobilenet_v3_large
regnety_008
densenet121
bert-large
llama2-70b-lora
stable-diffusion-v2 --max-cost 50
gpt3-175b
mask-rcnn
nanogpt
"""
PROMISED = re.compile(
    r"starts .*?(?P<hours>[\d.]+ (?:min|h|days)), (?P<cost>\S+(?: [A-Z]{3})?) \(.*no known image for "
)
HEADLINE = re.compile(
    r"(?:Rent|Use|Your) (?P<what>.*?): (?P<cost>\S+(?: [A-Z]{3})?)(?: \(.*?\).*?)?, (?P<hours>[\d.]+ (?:min|h|days)) \("
)
GIVEN = re.compile(
    r"# Expected[^:]*: (?P<hours>[\d.]+) h .*? and (?P<cost>[\d.]+) (?P<currency>[A-Z]{3}) .* on .*, (?P<bought>\w.*)"
)


class Figures(NamedTuple):
    """What a sentence or a launch file says that a run takes."""

    hours: float
    cost: Decimal
    is_spot: bool

    def is_off(self, given: Figures) -> bool:
        """Whether these differ from the figures given by more than rounding."""
        takes_as_long = abs(self.hours - given.hours) <= 0.06 * given.hours + 0.01
        return not (takes_as_long and abs(self.cost - given.cost) <= Decimal("0.01") and self.is_spot == given.is_spot)

    def __str__(self) -> str:
        return f"{self.hours:.2f} h, {self.cost}{', spot' if self.is_spot else ''}"


class Followed(NamedTuple):
    """A question, its next step, what that promises and gives, and what is wrong with it."""

    question: str
    step: str
    promised: Figures | None
    given: Figures | None
    faults: tuple[str, ...]
    starts_the_headline: bool = False


def followed(question: str) -> Followed:
    """Asks a question, and runs the step that its answer prints."""
    answer = run(["cost", *shlex.split(question)])
    verdict = " ".join(answer.stdout.partition("\n\n")[0].split())
    step = verdict.partition("Next: ")[2]
    if not step.startswith("costcalc "):
        return Followed(question, step, None, None, () if verdict else ("the question fails",))
    words = shlex.split(re.split(r" (?:starts|says|rents|names|estimates) |\.$", step)[0])
    if words[1] == "launch":
        return _launched(question, verdict, step, words[1:])
    runs = words[1] not in ("measure", "recipes", "watch")
    failed = runs and run(words[1:]).exit_code
    return Followed(question, step, None, None, ("the command fails",) if failed else ())


def _launched(question: str, verdict: str, step: str, words: Sequence[str]) -> Followed:
    file, headline, instead = run(words), HEADLINE.search(verdict), PROMISED.search(step)
    said = instead or headline
    promised = _said(said, verdict) if said else None
    match = GIVEN.search(file.stdout)
    if match is None or promised is None:
        return Followed(question, step, promised, None, ("the command fails",))
    given = Figures(float(match["hours"]), Decimal(match["cost"]), match["bought"] == "spot")
    faults = [*(["other figures"] if promised.is_off(given) else []), *_limits(question, file)]
    starts = not instead and "trains nothing" not in faults
    return Followed(question, step, promised, given, tuple(faults), starts)


def _said(match: re.Match[str], verdict: str) -> Figures:
    number, unit = match["hours"].split()
    hours = float(number) * {"min": 1 / 60, "h": 1, "days": 24}[unit]
    cost = Decimal(re.sub(r"[^\d.]", "", match["cost"]))
    sentence = match["what"] if "what" in match.groupdict() else match[0]
    return Figures(hours, cost, "on spot" in sentence)


def _limits(question: str, file: Result) -> Iterator[str]:
    """What a file allows beyond the question, and whether it trains."""
    settings, asked = yaml.safe_load(file.stdout), shlex.split(question)
    if "exit 1\n" not in str(settings.get("run", "")) + "\n" and "LIMIT_SECONDS" not in file.stdout:
        yield "no limit"
    hours, rates = _hours(settings), _rates(settings)
    budget, most = (float(_option(asked, name) or "inf") for name in ("--max-cost", "--max-hours"))
    if _option(asked, "--currency"):
        budget *= 1.3  # rates are dollars
    if hours is None:
        yield "trains nothing"
    elif any(rate * hours > budget + 0.01 for rate in rates) or hours > most + 0.01:
        yield "budget lost"


def _option(asked: Sequence[str], name: str) -> str | None:
    return asked[asked.index(name) + 1] if name in asked else None


def _hours(settings: dict[str, Any]) -> float | None:
    environment = settings.get("envs") or dict(each.split("=", 1) for each in settings.get("env", ()))
    seconds = environment.get("LIMIT_SECONDS")
    return None if seconds is None else int(seconds) / 3600


def _rates(settings: dict[str, Any]) -> list[float]:
    resources = settings["resources"]
    machines = resources.get("ordered", [resources])
    nodes = settings.get("num_nodes") or settings.get("nodes") or 1
    return (
        [nodes * each["max_hourly_cost"] for each in machines]
        if "num_nodes" in settings
        else [nodes * settings["max_price"]]
    )


def run(words: Sequence[str]) -> Result:
    """A command of costcalc, in this process."""
    return CliRunner().invoke(main, [*words])


def told(steps: Iterable[Followed]) -> Iterator[str]:
    """A line for each question, and one that counts."""
    every = []
    for each in steps:
        every.append(each)
        beside = f" {each.promised} | {each.given} |" if each.promised else ""
        yield f"{'; '.join(each.faults) or 'as it says'} | {each.question} |{beside} {each.step}"
    launched = [each for each in every if each.promised]
    faults = [fault for each in every for fault in each.faults]
    counts = ", ".join(f"{faults.count(fault)} {fault}" for fault in sorted(set(faults))) or "no fault"
    started = sum(each.starts_the_headline for each in every)
    yield f"{len(every)} questions, {len(launched)} launch files, {started} of them start the headline: {counts}"


if __name__ == "__main__":
    one_in = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    with TemporaryDirectory() as folder:
        os.environ["COSTCALC_DATABASE_URL"] = f"sqlite:///{folder}/packaged.sqlite3"
        for line in told(map(followed, QUESTIONS.strip().splitlines()[::one_in])):
            print(line, flush=True)
