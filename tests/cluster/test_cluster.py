"""What goes wrong in a company's cluster, while it is asked: nobody notices, or everybody is told."""

import random
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
import requests
from cluster.conftest import BEARER, TOKEN, get
from fakes.slack import form, signed
from support.asking import CLIENTS

from pricing.store import HEAD
from tools.cluster.cluster import REDIS_PORT, Ports, check_programs, is_open, status_of, wait_for

ROOT = Path(__file__).parents[2]
ASKED = "/cost?model=resnet50&target=0.757&limit=3"
SHEET = (
    "provider,region,instance_type,purchase_option,currency,hourly_rate\naws,us-east-1,p3.2xlarge,on_demand,USD,{}\n"
)


def ready(cluster):
    return [status_of(port, "/readyz") for port in cluster.ports.servers]


def snapshots(cluster):
    return {get(port, "/readyz").json()["snapshot"] for port in cluster.ports.servers}


def test_a_rolling_restart_fails_no_request(cluster, clients):
    before = [server.process.pid for server in cluster.servers]
    for server in cluster.servers:
        cluster.restart(server)
        clients.wait_for(20)
    assert not {server.process.pid for server in cluster.servers} & set(before)
    assert clients.failures == []


def test_a_killed_server_is_not_missed(cluster, clients):
    cluster.servers[0].kill()
    clients.wait_for(30)
    cluster.bring_back(cluster.servers[0])
    clients.wait_for(20)
    seen_before = [failure for failure in clients.failures if failure.startswith("POST /slack/cost: 401")]
    assert clients.failures == seen_before, "a slash command is answered once, and the answer went with the server"
    assert len(seen_before) <= CLIENTS


def test_while_postgresql_is_away_the_last_prices_answer_and_readyz_says_so(cluster, clients):
    cluster.postgres.stop()
    try:
        wait_for(lambda: ready(cluster) == [503, 503])
        clients.wait_for(30)
        earlier = get(cluster.ports.nginx, ASKED + "&as_of=2025-06-01")
        refused = cluster.refresh("sheet")
    finally:
        cluster.postgres.start()
    wait_for(lambda: ready(cluster) == [200, 200])
    clients.wait_for(20)
    assert clients.failures == []
    assert earlier.status_code in (200, 503)
    assert (refused.returncode, "Traceback" in refused.stderr) == (1, False)
    assert "the price store" in refused.stderr


def test_while_redis_is_away_nobody_is_refused(cluster, clients):
    cluster.redis.kill()
    clients.wait_for(30)
    cluster.redis.start()
    cluster.redis.wait()
    clients.wait_for(30)
    assert clients.failures == []


def test_connections_to_the_database_are_cut_and_nobody_notices(cluster, clients):
    for _ in range(5):
        cluster.postgres.cut_connections()
        clients.wait_for(20)
    assert clients.failures == []


def test_a_refresh_reaches_every_server_and_two_at_once_both_end_well(cluster, clients, tmp_path):
    before = snapshots(cluster)
    for rate in ("2.11", "2.12"):
        (tmp_path / rate).write_text(SHEET.format(rate))
    with ThreadPoolExecutor() as pool:
        both = [pool.submit(cluster.refresh, "sheet", COSTCALC_SHEET=str(tmp_path / rate)) for rate in ("2.11", "2.12")]
        ended = [each.result() for each in both]
    assert [each.returncode for each in ended] == [0, 0], [each.stderr for each in ended]
    published = [each.stdout.partition("snapshot ")[2].partition(":")[0] for each in ended]
    assert len(set(published)) == 2
    wait_for(lambda: len(snapshots(cluster)) == 1 and snapshots(cluster) <= set(published))
    clients.wait_for(20)
    assert clients.failures == []
    assert not before & snapshots(cluster)


