"""The requests: what the OpenAPI document allows and forbids, and a grammar of our own for what people and programs send."""

from __future__ import annotations

import copy
import csv
import io
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

import requests
import schemathesis
from hypothesis import strategies as st
from schemathesis.generation import GenerationMode

from api.slack.verification import sign

SECRET = "a secret of the fuzzer's own"
SHEETS = (".csv", ".xlsx")
ODD_ONE_IN = 20
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW")
NASTY = ("", " ", "\x00", "\n", "\t", "'", '"', "\\", "%", "%00", "=1+1", "+1", "-1", "@SUM(A1)", "<script>", "{{7*7}}",
         "../..",
         "1e400", "-1e400", "1e-400", "nan", "inf", "-0", "0x10", "1_000", "75.7", "75.7%", "0.757,0.76", "gpu", "bert",
             "XXX", "XYZ:1000000000", "1e-999999999", "9" * 90, "9" * 5000, "0." + "0" * 90 + "1", "٣", "２",
         "\u202e", "\ufeff", "é", "🚀", "ß" * 50, "a" * 101, "x," * 300, ",", ",,,", "None", "null", "true", "[]", "{}",
             "*", "-*",
         "aws:", ":0.1", "aws:0.1:2", "EUR:0", "EUR:1e-9", "0000-00-00", "9999-12-31", "2024-02-30", "2026-07-01T25:00",
         "2026-07-01T12:00:00+99:99", "12%", "75,7", "1/0", "0" * 99)  # fmt: skip
KNOWN: Mapping[str, Sequence[str]] = {
    "model": ("resnet50", "ResNet-50", "rn50", "vit_b16", "mobilenet v2", "resnet18"),
    "target": ("0.757", "0.7", "0.69", "0.1", "0.0001", "0.9999"),
    "provider": ("aws", "gcp", "azure", "AWS,gcp", "lambda", "google cloud", "vast"),
    "region": ("us-east-1", "us-central1", "eastus", "any"), "recipe": ("mlperf-*", "ffcv-rn50-16ep", "*", "dawnbench-*"),
    "instance_type": ("p3.8xlarge", "p4d.24xlarge", "a2-highgpu-1g", "v2-8", "1x RTX A6000, 2 vCPU"),
    "accelerator": ("V100", "A100", "H100", "TPU v2", "RTX 4090"), "term": ("1y", "3 years", "1mo", "14d", "36 months"),
    "purchase": ("spot", "on-demand", "reserved", "capacity blocks", "free"), "payment": ("no_upfront", "all upfront"),
    "accelerators": ("1", "8", "16", "256", "720720", "1000000"), "nodes": ("1", "2", "32", "100000"), "runs": ("1", "20",
        "1000000"),
    "max_hours": ("0.5", "12", "1e9", "1e-300"), "max_cost": ("5", "200", "1e12", "1e-300"), "budget": ("0.5", "100", "1e12"),
    "confidence": ("0.5", "0.9", "0.999999999", "1e-9"), "utilization": ("0", "0.3", "1"), "discount": ("0.12", "aws:0.3",
        "0.999999999"),
    "currency": ("EUR", "jpy", "USD", "KRW"), "fx": ("EUR:0.92", "GBP:0.8,CHF:1.01"),
    "max_price_age": ("0", "90", "36500"), "limit": ("1", "20", "1000", "1000000"), "offset": ("0", "5", "1000000000"),
    "as_of": ("2016-06-30", "2018-04-26", "2024-02-29", "2025-06-01T06:30:00+02:00", "2026-11-20", "2999-01-01"),
    "since": ("2017-11-20", "2026-01-01", "2999-01-01"), "until": ("2018-01-01", "2026-11-20"), "runs_per_month": ("1",
        "20", "1e6"),
    "storage_gb": ("149", "1e9"), "storage_rate": ("0.02", "1e6"), "egress_gb": ("10", "1e9"), "egress_rate": ("0.05", "1e6"),
    "label": ("Q4 vision", "=1+1", "ä;\"b\"", "\r\nX: y"), "cost_center": ("R&D 4711", "@SUM(A1)"), "image_size": ("224", "1"),
    "year": ("2018", "3000"), "sep": (";", "tab", "|"), "decimal": (",", "."), "excel": ("1", "yes"), "focus": ("1.4", "1.2"),
}  # fmt: skip
OTHERS = ("true", "false", "all", "none", "time", "any", "usual", "json")  # words of which each parameter takes some
PHRASES = ("resnet50", "0.757", "75.7%", "help", "models", "recipes", "on aws", "8 x V100", "v100 gpus", "within 12h",
         "under $200",
           "€1.5k", "at most 40 gbp", "fastest", "cheapest", "frontier", "all regions", "no overheads", "share", "12% discount",
           "95% sure", "spot", "reserved 1y", "as of 2026-07-01", "16 gpus", "2 nodes", "hourss", "p3.8xlarge", "top5",
               "or", "and",
           "between $5 and $9", "1e9 gpus", "-1 nodes", "$", "€€", "£1,000.50", "1.000,50 eur", "3 yr", "=", "==",
               "a=b=c")  # fmt: skip
