"""Replay keeps the newest answers within its bounds, forgets them in time, and never crosses clients or versions."""

import pytest

from api.web import replay as caching
from api.web.replay import KEEP, Asked, Keep, Replay, matches, tag


class Backend:
    """A WSGI application that counts how often it is really asked."""

    def __init__(self, body=b"answer"):
        self.calls, self.body, self.version = 0, body, "v1"

    def __call__(self, environ, start_response):
        self.calls += 1
        headers = [("ETag", 'W/"t"'), ("Content-Type", "text/plain"), ("Cache-Control", "max-age=60")]
        start_response("200 OK", headers)
        asked = Asked(None, self.version, (environ["QUERY_STRING"], self.version))
        environ[KEEP] = asked, Keep('W/"t"', "/cost", headers, self.body)
        return [self.body]


@pytest.fixture
def backend():
    return Backend()


def ask(replay, query="a=1", **environ):
    told = {}

    def start_response(status, headers):
        told.update(status=status[:3], headers=dict(headers))

    asked = {"REQUEST_METHOD": "GET", "PATH_INFO": "/cost", "QUERY_STRING": query, **environ}
    told["body"] = b"".join(replay(asked, start_response))
    return told


def over(backend, most=10):
    return Replay(backend, lambda _: backend.version, most)


def test_the_same_request_is_replayed(backend):
    replay = over(backend)
    assert ask(replay) == ask(replay)
    assert backend.calls == 1


@pytest.mark.parametrize(
    "other",
    [
        {"query": "a=2"},
        {"PATH_INFO": "/x"},
        {"HTTP_ACCEPT": "text/csv"},
        {"HTTP_AUTHORIZATION": "Bearer x"},
        {"HTTP_COOKIE": "costcalc=x"},
        {"HTTP_ACCEPT_ENCODING": "gzip"},
        {"REQUEST_METHOD": "HEAD"},
        {"HTTP_HOST": "elsewhere"},
        {"wsgi.url_scheme": "https"},
    ],
)
def test_another_request_is_not(backend, other):
    replay = over(backend)
    ask(replay)
    ask(replay, **other)
    assert backend.calls == 2


def test_a_new_version_is_asked_again(backend):
    replay = over(backend)
    ask(replay)
    backend.version = "v2"
    ask(replay)
    assert backend.calls == 2


def test_spellings_share_one_answer_and_the_oldest_of_many_are_parsed_again(backend):
    replay = over(backend, most=2)
    for host in "abcdefghi":
        ask(replay, HTTP_HOST=host)
    assert backend.calls == 9
    assert replay.named(("a=1", "v1"))
    for host in "ihgfedcb":
        ask(replay, HTTP_HOST=host)
    assert backend.calls == 9
    ask(replay, HTTP_HOST="a")
    assert backend.calls == 10


def test_a_request_of_thousands_of_signs_is_parsed_each_time(backend):
    replay = over(backend)
    for _ in "ab":
        ask(replay, HTTP_COOKIE="x" * caching.LONGEST_KEY)
    assert backend.calls == 2


def test_an_answer_is_forgotten_after_ten_minutes(backend, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(caching, "monotonic", lambda: now[0])
    replay = over(backend)
    ask(replay)
    now[0] = caching.SECONDS_KEPT - 1
    ask(replay)
    assert backend.calls == 1
    now[0] = caching.SECONDS_KEPT + 1
    ask(replay)
    assert backend.calls == 2


def test_the_bounds_are_ten_minutes_and_24_mebibytes():
    assert (caching.SECONDS_KEPT, caching.MOST_BYTES, caching.LARGEST) == (600, 25_165_824, 1_048_576)


def test_the_oldest_make_room(backend):
    replay = over(backend, most=2)
    for query in ("a", "b", "c", "b", "c"):
        ask(replay, query)
    assert backend.calls == 3
    ask(replay, "a")
    assert backend.calls == 4


def test_what_is_asked_again_outlives_what_nobody_repeats(backend):
    replay = over(backend, most=2)
    for query in ("asked often", "once", "asked often", "once more", "asked often"):
        ask(replay, query)
    assert backend.calls == 3


def test_an_answer_that_is_asked_for_again_takes_the_room_of_one(backend):
    replay = over(backend, most=3)
    for query in ("once", "again", "again", "new", "once"):
        ask(replay, query)
    assert backend.calls == 3


def test_a_new_answer_takes_the_place_of_the_one_not_asked_for_longest_where_all_are_repeated(backend):
    replay = over(backend, most=4)
    for query in (*"abcd", *"abcd", "new", "new", *"bcd"):
        ask(replay, query)
    assert backend.calls == 5
    ask(replay, "a")
    assert backend.calls == 6


def test_an_answer_that_is_given_anew_counts_once(backend, monkeypatch):
    monkeypatch.setattr(caching, "MOST_BYTES", 2 * len(backend.body))
    replay = over(backend)
    for backend.version in ("v1", "v2", "v3"):
        ask(replay, "a")
    ask(replay, "b")
    ask(replay, "a")
    assert backend.calls == 4, "both still have room"


def test_nothing_large_is_kept_and_all_of_it_within_bounds(monkeypatch):
    monkeypatch.setattr(caching, "LARGEST", 10)
    monkeypatch.setattr(caching, "MOST_BYTES", 25)
    large, small = Backend(b"x" * 11), Backend(b"x" * 10)
    for backend in (large, small):
        replay = over(backend)
        for query in ("a", "b", "c", "c", "b", "a"):
            ask(replay, query)
    assert large.calls == 6
    assert small.calls == 4


def test_a_size_of_none_keeps_nothing(backend):
    replay = over(backend, most=0)
    ask(replay)
    ask(replay)
    assert backend.calls == 2


def test_304_has_the_tag_and_no_body_or_content_headers(backend):
    replay = over(backend)
    ask(replay)
    told = ask(replay, HTTP_IF_NONE_MATCH='"t"')
    assert (told["status"], told["body"]) == ("304", b"")
    assert set(told["headers"]) == {"ETag", "Cache-Control"}
    assert ask(replay, HTTP_IF_NONE_MATCH='"else"')["status"] == "200"


@pytest.mark.parametrize(
    ("header", "same"),
    [
        ('W/"t"', True),
        ('"t"', True),
        ("*", True),
        ('"a", W/"t"', True),
        ('"a"', False),
        ("", False),
        (None, False),
    ],
)
def test_tags_are_compared_weakly(header, same):
    assert matches(header, 'W/"t"') is same


def test_a_tag_tells_its_parts_apart():
    assert tag("a", "b") == tag("a", "b")
    assert len({tag("a", "b"), tag("ab"), tag("ab", ""), tag("b", "a")}) == 4
