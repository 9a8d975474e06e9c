"""Networks are found by the names that people and hubs give them; those of other tasks are known as such."""

import pytest

from api.questions.errors import NotFound


@pytest.mark.parametrize(
    "name",
    ["roberta", "GPT-2 XL", "SDXL", "yolov8", "qwen2.5-7b", "mistral-7b", "google/gemma-2-9b", "clip-vit", "foo-7b"],
)
def test_a_network_of_another_task_is_no_misspelt_one(service, name):
    with pytest.raises(NotFound, match="the tasks that costcalc tasks lists; for your own run, add") as told:
        service.model(name)
    assert "did you mean" not in str(told.value)


def test_who_names_an_unknown_network_learns_of_own_logs_and_measurements(service):
    with pytest.raises(
        NotFound, match="ask model=any with epochs= and its speed or size; costcalc recipes add takes your log"
    ):
        service.model("qqqqq")


@pytest.mark.parametrize(
    ("published", "model"),
    [
        ("microsoft/resnet-50", "resnet50"), ("timm/resnet50.a1_in1k", "resnet50"), ("google/vit-base-patch16-224", "vit_b16"),
        ("facebook/convnext-tiny-224", "convnext_tiny"), ("timm/vit_base_patch16_224.augreg2_in21k_ft_in1k", "vit_b16"),
        ("facebook/deit-small-patch16-224", "deit_small"), ("google/mobilenet_v2_1.0_224", "mobilenet_v2"),
        ("facebook/regnet-y-040", "regnety_4gf"), ("microsoft/swin-tiny-patch4-window7-224", "swin_tiny"),
    ],
)  # fmt: skip
def test_networks_are_found_by_the_names_that_hubs_give_them(service, published, model):
    assert service.model(published).name == model