TYPES = ("text/csv", "application/json", "application/x-www-form-urlencoded", "text/plain", "application/octet-stream",
         "image/png",
         "application/json; charset=utf-16", "multipart/form-data; boundary=x", "", "a",
             "text/csv; charset=latin-1")  # fmt: skip
HEADERS = {
    "Accept": ("*/*", "text/csv", "text/html", "application/json;q=0", "*/*;q=x", "a/b/c", ",,,", "text/*;q=1e400"),
    "Accept-Encoding": ("gzip", "gzip;q=0", "br, *", "gzip;q=nan", "identity"),
    "Accept-Language": ("de", "*"), "Range": ("bytes=0-10", "bytes=-1", "bytes=9-0"), "If-None-Match": ("*", 'W/"x"', '"',
        ",,"),
    "If-Modified-Since": ("Sat, 01 Jan 2000 00:00:00 GMT", "yesterday"), "Cookie": ("costcalc=x", "=;;", "a=" + "b" * 3000),
    "Authorization": ("Bearer x", "Basic eDp5", "Bearer", "x" * 3000), "Host": ("", "evil.example", "a b", "[::1"),
    "X-Forwarded-For": ("1.2.3.4", "x", "::1, 2"), "X-Forwarded-Proto": ("https", "x,y"), "X-Request-ID": ("a", "\u00e9",
        "x" * 99),
    "Content-Encoding": ("gzip", "br"), "Transfer-Encoding": ("gzip", "x"), "Expect": ("x",),
    "Connection": ("close", "upgrade", "keep-alive"), "Upgrade": ("websocket", "h2c"), "Content-Length": ("0", "-1", "x",
        "1" * 30),
    "X-HTTP-Method-Override": ("DELETE",), "Origin": ("https://evil.example",), "Sec-Fetch-Site": ("cross-site",),
}  # fmt: skip


@dataclass(frozen=True)
class Request:
    """One HTTP request; `kind` is what it tries."""

    kind: str
    method: str
    target: str
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    def __str__(self) -> str:
        body = f" {self.body[:300]!r}" if self.body else ""
        return f"{self.method} {self.target[:300]} {self.headers}{body}"


Json = dict[str, Any]
texts = st.one_of(
    st.sampled_from(NASTY),
    st.text(max_size=30),
    st.text("0123456789eE+-.,:%$€ ", max_size=14),
    st.text("abcxyz01*-_=, ", max_size=120),
)


def every_kind(document: Json) -> dict[str, st.SearchStrategy[Request]]:
    """What to draw requests of each kind from, for the service of that document."""
    parameters = {
        path: [each["name"] for each in methods["get"].get("parameters", ()) if each["in"] == "query"]
        for path, methods in document["paths"].items()
        if "get" in methods
    }
    return {
        "document": by_document(document),
        "query": st.sampled_from(sorted(parameters)).flatmap(lambda path: queries("query", path, parameters[path])),
        "sheet": st.sampled_from([path for path in sorted(parameters) if path.endswith(SHEETS)]).flatmap(
            lambda path: queries("sheet", path, parameters[path])
        ),
        "slack": slack_texts(),
        "plan": plans(parameters["/plan"]),
        "payload": payloads(sorted(document["paths"])),
    }


