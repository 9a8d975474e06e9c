"""The production server over real HTTP: what only a real server shows."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest
import requests
from fakes.slack import SECRET, form, signed
from support.live_server import COSTCALC, PATIENCE, clean_environment, start_server

from api.web.serving.server import HEADER_SECONDS, _Server
from tools.cluster.cluster import wait_for

ROOT = Path(__file__).parents[4]
STOP_SECONDS = PATIENCE - 60
ASKED = "/cost?model=resnet50&target=0.757&limit=3"
LARGE = "model=resnet50&target=0.5&regions=all&limit=1000"


def test_it_answers_and_knows_what_a_client_has(live):
    first = live.get(ASKED)
    assert first.status_code == 200
    assert first.json()["count"] > 3
    for _ in range(6):  # by whichever worker
        again = live.get(ASKED, headers={"If-None-Match": first.headers["ETag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert live.get(ASKED).json()["estimates"] == first.json()["estimates"]


def test_a_stop_that_comes_as_a_worker_dies_is_a_stop():
    server = _Server("costcalc", interface="asginl", respawn_failed_workers=True)
    stop = server.signal_handler_interrupt

    class Respawned(dict):
        def clear(self):  # as granian does just before it forgets what rang
            stop(15, None)

    server.interrupt_children.append(0)
    server.main_loop_interrupt.set()
    server.respawned_wrks = Respawned()
    serving = threading.Thread(target=server._serve_loop, args=(None, None), daemon=True)
    serving.start()
    serving.join(60)
    assert not serving.is_alive()


def test_replayed_answers_carry_every_header(live):
    answers = [live.get(ASKED, headers={"Accept-Encoding": "identity"}) for _ in range(8)]
    own = ("date", "x-request-id")
    headers = [{name: value for name, value in each.headers.items() if name not in own} for each in answers]
    assert headers == [headers[0]] * len(headers)
    assert int(headers[0]["content-length"]) == len(answers[0].content)
    assert headers[0]["x-content-type-options"] == "nosniff"


def test_a_value_of_10000_characters_is_our_error_not_the_servers(live):
    response = live.get(ASKED + "&provider=" + "x" * 10_000)
    assert (response.status_code, response.headers["Content-Type"]) == (400, "application/problem+json")
    assert "10000 characters" in response.json()["errors"]["provider"][0]


def test_a_wrong_method_and_a_large_body(live):
    response = requests.post(live.url + "/cost", timeout=60)
    assert (response.status_code, "GET" in response.headers["Allow"]) == (405, True)
    response = requests.post(live.url + "/cost", data=b"x" * 2_000_000, timeout=60)
    assert response.status_code in (405, 413)
    assert response.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"\x00\xff\xfe nonsense\r\n\r\n", 400),
        ("GET /cost?model=résnet50 HTTP/1.1\r\nHost: x\r\n\r\n".encode(), 400),
        (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 414),
        (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X-A: a\r\n" * 200 + b"\r\n", 431),
        (b"POST /plan HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nmodel", 400),
        (b"GET /healthz HTTP/1.1\r\n\r\n", 400),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 400),
        (b"GET /healthz HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost/../x\r\n\r\n", 400),
        (b"GET /healthz HTTP/1.0\r\n\r\n", 200),
        (b"GET /models HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421),
    ],
)
def test_what_is_no_request_of_http_to_us_is_refused(live, sent, status):
    with connected(live, sent) as connection:
        assert connection.recv(2000).partition(b" ")[2].startswith(b"%d " % status)
    assert live.get("/healthz").ok


@pytest.mark.parametrize("path", ["cost.atom", "cost", ""])
def test_no_other_name_than_that_of_the_host_header_is_used(live, path):
    """Granian hands over the path of an absolute address alone, and no header but Host names a host."""
    named = f"GET http://evil.example/{path}?model=resnet50&target=0.757 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    headers = "".join(
        f"{name}: evil.example\r\n" for name in ("X-Forwarded-Host", "X-Forwarded-Prefix", "X-Original-URL")
    )
    with connected(
        live, f"{named}{headers}Forwarded: host=evil.example\r\nAccept: text/html\r\n\r\n".encode()
    ) as connection:
        answer = connection.makefile("rb").read()
    assert answer.startswith((b"HTTP/1.1 200", b"HTTP/1.1 303"))
    assert b"evil" not in answer


@contextmanager
def connected(server, sent):
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=90) as connection:
        with suppress(ConnectionError):  # it may refuse before all is sent
            connection.sendall(sent)
        yield connection


UNFINISHED = (
    b"",
    b"GET /cost HTTP/1.1\r\nHost: x\r\nX-A: ",
    b"POST /plan HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nmodel",
    b"POST /plan HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nmodel\r\n",
)


def test_connections_that_say_nothing_hold_nobody_up_and_are_cut_off(live):
    with ExitStack() as open_connections:
        hostile = [open_connections.enter_context(connected(live, sent)) for sent in UNFINISHED * 100]
        started = time.monotonic()
        assert live.get("/healthz").ok
        assert live.get(ASKED).ok
        assert time.monotonic() - started < HEADER_SECONDS
        for connection in hostile:
            while connection.recv(1000):  # some are told 408 before
                pass


def test_a_chunked_body_is_refused_by_its_size(live):
    sent = b"POST /plan HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + b"10000\r\n" + b"a" * 65536
    with connected(live, sent + b"\r\n10000\r\n" + b"a" * 65536) as connection:
        with suppress(ConnectionError):
            for _ in range(20):
                connection.sendall(b"\r\n10000\r\n" + b"a" * 65536)
        assert connection.recv(2000).startswith(b"HTTP/1.1 413 ")


def test_it_opens_no_door_beside_its_address(live):
    assert live.get("/healthz").ok
    assert not [path for path in live.home.rglob("*") if path.is_socket() or path.name == ".gunicorn"]


def test_metrics_count_all_workers_together(live):
    def counted(name):
        lines = live.get("/metrics").text.splitlines()
        found = [line for line in lines if line.startswith(name)]
        return float(found[0].rsplit(" ", 1)[1]) if found else 0.0

    requests_before = counted('costcalc_http_requests_total{path="/cost",status="200"}')
    replays_before = counted('costcalc_http_replays_total{path="/cost"}')
    for _ in range(10):
        live.get(ASKED)
    assert counted('costcalc_http_requests_total{path="/cost",status="200"}') - requests_before == 10
    assert 8 <= counted('costcalc_http_replays_total{path="/cost"}') - replays_before <= 10


def test_the_page_and_the_docs_need_nothing_from_elsewhere(live):
    for path in ("/", "/docs", "/style.css"):
        response = live.get(path)
        assert response.ok, path
        assert "default-src 'none'" in response.headers["Content-Security-Policy"]
    assert "resnet50" in live.get("/").text


GONE = (
    "cannot be reached: it is gone, and with it the refreshed prices and people's own runs: restore a backup (`costcalc"
)


def detail_of(server, path):
    """What a refusal says; empty where nobody listens or the answer is none."""
    with suppress(requests.RequestException):
        return server.get(path).json().get("detail", "")
    return ""


def in_slack(server):
    """What a slash command is answered."""
    body = form("resnet50 0.757", trigger_id=str(time.monotonic()))
    return requests.post(f"{server.url}/slack/cost", body, headers=signed(body), timeout=60).text


def test_a_store_that_disappears_is_not_missed_but_told(tmp_path):
    slack = {"COSTCALC_SLACK_SIGNING_SECRET": SECRET}  # whose used signatures are remembered in the store
    server = start_server(tmp_path, COSTCALC_POLL_SECONDS="0.2", COSTCALC_WORKERS="1", **slack)
    try:
        server.wait_until_ready()
        before = server.get(ASKED + "&_=1").json()
        for folder in (tmp_path / ".local").rglob("costcalc"):
            shutil.rmtree(folder)
        wait_for(lambda: not server.get("/readyz").ok)
        unready = server.get("/readyz")
        assert unready.status_code == 503
        assert GONE in unready.json()["detail"]
        assert server.get("/healthz").ok
        assert server.get(ASKED + "&_=2").json()["estimates"] == before["estimates"]
        wait_for(lambda: "table" in in_slack(server))  # a busy machine first says that the answer follows
        (worker,) = children(server.process.pid)
        os.kill(worker, signal.SIGKILL)
        wait_for(lambda: only_child(server.process.pid) not in (None, worker))
        for path in ("/readyz", ASKED):
            wait_for(lambda path=path: GONE in detail_of(server, path))
        assert not list(tmp_path.rglob("prices.sqlite3")), "no worker begins another"
    finally:
        assert server.stop() == 0


def test_no_store_at_all_is_503_until_there_is_one(tmp_path):
    place = tmp_path / "not-yet"
    place.write_text("a file where the folder should be")
    url = f"sqlite:///{place}/prices.sqlite3"
    server = start_server(tmp_path, COSTCALC_DATABASE_URL=url, COSTCALC_POLL_SECONDS="0.2", COSTCALC_WORKERS="1")
    try:
        wait_for(lambda: server.get(ASKED).status_code == 503)
        response = server.get(ASKED)
        assert response.headers["Content-Type"] == "application/problem+json"
        place.unlink()
        server.wait_until_ready()
        assert server.get(ASKED).status_code == 200
    finally:
        server.stop()


def program_with(**limits):
    """The command with other limits of the server: a stop that waits for ever and one on a busy machine differ by patience."""
    lines = [f"server.{name} = {value}" for name, value in limits.items()]
    script = ["from api.web.serving import server", *lines, "from api.cli.main import main", "main()"]
    return sys.executable, "-c", "\n".join(script)


def test_a_client_that_reads_nothing_is_cut_off_and_one_that_left_holds_no_stop_up(tmp_path):
    server = start_server(tmp_path, program_with(SEND_SECONDS=1, STOP_SECONDS=STOP_SECONDS), COSTCALC_WORKERS="1")
    server.wait_until_ready()
    with connected(server, f"GET /cost?{LARGE} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()) as connection:
        wait_for(lambda: not established(server, connection))
        with pytest.raises(ConnectionError):
            list(iter(partial(connection.recv, 1 << 20), b""))
    assert len(server.get(f"/cost?{LARGE}").json()["estimates"]) == 1000
    (worker,) = children(server.process.pid)
    idle = processor_seconds(worker)
    with connected(server, f"GET /cost.xlsx?{LARGE} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()):
        wait_for(lambda: processor_seconds(worker) > idle + 0.1)  # a thread works on it, for a second or two
    server.process.send_signal(signal.SIGINT)  # as a person stops it; others send SIGTERM
    assert ends_by_itself(server.process)
    assert "Traceback" not in server.log.read_text()


def processor_seconds(process):
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def established(server, connection):
    """Whether the server still holds its end of a connection."""
    ours, theirs = (f"{port:04X} " for port in (connection.getsockname()[1], connection.getpeername()[1]))
    ends = (line.split(":", 4) for line in Path("/proc/net/tcp").read_text().splitlines()[1:])
    return any(end[2].startswith(theirs) and end[3].startswith(ours + "01") for end in ends)


@pytest.mark.parametrize("hearing", [[True], [True, False]], ids=["while they load", "before they serve"])
def test_it_stops_although_its_workers_do_not_serve_yet(tmp_path, hearing):
    log, environment = tmp_path / "log", clean_environment(tmp_path, COSTCALC_WORKERS="1", COSTCALC_REFRESH="off")
    with log.open("w") as output:
        command = [*program_with(STOP_SECONDS=STOP_SECONDS), "serve", "--bind", "127.0.0.1:0"]
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
    try:
        for expected in hearing:
            wait_for(lambda now=expected: [hears(worker) for worker in children(process.pid)] == [now], PATIENCE)
    finally:
        process.terminate()
        assert ends_by_itself(process)


def ends_by_itself(process):
    """Whether it ends well before it kills its workers. Granian's log is no witness: it calls one forced that is just ending."""
    began = time.monotonic()
    return process.wait(PATIENCE) == 0 and time.monotonic() - began < STOP_SECONDS


