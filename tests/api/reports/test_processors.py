"""Machines without an accelerator are offers like all others."""

from functools import partial

import pytest
from support.this_machine import EPYC, forgotten, pretend

CASE = "/cost?model=resnet50&target=0.757"


def estimates(client, tail, case=CASE):
    response = client.get(f"{case}&{tail}")
    assert response.status_code == 200, response.json
    return response.json["estimates"]


def test_the_word_cpu_means_all_of_them(client):
    found = estimates(client, "accelerator=CPU&limit=1000")
    assert {each["provider"] for each in found} == {"aws", "azure", "gcp"}
    assert {each["accelerators"] for each in found} == {0}
    assert len({each["instance_type"] for each in found}) >= 30
    assert all(each["vcpus"] and each["evidence"]["throughput"] in ("modelled", "measured") for each in found)


def test_they_change_no_pick_of_the_plain_question(client):
    with_them = client.get(CASE).json["picks"]
    assert not any(pick["estimate"]["accelerators"] == 0 for pick in with_them)


def test_an_estimate_says_what_its_speed_rests_on_and_how_wide_its_range_is(client):
    (one,) = estimates(client, "instance_type=c7i.48xlarge")
    assert one["evidence"]["throughput"] == "modelled"
    assert any("cores, clock and vector width" in each for each in one["assumptions"])
    assert one["hours_high"] / one["hours_low"] > 2


def test_cost_follows_the_cores_within_a_family(client):
    small, large = (estimates(client, f"instance_type={name}")[0] for name in ("c7i.4xlarge", "c7i.48xlarge"))
    assert small["train_hours"] == pytest.approx(12 * large["train_hours"], rel=0.01)


def test_several_machines_need_a_network_and_images_enough(client):
    alone, eight = (estimates(client, f"instance_type=c6i.32xlarge&nodes={nodes}")[0] for nodes in (1, 8))
    assert 4 < alone["train_hours"] / eight["train_hours"] <= 8
    response = client.get(f"{CASE}&instance_type=c6i.32xlarge&nodes=4096").json
    assert response["count"] == 0
    assert "beyond_any_cluster" in response["rejections"]


def test_their_rates_of_2018_answer_a_question_of_2018(client):
    found = estimates(client, "accelerator=CPU&as_of=2018-10-01&limit=100")
    assert {each["instance_type"] for each in found} >= {
        "c4.8xlarge",
        "c5.4xlarge",
        "c5.9xlarge",
        "c5.18xlarge",
        "m5.24xlarge",
    }


def test_sixty_four_of_them_against_a_machine_with_eight_gpus_by_their_own_logs(client):
    question = "model=resnet50&target=0.93&metric=top5&as_of=2018-10-01&overheads=none&crossing=first&confidence=0.3"
    question += "&training=record"
    found = client.get(f"/compare?{question}&a=aws:c5.18xlarge:64&b=aws:p3.16xlarge").json
    assert found["a"]["recipe"] == "dawnbench-intel-rn50-64xc5"
    assert found["a"]["hours"] == pytest.approx(6.16, abs=0.01)
    assert found["cheaper"] == "b"


def test_sockets_and_laptops_of_ones_own(client):
    question = f"{CASE}&purchase=owned&own_price=3000&own_watts=200"
    (two,) = client.get(f"{question}&own=2x Xeon Platinum 8180").json["owned"]
    (one,) = client.get(f"{question}&own=1x Xeon Platinum 8180").json["owned"]
    assert one["estimate"]["train_hours"] == pytest.approx(2 * two["estimate"]["train_hours"], rel=0.01)
    (laptop,) = client.get(f"{CASE}&purchase=owned&own=1x M1 Pro").json["owned"]
    assert "Ars Technica" in laptop["estimate"]["sources"]["price"]["source"]


@pytest.fixture
def here(monkeypatch, tmp_path):
    """Has this machine be another Linux, with so many logical processors."""
    with forgotten():
        yield partial(pretend, monkeypatch, tmp_path)


@pytest.mark.parametrize("spelling", ["this machine", "1x This-Machine", "amd epyc 2 cores"])
def test_the_machine_that_answers_is_one_of_ones_own(client, here, spelling):
    here(EPYC, 2)
    question = f"{CASE}&purchase=owned&own_price=0&own_watts=100"
    (found,) = client.get(f"{question}&own={spelling}").json["owned"]
    (twin,) = client.get(f"{question}&own=1x EPYC Zen 5").json["owned"]
    assert found["estimate"]["accelerator"] == "AMD EPYC 2 cores"
    assert found["estimate"]["hours_high"] == pytest.approx(twin["estimate"]["hours_high"])
    (two,) = client.get(f"{question}&own=2x this machine").json["owned"]
    assert found["estimate"]["train_hours"] == pytest.approx(2 * two["estimate"]["train_hours"], rel=0.01)


@pytest.mark.parametrize(("gib", "holds"), [(2, False), (4, True)])
def test_a_machine_whose_memory_does_not_hold_the_network_is_left_out_and_says_so(client, here, gib, holds):
    here(EPYC, 4, gib)
    found = client.get(f"{CASE}&purchase=owned&own=this machine&own_price=0&own_watts=10{gib}").json
    assert bool(found["owned"]) == holds
    assert ("does_not_fit_memory" in found["rejections"]) != holds


def test_a_machine_that_cannot_be_read_has_no_estimate_and_says_so(client, here):
    here("")
    found = client.get(f"{CASE}&purchase=owned&own=this machine&own_price=0&own_watts=100").json
    assert found["owned"] == []
    assert found["rejections"]


def test_a_laptop_of_unknown_watts_is_refused_by_name(client):
    told = client.get(f"{CASE}&own=1x Ryzen 7 3700X").json["errors"]["own"]
    assert told == ["no watts of Ryzen 7 3700X are known: give own_watts, those of the whole machine"]
