"""Price sources behind one local server that gives their recorded answers, `tests/recordings/NAME/answers.json`.

Such a file says where its figures come from (`origin`), which settings the recording needs beside address and keys
(`settings`), and what each request is answered (`answers`): a JSON `body`, a `text`, or a `file` beside it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pytest_httpserver import HTTPServer

from pricing.sources import SOURCES
from pricing.sources.common.http import Http
from pricing.sources.source import Collected

RECORDINGS = Path(__file__).parents[1] / "recordings"
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
SECRET = "a-key-that-nobody-may-see"
CONTENT_TYPES = {".json": "application/json", ".html": "text/html", ".csv": "text/csv", ".txt": "text/plain"}


@dataclass(frozen=True)
class Answer:
    """What a request is answered; `query` tells requests of one path apart."""

    path: str
    body: bytes
    method: str = "GET"
    query: Mapping[str, str] | None = None
    content_type: str = "application/json"

    def expect(self, server: HTTPServer, below: str = "") -> Any:
        return server.expect_request(below + self.path, method=self.method, query_string=self.query)

    def serve(self, server: HTTPServer, below: str = "") -> None:
        self.expect(server, below).respond_with_data(self.body, content_type=self.content_type)


@dataclass(frozen=True)
class RecordedSource:
    name: str
    answers: tuple[Answer, ...]
    settings: Mapping[str, str]

    @property
    def priced(self) -> Answer:
        """The answer with the prices: the last one asked for."""
        return self.answers[-1]

    def serve(self, server: HTTPServer, below: str = "") -> None:
        """`below` tells sources of one server apart: several have the path `/pricing`."""
        for answer in self.answers:
            answer.serve(server, below)

    def serve_all_but_prices(self, server: HTTPServer) -> None:
        for answer in self.answers[:-1]:
            answer.serve(server)

    def environment(self, url: str) -> dict[str, str]:
        """Every address leads to `url`, every key is set."""
        settings = SOURCES[self.name].settings
        return {
            **{setting.variable: url for setting in settings if setting.variable.endswith("_URL")},
            **{setting.variable: SECRET for setting in settings if setting.secret},
            **{variable: text.format(url=url) for variable, text in self.settings.items()},
        }

    def collect(self, url: str, **changes: str) -> Collected:
        http = Http(retries=1, backoff_seconds=0)
        try:
            return SOURCES[self.name].build({**self.environment(url), **changes}, http).collect(NOW)
        finally:
            http.close()


def recorded(name: str) -> bytes:
    return (RECORDINGS / name).read_bytes()


def _source(name: str) -> RecordedSource:
    document = json.loads(recorded(f"{name}/answers.json"))
    answers = tuple(_answer(name, **entry) for entry in document["answers"])
    return RecordedSource(name, answers, document.get("settings", {}))


def _answer(name: str, path: str, method: str = "GET", query: Any = None, **content: Any) -> Answer:
    [(kind, value)] = content.items()
    if kind == "file":
        return Answer(path, recorded(f"{name}/{value}"), method, query, CONTENT_TYPES[Path(value).suffix])
    if kind == "text":
        return Answer(path, value.encode(), method, query, "text/plain")
    return Answer(path, json.dumps(value).encode(), method, query)


RECORDED = {name: _source(name) for name in SOURCES if (RECORDINGS / name / "answers.json").exists()}
