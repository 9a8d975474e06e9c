"""Which of eighty networks in common use are answered by name: `python -m tools.usual_networks`.

The names are those of timm and torchvision that tutorials and papers use most, chosen by hand: counts of downloads could not be
read where the list was made. Each is asked for what its best recipe surely reaches. Then come the errors of speed and epochs of
networks that are left out in turn.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from math import exp, expm1, floor, log
from statistics import median

from api.python import Session, session
from api.questions.errors import Refused
from costcalc.evidence import Evidence
from costcalc.evidence.parsing import hub_networks
from science.validation.networks import by_inference, by_size, half_width

NAMES = """
resnet18 resnet34 resnet50 resnet101 resnet152 resnet50.a1_in1k resnet18.a1_in1k resnet50d resnet26 resnet101d
wide_resnet50_2 resnext50_32x4d resnext101_32x8d seresnet50 resnetv2_50 resnetrs50 resnest50d ecaresnet50d res2net50_26w_4s
hrnet_w18 efficientnet_b0 efficientnet_b1 efficientnet_b2 efficientnet_b3 efficientnet_b4 efficientnetv2_s efficientnetv2_m
tf_efficientnet_b0.ns_jft_in1k mobilenetv2_100 mobilenet_v2 mobilenetv3_small_100.lamb_in1k mobilenetv3_large_100
mobilenet_v3_small mobilenet_v3_large mobilenetv4_conv_small mnasnet1_0 shufflenet_v2_x1_0 squeezenet1_1 ghostnet_100
regnety_016 regnety_032 regnet_y_16gf regnetx_002 densenet121 densenet161 densenet201 vgg11 vgg16 vgg19 vgg16_bn alexnet
googlenet inception_v3 xception41 convnext_tiny convnext_small convnext_base convnext_large convnextv2_tiny convnextv2_base
vit_tiny_patch16_224 vit_small_patch16_224 vit_base_patch16_224 vit_base_patch32_224 vit_large_patch16_224 vit_b_16
deit_tiny_patch16_224 deit_small_patch16_224 deit_base_patch16_224 deit3_small_patch16_224 swin_tiny_patch4_window7_224
swin_base_patch4_window7_224 swin_t swinv2_tiny_window8_256 maxvit_tiny_tf_224 beit_base_patch16_224 eva02_tiny_patch14_336
mixer_b16_224 mobilevit_s edgenext_small
""".split()  # noqa: SIM905  a list as one reads it
MARGIN = 0.005
"""Below the accuracy that a recipe ends at, so that it gets there in nine runs of ten."""
ASKED = {"training": "record", "purchase": "on_demand", "provider": "aws", "limit": "1"}


def answered(asked: Session, name: str) -> str:
    """Empty where the network is answered, else why not."""
    model = asked.service.evidence.find_model(name)
    if model is None:
        return "not known"
    tops = [
        recipe.evaluations[-1].top1 for recipe in asked.service.evidence.recipes_of(model.name) if recipe.evaluations
    ]
    best = max((top for top in tops if top), default=None)
    if best is None:
        return "no training of it to an accuracy is known: ask model=any with epochs"
    try:
        return (
            ""
            if asked.cost(name, floor((best - MARGIN) * 100) / 100, **ASKED).answer.count
            else "nothing that AWS rents trains it"
        )
    except Refused as refused:
        return str(refused)


def epochs_by_family(evidence: Evidence) -> Iterator[float]:
    """ln of the epochs that the others of its family take over its own, of each network that has others."""
    of_family: dict[str, dict[str, float]] = defaultdict(dict)
    for recipe in evidence.recipes:
        model = evidence.models.get(recipe.model)
        if model and recipe.scheduled_epochs:
            of_family[model.family].setdefault(model.name, recipe.scheduled_epochs)
    for networks in of_family.values():
        for name, epochs in networks.items():
            others = [other for each, other in networks.items() if each != name]
            if others:
                yield log(median(others) / epochs)


def main() -> None:
    """Prints the refused ones, how many are answered, and the scores."""
    asked = session()
    refused = {name: why for name in NAMES if (why := answered(asked, name))}
    for name, why in refused.items():
        print(f"{name}: {why}")
    print(f"{len(NAMES) - len(refused)} of {len(NAMES)} are answered")
    scores = {
        "speed, by inference on the same card": by_inference(hub_networks()),
        "speed, by size alone": [float(error) for error in by_size(asked.service.evidence)[1]],
        "epochs, by the others of its family": list(epochs_by_family(asked.service.evidence)),
    }
    for name, errors in scores.items():
        middle = expm1(median(map(abs, errors)))
        print(
            f"{name}: {len(errors)} networks left out, median error {middle:.1%}, 80 % within x/÷{exp(half_width(errors)):.2f}"
        )


if __name__ == "__main__":
    main()
