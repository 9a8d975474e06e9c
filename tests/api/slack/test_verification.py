"""A signed request is good for one answer, whichever worker it comes to, and whatever they remember it in."""

import subprocess
import time

import pytest
import requests
from fakes.slack import SECRET, form, signed
from prometheus_client import REGISTRY
from support.live_server import start_server

from api.settings import Settings
from api.slack.verification import REST_SECONDS, Proof, RedisMemory, Replays, check, shared_memory, sign
from pricing.store.replay import ReplayStore
from tools.cluster.cluster import free_ports
from tools.cluster.program import installed

ALONE = "costcalc_slack_replay_memory_alone_total"
WORKERS, TIMES = 2, 16


class Memory:
    def __init__(self):
        self.asked, self.fails = [], False

    def add(self, key, now, expires):
        self.asked.append(key)
        if self.fails:
            raise OSError("gone")
        return True


def test_the_own_memory_forgets_what_has_expired():
    replays = Replays(Memory())
    assert replays.is_new("a", 1000.5)
    assert not replays.is_new("a", 1001)
    assert not replays.is_new("a", 1601)
    assert replays.is_new("b", 1602)
    assert list(replays._own) == ["b"]


def test_what_another_worker_used_is_refused():
    memory = Memory()
    memory.add = lambda key, now, expires: False
    assert not Replays(memory).is_new("a", 1000)


def test_while_the_memory_fails_it_rests_and_is_counted(caplog):
    memory = Memory()
    replays = Replays(memory)
    memory.fails = True
    before = REGISTRY.get_sample_value(ALONE)
    assert [replays.is_new(key, 1000) for key in "aab"] == [True, False, True]
    assert memory.asked == ["a"]
    assert REGISTRY.get_sample_value(ALONE) - before == 2
    assert "remembered by one worker alone" in caplog.text
    memory.fails = False
    assert replays.is_new("c", 1000 + REST_SECONDS)
    assert memory.asked == ["a", "c"]


def test_a_memory_that_failed_is_asked_again_after_ten_seconds():
    memory = Memory()
    replays = Replays(memory)
    memory.fails = True
    replays.is_new("a", 1000)
    assert [replays.is_new(key, now) for key, now in (("b", 1009), ("c", 1010))] == [True, True]
    assert memory.asked == ["a", "c"]
    assert replays.is_new("d", 500), "the clock was set back"
    assert memory.asked == ["a", "c", "d"]


@pytest.mark.parametrize(
    ("seconds", "wanted"),
    [(300, Proof.GOOD), (-300, Proof.GOOD), (301, Proof.STALE), (-301, Proof.STALE), (0, Proof.GOOD)],
)
def test_a_signature_is_good_for_five_minutes_to_the_second(seconds, wanted):
    signature = sign(SECRET, "1800000000", b"text=models")
    assert check(SECRET, "1800000000", signature, b"text=models", 1_800_000_000 + seconds) is wanted
    assert check(SECRET, "1800000000", signature, b"text=model", 1_800_000_000 + seconds) is Proof.BAD


def test_redis_is_used_where_it_is_configured():
    assert isinstance(shared_memory(Settings()), ReplayStore)
    assert isinstance(shared_memory(Settings(redis_url="redis://127.0.0.1:6379")), RedisMemory)


@pytest.fixture
def redis_url(tmp_path):
    program = installed("redis-server", "redis-server")
    [port] = free_ports(1)
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    yield f"redis://127.0.0.1:{port}/0"
    server.terminate()
    server.wait(60)


def test_redis_remembers_for_all(redis_url):
    first, second = RedisMemory(redis_url), RedisMemory(redis_url)
    deadline = time.monotonic() + 60
    while True:
        try:
            assert first.add("a", 1000, 1600)
            break
        except OSError:  # redis.ConnectionError is one: it has not started yet
            assert time.monotonic() < deadline
            time.sleep(0.05)
    assert not second.add("a", 1000, 1600)
    assert 590 < first._client.ttl("costcalc:slack:a") <= 600


@pytest.fixture(scope="module")
def live_slack(tmp_path_factory):
    home = tmp_path_factory.mktemp("workers")
    server = start_server(home, COSTCALC_WORKERS=str(WORKERS), COSTCALC_SLACK_SIGNING_SECRET=SECRET)
    server.wait_until_ready()
    yield server
    server.stop()


def test_of_all_workers_one_answers_a_request_once(live_slack):
    body = form("resnet50 0.757")
    headers = signed(body)
    replies = [requests.post(f"{live_slack.url}/slack/cost", body, headers=headers, timeout=60) for _ in range(TIMES)]
    assert sorted(reply.status_code for reply in replies) == [200] + [401] * (TIMES - 1)
    assert live_slack.get("/metrics").text.count(f"{ALONE} 0.0") == 1


@pytest.mark.parametrize("first", ["", "trend "])
def test_a_megabyte_and_a_wrong_signature_over_real_http(live_slack, first):
    body = form(f"{first}{'x' * 1_000_000}")
    headers = signed(body)
    reply = requests.post(f"{live_slack.url}/slack/cost", body, headers=headers, timeout=60)
    assert "write at most 2000" in reply.json()["text"]
    bad = {**headers, "X-Slack-Signature": "v0=0"}
    assert requests.post(f"{live_slack.url}/slack/cost", body, headers=bad, timeout=60).status_code == 401
