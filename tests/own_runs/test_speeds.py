"""One's own speed is used where it was measured, is said to be one's own, and is seen by those alone who may see it."""

from datetime import UTC, datetime

import pytest
from fakes.kept_runs import KeptRuns
from msgspec.structs import replace
from support.engine import answer
from support.own_speeds import own_speed
from support.services import NOW, packaged_catalogue, packaged_service

from api.service import Service
from api.settings import Settings
from api.stored import KnownRuns
from api.tokens import Token
from api.web.app import create_app
from api.web.asker import KeptSignIns
from costcalc.offer import PurchaseOption
from costcalc.query import EstimateQuery
from costcalc.training import OwnSpeed
from own_runs.runs import measured_speed, visible, with_own_speeds
from pricing.store.changes import By

ON_A100 = EstimateQuery("resnet50", 0.757, accelerator=("A100-80GB",), accelerators=1, overheads="none", limit=3)
COST = "/cost?model=resnet50&target=0.757&accelerator=A100-80GB&accelerators=1&limit=1"


def service_with(runs):
    """The packaged service beside what somebody measured."""
    service = packaged_service()
    return Service(service.evidence, service.prices, service.clock, service.sources, runs=runs)


def estimates(query, *speeds):
    evidence = with_own_speeds(packaged_service().evidence, tuple(speed.stored() for speed in speeds))
    return answer(query, evidence, packaged_catalogue(), NOW).estimates


def test_a_stored_speed_comes_back_as_it_was_measured():
    speed = own_speed(spread=0.013, cores=64, pipeline_images_per_second=2000.5, memory_gib=79.1)
    assert measured_speed(speed.stored()) == speed
    assert speed.stored().id == "own-resnet50-1xa100-80gb-bf16-224"


def test_where_it_was_measured_it_is_the_speed_of_every_recipe_and_said_to_be_measured():
    before, after = estimates(ON_A100), estimates(ON_A100, own_speed())
    assert all(one.evidence.throughput != "measured" for one in before)
    for one in after:
        assert one.evidence.throughput == "measured"
        assert one.evidence_notes.throughput.startswith("Your own speed, 1,450 images/s on 1 x A100-80GB")
        assert one.sources.throughput.source == "measured here on 2026-11-19, EPYC 7763, 64 cores"
        assert "The speed is that of your own code." in one.assumptions
        assert one.code == "own"


def test_at_the_size_it_was_measured_at_the_figure_is_the_measured_one():
    query = replace(ON_A100, recipe=("mlperf-v2.0-dgxa100-ngc22.04-mxnet",))
    [one, *_] = estimates(query, own_speed())
    assert one.images_per_second == pytest.approx(1450, rel=0.01)  # evaluations take a little
    width = packaged_service().evidence.fitted.widths["own"].ln
    assert one.hours_high / one.hours == pytest.approx(2.718281828**width, rel=0.05)


def test_it_is_carried_over_to_more_of_them_and_no_other_accelerator_knows_it():
    eight = replace(ON_A100, accelerators=8)
    [more, *_] = estimates(eight, own_speed())
    assert more.evidence.throughput == "interpolated"
    assert "carried over to 8 x A100-80GB" in more.evidence_notes.throughput
    assert more.images_per_second > 1450 * 4
    on_h100 = replace(ON_A100, accelerator=("H100",))
    assert estimates(on_h100, own_speed()) == estimates(on_h100)


def test_only_own_measurements_pass_a_question_for_measured_speeds():
    measured = replace(ON_A100, evidence="measured")
    assert not estimates(measured)
    assert estimates(measured, own_speed())


def test_a_question_of_an_earlier_day_does_not_know_it():
    earlier = replace(ON_A100, as_of=datetime(2026, 11, 18, tzinfo=UTC))
    assert estimates(earlier, own_speed()) == estimates(earlier)


