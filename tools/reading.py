"""What a buying guide of 2020 and articles on processors, free notebooks and clusters state, beside our own figures:
`python -m tools.reading` prints the table of docs/choosing.md, for February 2020 and for today; `--write` writes it there.

Statements about processors and small networks have rows of their own in that page: they are measured on a machine.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from flask.testing import FlaskClient

from api.bootstrap import build_once
from api.settings import Settings
from api.web.app import create_app

PAGE = Path(__file__).parents[1] / "docs" / "choosing.md"
BEGIN, END = "<!-- reading -->\n", "<!-- /reading -->\n"
THEN = "2020-02-20"
GUIDE = "nasnet_large,deeplab_v3,yolo_v3,pix2pix_hd,stylegan,mask_rcnn"
ALL, MOST, FEW = (
    ("Quadro RTX 8000", "Quadro RTX 6000", "Titan RTX"),
    ("RTX 2080 Ti", "GTX 1080 Ti", "RTX 2080", "RTX 2070"),
    ("RTX 2060",),
)
CASE = "model=resnet50&target=0.757"
CPU_LOG = "model=resnet50&target=0.93&metric=top5&as_of=2018-10-01&overheads=none&crossing=first&confidence=0.3"

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Found:
    """Our own figure, whether it agrees with what is stated, and why."""

    figure: str
    agrees: str
    why: str


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement that was read, by its number, what answers it for a date (None: today), and the command that prints that."""

    number: int
    says: str
    found: Callable[[str | None], Found]
    command: str


@cache
def client() -> FlaskClient:
    """The service on the packaged prices."""
    return create_app(build_once(Settings(database_url="sqlite:////nowhere/costcalc.sqlite3"))).test_client()


@cache
def ask(path: str, as_of: str | None = None) -> Json:
    """The JSON answer of a path."""
    day = f"&as_of={as_of}" if as_of else ""
    answer: Json = client().get(f"{path}{day}").get_json()
    if "errors" in answer:
        raise SystemExit(f"{path}{day}: {answer['detail']}")
    return answer


def batches(cards: tuple[str, ...], as_of: str | None, model: str = GUIDE) -> dict[tuple[str, str], int]:
    """The largest batches by network and card."""
    rows = ask(f"/fit?model={model}&accelerator={','.join(cards)}", as_of)["fits"]
    return {(row["model"], row["accelerator"]): row["largest_batch"] for row in rows}


def price(card: str, as_of: str | None) -> str:
    """What a card was last sold for, in words, without the machine around it."""
    source = ask(f"/cost?{CASE}&own=1x {card}&limit=1", as_of)["owned"][0]["estimate"]["sources"]["price"]["source"]
    return f"{card} {source.split(' at ')[1].split(' USD')[0]}"


def trained(cards: tuple[str, ...], least: int, most: int, as_of: str | None) -> Found:
    """How many of the guide's six networks train on each card."""
    found = batches(cards, as_of)
    counts = [sum(found[model, card] > 0 for model in GUIDE.split(",")) for card in cards]
    told = ", ".join(f"{card} {count} of 6" for card, count in zip(cards, counts, strict=True))
    prices = "; ".join(price(card, as_of) for card in cards)
    agrees = "yes" if all(least <= count <= most for count in counts) else "no"
    return Found(f"{told}; USD: {prices}", agrees, "the guide's own batches, measured")


def smallest(as_of: str | None) -> Found:
    """What 6 GB hold."""
    found = batches(FEW, as_of)
    own = batches(FEW, as_of, "resnet50,resnet152")
    told = ", ".join(f"{model} {found[model, 'RTX 2060']}" for model in GUIDE.split(","))
    return Found(
        f"{told}; resnet50 ~{own['resnet50', 'RTX 2060']}, resnet152 ~{own['resnet152', 'RTX 2060']}",
        "in part",
        "five of the six train, in batches of 1 to 4 images; usual networks at 224 px have room",
    )


def three_times(as_of: str | None) -> Found:
    """24 GB against 8 GB."""
    names = "resnet50,resnet152,efficientnet_b4,vit_b16,nasnet_large"
    found = batches(("Titan RTX", "RTX 2080"), as_of, names)
    models = sorted({model for model, _ in found})
    ratios = [found[model, "Titan RTX"] / found[model, "RTX 2080"] for model in models]
    told = ", ".join(f"{model} {ratio:.1f}" for model, ratio in zip(models, ratios, strict=True))
    return Found(told, "yes", "a little more than three: what does not grow with the batch takes the same of both")