def hears(worker):
    """Whether SIGTERM ends it, which it does while it loads; a handler of its own stands before and after."""
    caught = int(re.search(r"SigCgt:\s*(\w+)", Path(f"/proc/{worker}/status").read_text())[1], 16)
    return not caught >> (signal.SIGTERM - 1) & 1


def children(pid):
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def only_child(pid):
    """None while there are none or several."""
    [only, *more] = children(pid) or [None]
    return None if more else only


DEAF = """
import re, sys
from api.web.serving import watchdog
from api.web import health
watchdog.DEAF_SECONDS = 2
answer = health.exposition
def deaf():
    re.match("(a+)+$", "a" * 60 + "b")  # holds the interpreter, and with it every thread
health.exposition = deaf
from api.cli.main import main
main()
"""


def test_a_deaf_worker_is_replaced_and_says_where_it_was(tmp_path):
    server = start_server(tmp_path, (sys.executable, "-c", DEAF), COSTCALC_WORKERS="1")
    server.wait_until_ready()
    with pytest.raises(requests.ConnectionError):
        server.get("/metrics")
    server.wait_until_ready()
    log = server.log.read_text()
    server.stop()
    assert "Timeout (0:00:02)!" in log
    assert "in deaf" in log


def test_systemd_hears_that_it_answers_and_nothing_while_it_does_not(tmp_path):
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        server = start_server(tmp_path, COSTCALC_WORKERS="1", NOTIFY_SOCKET=str(tmp_path / "notify"))
        (worker,) = children(server.process.pid)
        systemd.settimeout(PATIENCE)
        assert [systemd.recv(99) for _ in range(3)] == [b"READY=1", b"WATCHDOG=1", b"WATCHDOG=1"]
        os.kill(worker, signal.SIGSTOP)
        systemd.settimeout(3)
        with pytest.raises(TimeoutError):
            [systemd.recv(99) for _ in range(30)]  # those that were said before
        os.kill(worker, signal.SIGCONT)
        systemd.settimeout(PATIENCE)
        assert systemd.recv(99) == b"WATCHDOG=1"
        server.stop()


