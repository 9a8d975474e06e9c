"""Which of eighty networks in common use are answered by name: `python -m tools.usual_networks`.

The names are those of timm and torchvision that tutorials and papers use most, chosen by hand: counts of downloads could not be
read where the list was made. Each is asked for what its best recipe surely reaches. Then come eighty names that were drawn
blindly, asked for with epochs and with a target, and the errors of speed and epochs of what is left out in turn.
"""

from __future__ import annotations

from math import floor

from api.python import Session, session
from api.questions.errors import Refused
from science.validation.networks import scores, told

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
DRAWN = """
bat_resnext26ts beitv2_large_patch16_224 cait_xs24_384 cait_xxs36_384 coatnet_0_rw_224 coatnet_bn_0_rw_224
coatnet_rmlp_1_rw_224 convit_tiny convnext_femto_ols convnext_zepto_rms_ols convnextv2_tiny crossvit_15_240
crossvit_18_240 crossvit_18_dagger_240 cspresnet50 deit3_medium_patch16_224 deit_tiny_distilled_patch16_224
densenetblur121d dm_nfnet_f6 ecaresnet101d_pruned ecaresnet50d_pruned edgenext_small efficientvit_l1 efficientvit_l2
eva02_base_patch14_448 fasternet_t2 fastvit_s12 fbnetv3_g focalnet_small_lrf hiera_base_plus_224 hiera_huge_224
hiera_large_224 hiera_small_224 hrnet_w40 hrnet_w64 inception_v4 legacy_seresnext26_32x4d levit_192 levit_256
levit_conv_192 maxvit_nano_rw_256 maxxvitv2_nano_rw_256 mobilenetv4_conv_small_050 nest_base_jx nextvit_small
pit_ti_224 poolformer_s12 regnetx_004_tv regnetx_006 regnety_040 regnety_2560 regnetz_040_h repghostnet_130
repvit_m0_9 repvit_m1_0 repvit_m1_1 res2net50_26w_6s resmlp_big_24_224 resnet10t resnet34 resnet51q resnetrs50
resnetv2_50x3_bit swin_small_patch4_window7_224 tf_efficientnet_b1 tf_efficientnet_b7 tf_efficientnet_cc_b0_4e
tf_mixnet_s tiny_vit_21m_224 tiny_vit_5m_224 tnt_s_patch16_224 vgg19 vit_base_patch32_224 vit_base_patch32_clip_384
vit_huge_patch14_clip_336 vit_small_patch16_rope_224 vit_small_patch16_rope_ape_224 volo_d2_224 volo_d4_448
volo_d5_448
""".split()  # noqa: SIM905
"""random.Random(32).sample of the 900 names, in their order, that results/results-imagenet.csv has in
huggingface/pytorch-image-models@aa4b585."""
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


def answered_with_epochs(asked: Session, name: str) -> str:
    """Empty where so many epochs of the network are answered, else why not."""
    try:
        return "" if asked.cost(name, epochs=300, **ASKED).answer.count else "nothing that AWS rents trains it"
    except Refused:
        return "not known"


def main() -> None:
    """Prints the refused ones, how many are answered, and the scores."""
    asked = session()
    refused = {name: why for name in NAMES if (why := answered(asked, name))}
    for name, why in refused.items():
        print(f"{name}: {why}")
    print(f"{len(NAMES) - len(refused)} of {len(NAMES)} are answered")
    known = [name for name in DRAWN if not answered_with_epochs(asked, name)]
    trained = [name for name in known if not answered(asked, name)]
    print(f"of {len(DRAWN)} drawn blindly {len(known)} are answered with epochs=, {len(trained)} with a target")
    for name, errors in scores(asked.service.evidence).items():
        print(told(name, errors))


if __name__ == "__main__":
    main()