def ratio(a: str, b: str, as_of: str | None, tail: str = "") -> Json:
    """Two machines compared."""
    return ask(f"/compare?{CASE}&a={a}&b={b}{tail}", as_of)


def forty_percent(as_of: str | None) -> Found:
    """RTX 2080 Ti against RTX 2080."""
    found = ratio("own:1x RTX 2080", "own:1x RTX 2080 Ti", as_of)
    return Found(
        f"{found['speed_ratio']:.2f} times as fast for ResNet-50",
        "in direction",
        "both speeds are modelled, and each is known to a factor of 1.3; the guide's own rates say 1.18 (NASNet) to 1.62 "
        "(StyleGAN)",
    )


def more_memory(as_of: str | None) -> Found:
    """The same chip with twice the memory."""
    found = ratio("own:1x Quadro RTX 6000", "own:1x Quadro RTX 8000", as_of)
    return Found(
        f"the same chip with 48 instead of 24 GB: {found['speed_ratio']:.2f} times as fast for ResNet-50",
        "in part",
        "image networks fill the chip with 24 GB already; the guide's own rates say 1.00 (Pix2Pix HD) to 1.14 (DeepLab); "
        "language models are not ours",
    )


def one_large_image(as_of: str | None) -> Found:
    """NASNet, and Pix2Pix HD."""
    found = ask("/fit?model=pix2pix_hd&accelerator=RTX 2080 Ti", as_of)
    nearest = found["nearest"]
    small = batches(FEW, as_of, "nasnet_large")["nasnet_large", "RTX 2060"]
    told = f"NASNet-A Large: {small} images on 6 GB; Pix2Pix HD: none on 11 GB, 1 on {nearest['memory_gib']:g} GB"
    return Found(told, "yes", "measured by the guide; Pix2Pix HD has no accuracy to train to, so that /cost is silent")


def free(as_of: str | None) -> Found:
    """The free tiers, in order of the calendar."""
    tiers = ask(f"/cost?{CASE}&purchase=free&sort=time&limit=50", as_of)["estimates"]
    names = dict.fromkeys(
        f"{each['provider']} {each['accelerator']} {each['calendar_hours'] / 24:.1f} days" for each in tiers
    )
    return Found(
        "; ".join(names), "yes", "sessions and quotas are counted; which chip a session gets is luck, and not promised"
    )


def cheapest_gpu(as_of: str | None) -> Found:
    """The least anybody asks for an hour of one accelerator, on demand and spot."""
    rows = ask("/offers?purchase=on_demand,spot&currency=USD&limit=1000000", as_of)["offers"]
    least = {
        option: min(
            (
                row
                for row in rows
                if row["purchase_option"] == option and row["accelerators"] == 1 and row["hourly_rate"]
            ),
            key=lambda row: row["hourly_rate"],
        )
        for option in ("on_demand", "spot")
    }
    told = "; ".join(
        f"{option.replace('_', ' ')} {row['hourly_rate']:.2f} USD ({row['provider']}, {row['accelerator']})"
        for option, row in least.items()
    )
    agrees = "yes" if least["on_demand"]["hourly_rate"] <= 0.25 else "as spot"
    return Found(told, agrees, "what such an hour is worth is for the speed to say: the oldest accelerators cost least")


def idle(as_of: str | None) -> Found:
    """What nobody stops."""
    found = ratio("aws:p3.2xlarge", "aws:p3.16xlarge", as_of)
    hourly = [found[side]["hourly_rate"] for side in "ab"]
    return Found(
        f"p3.2xlarge {hourly[0]:.2f}, p3.16xlarge {hourly[1]:.2f} USD for each hour, {hourly[1] * 24:,.0f} a day",
        "yes",
        "said with every comparison",
    )


def cluster(_: str | None) -> Found:
    """64 processors against eight GPUs, by DAWNBench's own logs of 2018."""
    found = ask(f"/compare?{CPU_LOG}&a=aws:c5.18xlarge:64&b=aws:p3.16xlarge")
    a, b = found["a"], found["b"]
    equal, cost = 64 * a["hours"] / b["hours"], a["effective_cost"] / b["effective_cost"]
    return Found(
        f"64 x c5.18xlarge {a['effective_cost']:,.0f} USD in {a['hours']:.2f} h, one p3.16xlarge {b['effective_cost']:,.0f} USD "
        f"in {b['hours']:.2f} h; as many as {equal:,.0f} for equal times",
        "in direction",
        f"{cost:.0f} times the cost by DAWNBench's own logs, not a hundred times",
    )