def test_a_killed_worker_is_replaced_as_often_as_it_happens_and_none_outlives_its_master(tmp_path):
    server = start_server(tmp_path, COSTCALC_WORKERS="1")
    for _ in range(2):
        server.wait_until_ready()
        (worker,) = children(server.process.pid)
        os.kill(worker, signal.SIGKILL)
        wait_for(lambda killed=worker: only_child(server.process.pid) not in (None, killed))
    server.wait_until_ready()
    workers = children(server.process.pid)
    server.process.kill()
    server.process.wait()
    wait_for(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))


def test_an_address_that_is_taken_is_said(live, tmp_path):
    bind = live.url.removeprefix("http://")
    command = [COSTCALC, "serve", "--bind", bind]
    ended = subprocess.run(
        command, env=clean_environment(tmp_path), capture_output=True, text=True, timeout=240, check=False
    )
    assert (ended.returncode, "Traceback" in ended.stderr) == (1, False)
    assert f"cannot listen on {bind}: Address already in use" in ended.stderr


def test_a_bad_setting_stops_it_at_once(tmp_path):
    environment = clean_environment(tmp_path, COSTCALC_WORKERS="many")
    ended = subprocess.run(
        [COSTCALC, "serve"], env=environment, capture_output=True, text=True, timeout=240, check=False
    )
    assert ended.returncode == 2
    assert "COSTCALC_WORKERS=many: write a whole number" in ended.stderr


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ("costcalc/evidence/data/recipes.csv", "recipes.csv, line 3"),
        ("pricing/packaged/data/offers.csv", "offers.csv, line 3"),
    ],
)
def test_a_corrupt_packaged_table_refuses_to_start_by_file_and_line(tmp_path, table, complaint):
    for package in ("api", "costcalc", "own_runs", "pricing"):
        shutil.copytree(ROOT / package, tmp_path / package)
    lines = (tmp_path / table).read_text("utf-8").splitlines(keepends=True)
    lines[2] = "torn,off\n"
    (tmp_path / table).write_text("".join(lines), "utf-8")
    ended = subprocess.run(
        [
            sys.executable,
            "-c",
            "from api.cli.main import main; main()",
            "serve",
            "--bind",
            "127.0.0.1:0",
            "--workers",
            "1",
        ],
        env=clean_environment(tmp_path, PYTHONPATH=str(tmp_path)),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert ended.returncode != 0
    assert complaint in ended.stderr
    assert "Traceback" not in ended.stderr


LARGE_ARRAYS = """
import numpy
from pathlib import Path
from api.web.serving.server import keep_memory_small

def mib():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20

keep_memory_small()
numpy.ones(4_000_000)  # 30 MiB: now the C library would keep smaller ones
before = mib()
for _ in range(3):
    large, small = zip(*((numpy.ones(250_000), numpy.ones(10_000)) for _ in range(50)))
    del large
print(mib() - before)
"""
SMALL_PIECES = """
import threading, time
from pathlib import Path
from api.web.serving import server

def mib():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20

server.TRIM_SECONDS = 0.1
pieces = [bytes(5000) for _ in range(20_000)]
last = bytes(5000)
before = mib()
del pieces
server.keep_memory_small()
while mib() > before - 60 and time.process_time() < 20:
    time.sleep(0.1)
print(before - mib())
"""


@pytest.mark.parametrize(("script", "least", "most"), [(LARGE_ARRAYS, -20, 20), (SMALL_PIECES, 60, 200)])
def test_a_worker_gives_back_what_it_held_for_a_while(script, least, most):
    told = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True, timeout=240
    )
    assert least < float(told.stdout) < most