def test_the_last_of_two_measurements_counts():
    slower = own_speed(images_per_second=1000.0, precision="fp32", measured_at=datetime(2026, 11, 19, 13, tzinfo=UTC))
    [one, *_] = estimates(ON_A100, own_speed(), slower)
    assert "1,000 images/s" in one.evidence_notes.throughput


def test_a_log_of_the_same_machines_gives_way():
    query = EstimateQuery("resnet50", 0.749, recipe=("dawnbench-diux-rn50-p3-tensorpack",), metric="top1",
                          instance_type=("p3.16xlarge",), purchase=(PurchaseOption.ON_DEMAND,), confidence=0.01,
                          as_of=datetime(2018, 10, 1, tzinfo=UTC), recipes="all", crossing="first")  # fmt: skip
    logged = answer(query, packaged_service().evidence, packaged_catalogue(), NOW).estimates[0]
    asked = replace(query, images_per_second=(OwnSpeed(3000.0, 8, "V100"),))
    own = answer(asked, packaged_service().evidence, packaged_catalogue(), NOW).estimates[0]
    assert logged.evidence_notes.throughput == "Speed as logged on this very system."
    assert own.evidence_notes.throughput.startswith("Your own speed")


def test_a_speed_in_the_question_decides_on_every_machine_of_the_vendor_and_no_other():
    asked = EstimateQuery("resnet50", 0.757, images_per_second=(OwnSpeed(1450.0, 1, "A100-80GB"),), limit=1000)
    found = answer(asked, packaged_service().evidence, packaged_catalogue(), NOW).estimates
    assert {one.code for one in found} == {"own"}
    assert {packaged_service().evidence.vendor(one.accelerator) for one in found} == {"NVIDIA"}
    assert {one.evidence.throughput for one in found} >= {"measured", "modelled"}


def test_a_faster_code_is_faster_on_every_machine():
    h100 = EstimateQuery("resnet50", 0.757, accelerator=("H100",), accelerators=8, overheads="none", pipeline="none",
                         recipe=("mlperf-v2.0-dgxa100-ngc22.04-mxnet",), limit=1)  # fmt: skip
    [slow], [fast] = (
        estimates(replace(h100, images_per_second=(OwnSpeed(rate, 1, "A100-80GB"),))) for rate in (700.0, 1400.0)
    )
    assert fast.images_per_second == pytest.approx(2 * slow.images_per_second, rel=0.01)


def test_everybody_sees_what_nobody_owns_and_an_owner_sees_more():
    shared, mine = own_speed().stored(), own_speed(precision="fp32").stored("a" * 64)
    assert visible((shared, mine), None) == (shared,)
    assert visible((shared, mine), "a" * 64) == (shared, mine)
    assert visible((shared, mine), "b" * 64) == (shared,)


def test_a_private_speed_is_in_the_answers_to_its_token_alone():
    settings, sign_ins = Settings(api_tokens=("one-token", "another-token")), KeptSignIns()
    runs = (own_speed().stored(Token.of("one-token").owner(sign_ins.key())),)
    client = create_app(service_with(KnownRuns(runs)).changed(sign_ins=sign_ins), settings).test_client()
    one, another = (
        client.get(COST, headers={"Authorization": f"Bearer {token}"}) for token in ("one-token", "another-token")
    )
    assert one.json["estimates"][0]["code"] == "own"
    assert another.json["estimates"][0]["code"] != "own"
    assert one.headers["ETag"] != another.headers["ETag"]
    again = client.get(COST, headers={"Authorization": "Bearer one-token"})
    assert again.json == one.json


def test_an_answer_changes_its_tag_with_a_new_measurement():
    kept = KeptRuns()
    client = create_app(service_with(kept)).test_client()
    before = client.get(COST)
    kept.add(own_speed().stored(), By("her", NOW))
    after = client.get(COST, headers={"If-None-Match": before.headers["ETag"]})
    assert after.status_code == 200
    assert after.json["estimates"][0]["code"] == "own"
    assert client.get(COST, headers={"If-None-Match": after.headers["ETag"]}).status_code == 304