def by_document(document: Json) -> st.SearchStrategy[Request]:
    """What schemathesis makes of the document: what it allows, and what it forbids."""
    schemathesis.serializer.alias("*/*", "text/plain")
    allowed = _strategies(_with_known_words(document), GenerationMode.POSITIVE)
    return mostly(st.one_of(allowed), st.one_of(_strategies(document, GenerationMode.NEGATIVE))).map(_of_case)


def _strategies(document: Json, mode: GenerationMode) -> list[st.SearchStrategy[Any]]:
    operations = [found.ok() for found in schemathesis.openapi.from_dict(document).get_all_operations()]
    return [each.as_strategy(generation_mode=mode) for each in operations if list(each.iter_parameters()) or each.body]


def _with_known_words(document: Json) -> Json:
    """The document with a few words for what it says is any text."""
    narrower = copy.deepcopy(document)
    for parameter in (each for told in _operations(narrower) for each in told.get("parameters", ())):
        schema = parameter["schema"]
        one = schema.get("items", schema)
        if one == {"type": "string"} or "pattern" in one:
            one |= {"enum": list(KNOWN.get(parameter["name"], OTHERS))}
    return narrower


def _operations(document: Json) -> Iterator[Json]:
    for methods in document["paths"].values():
        yield from methods.values()


def _of_case(case: Any) -> Request:
    prepared = requests.Request(**case.as_transport_kwargs(base_url="http://service")).prepare()
    body = prepared.body or b""
    sent = body if isinstance(body, bytes) else body.encode("utf-8", "replace")
    headers = {name: value for name, value in prepared.headers.items() if name != "X-Schemathesis-TestCaseId"}
    return Request("document", case.method.upper(), prepared.path_url, headers, sent)


