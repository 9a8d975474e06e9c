"""nginx with the configuration that is deployed, before a server that goes away once it has read a request."""

import re
import socket
import subprocess
import threading
from contextlib import closing
from pathlib import Path

import pytest
import requests

from tools.cluster.cluster import free_ports, is_open, wait_for
from tools.cluster.program import installed

CONFIGURATION = Path(__file__).parents[2] / "deploy" / "nginx.conf"


class GoesAway(threading.Thread):
    """A server that closes the connection after the first request, and answers every later one."""

    def __init__(self):
        super().__init__(daemon=True)
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.requests = []
        self.heads = []

    def run(self):
        while True:
            connection, _ = self.socket.accept()
            with closing(connection):
                self.heads.append(request_head(connection))
                self.requests.append(self.heads[-1].partition(" HTTP")[0])
                if len(self.requests) > 1:
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")


def request_head(connection):
    """The lines of a request before its body, which is read whole."""
    read = b""
    while b"\r\n\r\n" not in read:
        read += connection.recv(65536)
    head, _, body = read.partition(b"\r\n\r\n")
    length = int((re.search(rb"(?i)content-length: (\d+)", head) or [0, 0])[1])
    while len(body) < length:
        body += connection.recv(65536)
    return head.decode()


@pytest.fixture
def server():
    server = GoesAway()
    server.start()
    return server


@pytest.fixture
def url(server, tmp_path):
    """nginx's address; it knows the server as two."""
    [port] = free_ports(1)
    peer = "server web:8000 max_fails=3 fail_timeout=1s;"
    text = CONFIGURATION.read_text()
    assert peer in text
    own = {
        peer: f"server 127.0.0.1:{server.port}; " * 2,
        "listen 8080": f"listen 127.0.0.1:{port}",
        "/tmp/": f"{tmp_path}/",
    }
    for theirs, ours in own.items():
        text = text.replace(theirs, ours)
    (tmp_path / "nginx.conf").write_text(text)
    running = subprocess.Popen([installed("nginx", "nginx-light"), "-c", tmp_path / "nginx.conf", "-g", "daemon off;"])
    try:
        wait_for(lambda: is_open(port))
        yield f"http://127.0.0.1:{port}"
    finally:
        running.terminate()
        running.wait(60)


@pytest.mark.parametrize("path", ["/recipes", "/costcalc/recipes", "/signin", "/plans"])
def test_a_post_that_may_have_stored_something_is_not_sent_again(server, url, path):
    answer = requests.post(url + path, data="epoch,accuracy", timeout=60)
    assert (answer.status_code, answer.headers["Retry-After"], answer.json()["status"]) == (503, "5", 503)
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert server.requests == [f"POST {path}"]


@pytest.mark.parametrize("path", ["/plan", "/plan.csv", "/plan.xlsx", "/slack/cost", "/costcalc/plan"])
def test_a_post_that_stores_nothing_is_sent_to_another_server(server, url, path):
    assert requests.post(url + path, data="model,target", timeout=60).status_code == 200
    assert server.requests == [f"POST {path}"] * 2


def test_a_question_is_sent_to_another_server(server, url):
    assert requests.get(f"{url}/cost?model=resnet50", timeout=60).status_code == 200
    assert server.requests == ["GET /cost?model=resnet50"] * 2


def test_what_a_client_says_of_its_own_address_is_dropped(server, url):
    requests.get(f"{url}/cost", headers={"X-Forwarded-For": "198.51.100.7"}, timeout=60)
    assert [re.findall(r"(?i)x-forwarded-for: (.*)\r", head) for head in server.heads] == [["127.0.0.1"]] * 2