def test_the_schema_of_a_later_version_comes_while_this_one_answers(cluster, clients):
    with psycopg.connect(cluster.database_url) as connection:  # in one transaction, as alembic does it
        connection.execute("ALTER TABLE snapshots ADD COLUMN of_a_later_version TEXT")
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        clients.wait_for(30)
    try:
        refused = cluster.refresh("sheet")
        clients.wait_for(20)
        assert ready(cluster) == [200, 200]
    finally:
        with psycopg.connect(cluster.database_url) as connection:
            connection.execute("ALTER TABLE snapshots DROP COLUMN of_a_later_version")
            connection.execute("UPDATE alembic_version SET version_num = %s", [HEAD])
    assert clients.failures == []
    assert refused.returncode == 1
    assert "was written by a newer costcalc (9999, this one knows" in refused.stderr


AHEAD = """
import datetime, sys, time
now, ahead = time.time, float(sys.argv.pop(1))
time.time = lambda: now() + ahead
import api.bootstrap
api.bootstrap.utc_now = lambda: datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=ahead)
from api.cli.main import main
main()
"""


@pytest.fixture
def fast(cluster):
    """The port of one more server of the same cluster, whose clock is a minute fast."""
    port = Ports.free(1).servers[0]
    server = cluster.server(port, (sys.executable, "-c", AHEAD, "60"))
    server.start()
    server.wait()
    yield port
    server.stop()


def repeated_on(ports):
    """What the servers on these ports answer in turn to one signed command."""
    body = form("resnet50 0.757", trigger_id=str(time.monotonic()))
    headers = signed(body)
    return [
        requests.post(f"http://127.0.0.1:{port}/slack/cost", body, headers=headers, timeout=30).status_code
        for port in ports
    ]


def test_clocks_a_minute_apart(cluster, fast):
    right = cluster.ports.servers[0]
    told = get(fast, ASKED).json()["prices"]["as_of"]
    assert timedelta(seconds=30) < datetime.fromisoformat(told) - datetime.now(UTC) < timedelta(seconds=90)
    assert (
        get(fast, f"{ASKED}&as_of={told}").json()["estimates"]
        == get(right, f"{ASKED}&as_of={told}").json()["estimates"]
    )

    wait_for(lambda: repeated_on((fast, right, fast)) == [200, 401, 401])  # ten seconds after Redis was away

    form_of_page = {"token": TOKEN, "next": "/"}
    signed_in = requests.post(f"http://127.0.0.1:{fast}/signin", form_of_page, timeout=30, allow_redirects=False)
    page = requests.get(f"http://127.0.0.1:{right}{ASKED}", cookies=signed_in.cookies.get_dict(), timeout=30)
    assert page.status_code == 200, "the cookie of a server whose clock is fast"


def free_ports():
    """The first of eleven that nobody listens on, below those that other tests' connections are given."""
    start = random.randrange(20_000, 30_000)
    return next(port for port in range(start, 32_000) if not any(map(is_open, range(port, port + REDIS_PORT + 1))))


def test_make_cluster_says_where_it_is_and_stops_cleanly(tmp_path):
    check_programs()
    port = free_ports()
    command = [sys.executable, "-m", "tools.cluster", "--port", str(port), "--servers", "1"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == f"costcalc     http://127.0.0.1:{port}\n"
        told = [process.stdout.readline() for _ in range(5)]
        assert requests.get(f"http://127.0.0.1:{port}{ASKED}", headers=BEARER, timeout=30).ok
    finally:
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "stopping\n"
        process.send_signal(signal.SIGINT)  # an impatient person's
        assert process.wait(120) == 0
        process.stdout.close()
    assert not Path(told[3].split()[1]).exists()
    assert not is_open(port)


@pytest.mark.parametrize(
    ("port", "beside", "told"),
    [
        (None, 0, "port {} is taken: CLUSTER_PORT=9000"),
        (None, 10, "port {} is taken: CLUSTER_PORT=9000"),
        (65_530, 10, "there is no port {}: CLUSTER_PORT may be 1 to 65525"),
    ],
)
def test_make_cluster_says_which_port_it_cannot_have(port, beside, told):
    with socket.socket() as taken:
        first = port or free_ports()
        taken.bind(("127.0.0.1", first + beside if not port else 0))
        taken.listen()
        command = [sys.executable, "-m", "tools.cluster", "--port", str(first), "--servers", "1"]
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert (ended.returncode, ended.stderr.startswith(told.format(first + beside))) == (1, True), ended.stderr
