"""The production server over real HTTP: what only a real server shows."""

import json
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import requests
from support.live_server import COSTCALC, clean_environment, start_server

ROOT = Path(__file__).parents[3]
ASKED = "/cost?model=resnet50&target=0.757&limit=3"


def test_it_answers_and_knows_what_a_client_has(live):
    first = live.get(ASKED)
    assert first.status_code == 200
    assert first.json()["count"] > 3
    for _ in range(6):  # by whichever worker
        again = live.get(ASKED, headers={"If-None-Match": first.headers["ETag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert live.get(ASKED).json()["estimates"] == first.json()["estimates"]


def test_replayed_answers_carry_every_header(live):
    answers = [live.get(ASKED) for _ in range(8)]
    headers = [{name: value for name, value in each.headers.items() if name != "Date"} for each in answers]
    assert headers == [headers[0]] * len(headers)
    assert int(headers[0]["Content-Length"]) == len(answers[0].content)
    assert headers[0]["X-Content-Type-Options"] == "nosniff"


def test_a_value_of_10000_characters_is_our_error_not_the_servers(live):
    response = live.get(ASKED + "&provider=" + "x" * 10_000)
    assert (response.status_code, response.headers["Content-Type"]) == (400, "application/problem+json")
    assert "10000 characters" in response.json()["errors"]["provider"][0]


def test_a_wrong_method_and_a_large_body(live):
    response = requests.post(live.url + "/cost", timeout=30)
    assert (response.status_code, "GET" in response.headers["Allow"]) == (405, True)
    response = requests.post(live.url + "/cost", data=b"x" * 2_000_000, timeout=30)
    assert response.status_code in (405, 413)
    assert response.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("sent", "status", "says"),
    [
        (b"\x00\xff\xfe nonsense\r\n\r\n", 400, "percent-encode"),
        ("GET /cost?model=résnet50 HTTP/1.1\r\n\r\n".encode(), 400, "percent-encode"),
        (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", 414, "at most 65536 bytes"),
        (b"GET / HTTP/1.1\r\nX-Long: " + b"a" * 20_000 + b"\r\n\r\n", 431, "a header is too long"),
    ],
)
def test_what_is_not_http_is_refused_in_our_form(live, sent, status, says):
    host, port = live.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(sent)
        head, _, body = connection.recv(2000).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert b"Content-Type: application/problem+json" in head
    problem = json.loads(body)
    assert (problem["status"], says in problem["detail"]) == (status, True)
    assert live.get("/healthz").ok


def test_it_opens_no_door_beside_its_address(live):
    assert live.get("/healthz").ok
    assert not [path for path in live.home.rglob("*") if path.is_socket() or path.name == ".gunicorn"]


def test_metrics_count_all_workers_together(live):
    def replayed():
        lines = live.get("/metrics").text.splitlines()
        found = [
            line for line in lines if line.startswith('costcalc_http_requests_total{path="replayed",status="200"}')
        ]
        return float(found[0].rsplit(" ", 1)[1]) if found else 0.0

    before = replayed()
    for _ in range(10):
        live.get(ASKED)
    assert 8 <= replayed() - before <= 10


def test_the_page_and_the_docs_need_nothing_from_elsewhere(live):
    for path in ("/", "/docs", "/style.css"):
        response = live.get(path)
        assert response.ok, path
        assert "default-src 'none'" in response.headers["Content-Security-Policy"]
    assert "resnet50" in live.get("/").text


def test_a_store_that_disappears_is_not_missed_but_told(tmp_path):
    server = start_server(tmp_path, COSTCALC_POLL_SECONDS="0.2", COSTCALC_WORKERS="1")
    try:
        server.wait_until_ready()
        before = server.get(ASKED + "&_=1").json()
        for folder in (tmp_path / ".local").rglob("costcalc"):
            shutil.rmtree(folder)
        deadline = time.monotonic() + 15
        while server.get("/readyz").ok and time.monotonic() < deadline:
            time.sleep(0.1)
        unready = server.get("/readyz")
        assert unready.status_code == 503
        assert "cannot be reached" in unready.json()["detail"]
        assert server.get("/healthz").ok
        assert server.get(ASKED + "&_=2").json()["estimates"] == before["estimates"]
    finally:
        assert server.stop() == 0


def test_no_store_at_all_is_503_until_there_is_one(tmp_path):
    place = tmp_path / "not-yet"
    place.write_text("a file where the folder should be")
    url = f"sqlite:///{place}/prices.sqlite3"
    server = start_server(tmp_path, COSTCALC_DATABASE_URL=url, COSTCALC_POLL_SECONDS="0.2", COSTCALC_WORKERS="1")
    try:
        deadline = time.monotonic() + 30
        while (response := server.get(ASKED)).status_code != 503 and time.monotonic() < deadline:
            time.sleep(0.2)
        assert response.headers["Content-Type"] == "application/problem+json"
        place.unlink()
        server.wait_until_ready()
        assert server.get(ASKED).status_code == 200
    finally:
        server.stop()


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_when_told(tmp_path, stop):
    server = start_server(tmp_path, COSTCALC_WORKERS="1")
    server.wait_until_ready()
    server.process.send_signal(stop)
    assert server.process.wait(30) == 0
    assert "Traceback" not in server.log.read_text()


def test_a_bad_setting_stops_it_at_once(tmp_path):
    environment = clean_environment(tmp_path, COSTCALC_WORKERS="many")
    ended = subprocess.run(
        [COSTCALC, "serve"], env=environment, capture_output=True, text=True, timeout=60, check=False
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
    for package in ("api", "costcalc", "pricing"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
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
        timeout=60,
        check=False,
    )
    assert ended.returncode != 0
    assert complaint in ended.stderr
    assert "Traceback" not in ended.stderr