def mostly(usual: st.SearchStrategy[Any], odd: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """The usual, and once in so many times the odd."""
    return st.integers(1, ODD_ONE_IN).flatmap(lambda drawn: odd if drawn == ODD_ONE_IN else usual)


def values(name: str) -> st.SearchStrategy[str]:
    """Values of a parameter: mostly sensible ones."""
    return mostly(st.sampled_from(KNOWN.get(name, OTHERS)), texts)


def queries(kind: str, path: str, names: Sequence[str]) -> st.SearchStrategy[Request]:
    """Questions in the address: what is required, some of what else there is, now and then a name that there is not."""
    needed = [name for name in ("model", "target", "since", "instance_type") if name in names][
        : 2 if "target" in names else 1
    ]
    one = st.sampled_from(names or ["x"]).flatmap(lambda name: st.tuples(st.just(name), values(name)))
    others = st.lists(mostly(one, st.tuples(texts, texts)), max_size=5)
    required = st.tuples(*(st.tuples(st.just(name), values(name)) for name in needed))
    pairs = st.tuples(required, others).map(lambda both: [*both[0], *both[1]])
    encode: Callable[[list[tuple[str, str]]], str] = lambda found: urlencode(found, errors="surrogatepass")  # noqa: E731
    place = path.replace("{model}", "resnet50")
    return st.tuples(pairs, some_headers()).map(
        lambda drawn: Request(kind, "GET", f"{place}?{encode(drawn[0])}", drawn[1])
    )


def some_headers() -> st.SearchStrategy[dict[str, str]]:
    """A few headers that answers may depend on."""
    drawn = st.lists(
        st.sampled_from(("Accept", "Accept-Encoding", "If-None-Match", "X-Request-ID")), max_size=2, unique=True
    )
    return drawn.flatmap(lambda names: st.fixed_dictionaries({name: st.sampled_from(HEADERS[name]) for name in names}))


def slack_texts() -> st.SearchStrategy[Request]:
    """Slash commands: phrases, parameters and noise, nearly always signed."""
    named = st.sampled_from(sorted(KNOWN)).flatmap(lambda name: values(name).map(lambda value: f"{name}={value}"))
    word = mostly(st.sampled_from(PHRASES) | named, texts)
    text = st.lists(word, max_size=12).map(" ".join)
    crowd = st.lists(word, min_size=100, max_size=400).map(" ".join)
    asked = mostly(text | text.map("resnet50 0.757 ".__add__), crowd)
    return st.builds(_command, asked, st.integers(0, 2**60), mostly(st.just(""), st.sampled_from(("v0=0", "x"))))


def _command(text: str, number: int, wrong: str) -> Request:
    body = urlencode({"text": text, "user_id": "U1", "trigger_id": str(number)}, errors="surrogatepass").encode()
    now = str(int(time.time()))
    headers = {"Content-Type": "application/x-www-form-urlencoded", "X-Slack-Request-Timestamp": now}
    return Request(
        "slack", "POST", "/slack/cost", {**headers, "X-Slack-Signature": wrong or sign(SECRET, now, body)}, body
    )


def plans(names: Sequence[str]) -> st.SearchStrategy[Request]:
    """Rows as JSON of any shape, and as sheets whole or torn."""
    column = mostly(st.sampled_from(names), texts)
    cell = st.one_of(texts, st.none(), st.booleans(), st.integers(), st.floats(), st.lists(texts, max_size=3))
    anything = st.recursive(cell, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3))
    given = st.lists(column, max_size=4, unique=True).flatmap(
        lambda chosen: st.fixed_dictionaries(
            {name: mostly(values(name), cell) for name in ("model", "target", *chosen)}
        )
    )
    as_json = mostly(st.lists(given, max_size=8), anything).map(
        lambda listed: ("application/json", json.dumps(listed).encode("utf-8", "replace"))
    )
    separated = st.tuples(st.lists(given, min_size=1, max_size=8), st.sampled_from(",;\t|"))
    as_csv = separated.map(lambda drawn: ("text/csv", _sheet(*drawn)))
    torn = as_csv.flatmap(
        lambda sent: st.integers(0, len(sent[1])).map(lambda end: (sent[0], sent[1][:end] + b'"\xff'))
    )
    body = mostly(as_json | as_csv, torn | st.tuples(st.sampled_from(TYPES), st.binary(max_size=200)))
    return st.tuples(st.sampled_from(("", ".csv", ".xlsx")), body).map(
        lambda drawn: Request("plan", "POST", f"/plan{drawn[0]}", {"Content-Type": drawn[1][0]}, drawn[1][1])
    )


def _sheet(rows: list[dict[str, Any]], separator: str) -> bytes:
    written = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    sheet = csv.DictWriter(written, names, restval="", delimiter=separator)
    sheet.writeheader()
    sheet.writerows(rows)
    return written.getvalue().encode("utf-8", "surrogatepass")


def payloads(paths: Sequence[str]) -> st.SearchStrategy[Request]:
    """Any method, path, headers and body, as a scanner sends them."""
    path = st.one_of(
        st.sampled_from(paths),
        texts.map(lambda text: "/" + quote(text, safe="/%", errors="surrogatepass")),
        st.sampled_from(
            (
                "//cost",
                "/cost/",
                "/../etc/passwd",
                "/%2e%2e/",
                "/static/../app.py",
                "/cost%00",
                "*",
                "/cost;x=1",
                "/" + "a" * 9000,
            )
        ),
    )
    query = st.one_of(
        st.just(""),
        st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="#"), max_size=60).map(
            "?".__add__
        ),
    )
    headers = st.lists(st.sampled_from(sorted(HEADERS)), max_size=4, unique=True).flatmap(
        lambda names: st.fixed_dictionaries({name: st.sampled_from(HEADERS[name]) for name in names})
    )
    body = st.one_of(
        st.just(b""), st.just(b""), st.binary(max_size=500), st.just(b"a" * 70_000), st.just(b"[" * 20_000)
    )
    return st.builds(
        lambda method, place, asked, sent, posted: Request("payload", method, place + asked, sent, posted),
        st.sampled_from(METHODS), path, query, headers, body,
    )  # fmt: skip
