"""A precision that a chip lacks is never answered there."""

import pytest


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ("accelerator=V100&precision=bf16", "V100, V100-32GB"),
        ("own=1xRTX%202080%20Ti&precision=tf32", "RTX 2080 Ti"),
        ("accelerator=TPU%20v4&precision=tf32", "TPU v4"),
    ],
)
def test_what_nothing_named_computes_in_is_refused_by_name(client, filters, names):
    response = client.get(f"/cost?model=resnet50&target=0.757&{filters}")
    assert response.status_code == 400
    assert names in response.text
    assert "cannot compute in" in response.text
    assert "write amp or fp32" in response.text


def test_others_are_answered_and_those_without_it_left_out(client):
    answer = client.get("/cost?model=resnet50&target=0.757&precision=bf16&limit=1000&recipes=all").json
    chips = {each["accelerator"] for each in answer["estimates"]}
    assert answer["rejections"]["no_such_precision"] > 0
    assert "A100-80GB" in chips
    assert not chips & {"V100", "V100-32GB", "T4", "P100"}
