"""Filters that are each right and leave nothing together are no error: the answer is empty and says why."""

import pytest


@pytest.mark.parametrize(
    ("filters", "reason"),
    [
        ("purchase=on_demand&term=1y", "no_matching_offer"),
        ("provider=aws&instance_type=a2-highgpu-8g", "no_matching_offer"),
        ("accelerators=8&nodes=3", "no_matching_cluster"),
        ("nodes=1000", "beyond_any_cluster"),
        ("accelerators=8000", "beyond_any_cluster"),
        ("evidence=measured&accelerator=H100", "not_measured"),
        ("recipe=ffcv-rn50-88ep&accelerator=TPU%20v5e", "no_throughput"),
        ("recipe=ffcv-rn50-88ep&accelerator=H100&accelerators=2048", "batch_too_small"),
        ("recipe=algoperf-v0.5-resnet50-shampoo-submission&accelerator=V100", "own_system_only"),
        ("max_hours=0.0001", "over_max_hours"),
        ("max_cost=0.0001&purchase=on_demand", "over_max_cost"),
    ],
)
def test_the_answer_is_empty_and_says_why(client, filters, reason):
    response = client.get(f"/cost?model=resnet50&target=0.757&{filters}")
    assert response.status_code == 200
    assert (response.json["count"], response.json["estimates"]) == (0, [])
    assert response.json["rejections"][reason] > 0