def stages(as_of: str | None) -> Found:
    """From how much use on owning pays."""
    card = "RTX 2080 Ti" if as_of else "RTX 4090"
    own = ask(f"/cost?{CASE}&own=1x {card}&limit=1", as_of)["owned"][0]["estimate"]
    even = own["break_even_hours"]
    if even is None:
        return Found(f"1x {card}: never", "in part", "its electricity costs as much as the cheapest rental")
    runs = even / own["hours"] / 36
    pays = "within" if even <= 3 * 8760 else "beyond"
    return Found(
        f"1x {card} pays from {even:,.0f} h of use on ({runs:.0f} trainings of ResNet-50 a month), {pays} its three years",
        "in part",
        "free tiers first, then rentals by the hour; owning pays only where the machine is busy, and less today than then",
    )


def parameters(_: str | None) -> Found:
    """VGG-16."""
    million = ask("/models/vgg16")["model"]["parameters_millions"]
    return Found(f"{million:.2f} million", "yes", "torchvision's count")


CARDS = "RTX2060,RTX2070,RTX2080,GTX1080Ti,RTX2080Ti,TitanRTX,QuadroRTX6000,QuadroRTX8000"
FIT = f"costcalc fit {GUIDE} --accelerator {CARDS} --as-of {THEN}"
COST, COMPARE = "costcalc cost resnet50 0.757", "costcalc compare resnet50 0.757"
STATEMENTS = (
    Statement(1, "RTX 8000, RTX 6000 and Titan RTX train all leading image models (5,500, 4,000 and 2,500 USD)",
              partial(trained, ALL, 6, 6), FIT),
    Statement(2, "RTX 2080 Ti, GTX 1080 Ti, RTX 2080 and RTX 2070 train most, with smaller batches (1,150, 800, 720, 500 USD)",
              partial(trained, MOST, 4, 5), FIT),
    Statement(3, "RTX 2060 with 6 GB (359 USD) is not for large models; 8 GB is the least", smallest, FIT),
    Statement(4, "24 GB take about three times the batch of 8 GB", three_times,
              "costcalc fit resnet50,resnet152,vit_b16 --accelerator RTX2080,TitanRTX"),
    Statement(5, "RTX 2080 Ti trains about 40 % faster than RTX 2080", forty_percent,
              f"{COMPARE} own:1xRTX2080 own:1xRTX2080Ti --as-of {THEN}"),
    Statement(6, "more memory makes training faster, through larger batches", more_memory,
              f"{COMPARE} own:1xQuadroRTX6000 own:1xQuadroRTX8000 --as-of {THEN}"),
    Statement(7, "NASNet-A Large trains at 331 px; Pix2Pix HD needs 24 GB for one image", one_large_image, FIT),
    Statement(8, "free notebooks: Kaggle K80, Colab K80, T4, P100 or TPU by luck, AI Studio V100 at 12 hours a day", free,
              f"{COST} --purchase free --sort time --as-of {THEN}"),
    Statement(14, "cloud GPUs from 0.25 USD an hour", cheapest_gpu, f"costcalc offers --purchase on_demand,spot --as-of {THEN}"),
    Statement(15, "an instance that nobody stopped goes on billing", idle, f"{COMPARE} aws:p3.2xlarge aws:p3.16xlarge"),
    Statement(16, "1,000 machines with processors cost a hundred times what 3 with GPUs cost for the same work", cluster,
              "costcalc compare resnet50 0.93 aws:c5.18xlarge:64 aws:p3.16xlarge --metric top5 --as-of 2018-10-01 "
              "--overheads none --crossing first --confidence 0.3"),
    Statement(17, "no GPU for small work, a laptop's for more, one's own machine or the cloud for regular work, then a cluster",
              stages, f"{COST} --own 1xRTX2080Ti --as-of {THEN}"),
    Statement(18, "VGG-16 has about 140 million parameters", parameters, "costcalc models vgg16"),
)  # fmt: skip
ON_LOGS = (16, 18)  # the same whatever the date


def table() -> str:
    """All statements as a table."""
    lines = ["| # | stated | February 2020 | today | agrees | why | printed by |", "|---|---|---|---|---|---|---|"]
    for each in STATEMENTS:
        then = each.found(THEN)
        now = "the same" if each.number in ON_LOGS else each.found(None).figure
        cells = (each.number, each.says, then.figure, now, then.agrees, then.why, f"`{each.command}`")
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Prints the table, or writes it into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write it into docs/choosing.md")
    if not parser.parse_args().write:
        sys.stdout.write(table())
        return
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}{table()}{END}{rest.partition(END)[2]}", "utf-8")


if __name__ == "__main__":
    main()
