"""Every setting of the service, read once from the environment into one frozen value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from functools import partial
from importlib.util import find_spec
from typing import Any

from msgspec import Struct

from api.tokens import Token

MASK = "********"
MOST_PORT = 65_535
_STORE = re.compile(r"sqlite:///.|postgres(ql)?(\+psycopg)?://.")
_HOST = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]+:[0-9a-f:.]*")
_ORIGIN = re.compile(r"https?://[^/\s@?#]+")
_WEB_ADDRESS = re.compile(r"https?://[^/\s?#]+(/[^\s?#]*)?")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_INTERVAL = re.compile(r"(\d{1,6}) ?([smhd])")
_KEY = re.compile(r"[0-9a-fA-F]{64}")
_USER_INFO = re.compile(r"//[^/\s]*@")
_QUERY = re.compile(r"(?<=\S)\?\S+$")  # an address may carry its key there


class BadSetting(ValueError):
    """A setting that cannot be used; the message names the variable and what to write instead."""


class Setting(Struct, frozen=True):
    """One environment variable: its default as text (None: unset), its meaning, and whether its value is kept hidden.

    `parse` turns text into the value that Settings holds and raises ValueError with what to write instead.
    """

    variable: str
    default: str | None
    meaning: str
    secret: bool = False
    parse: Callable[[str], Any] = str

    @property
    def field(self) -> str:
        return self.variable.removeprefix("COSTCALC_").lower()


def _setting(
    default: str | None, meaning: str, parse: Callable[[str], Any] = str, *, secret: bool = False, unset: Any = None
) -> Any:
    """A field with the value that its default stands for, and `unset` where it has none."""
    metadata = {"default": default, "meaning": meaning, "secret": secret, "parse": parse}
    return field(default=unset if default is None else parse(default), metadata=metadata)


def _whole(least: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not (text.isascii() and text.isdecimal()) or int(text) < least:
            raise ValueError(f"write a whole number of at least {least}")
        return int(text)

    return parse


def _like(form: re.Pattern[str], message: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if not form.fullmatch(text):
            raise ValueError(message)
        return text

    return parse


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 3600:
        raise ValueError("write a number of seconds between 0 and 3600")
    return seconds


def _interval(text: str) -> timedelta | None:
    if text.lower() == "off":
        return None
    match = _INTERVAL.fullmatch(text.lower())
    if not match or not int(match[1]):
        raise ValueError("write a length of time, such as 1h or 30m, or off")
    return timedelta(**{_UNITS[match[2]]: int(match[1])})


def _store(text: str) -> str:
    if not _STORE.match(text):
        raise ValueError("write sqlite:////path/to/prices.sqlite3 or postgresql://user:password@host/database")
    return text if text.startswith("sqlite") else _with("psycopg", text)


def _with(package: str, text: str) -> str:
    """The text, if the package that it needs is installed. Raises ValueError with what to install."""
    if find_spec(package) is None:
        raise ValueError(f"it needs the package {package}, run: pip install 'costcalc[server]'")
    return text


def address(text: str) -> str:
    """An address to listen on. Raises ValueError for a port that cannot be."""
    _, colon, port = text.rpartition(":")
    if not text.startswith("unix:") and not (colon and port.isdigit() and int(port) <= MOST_PORT):
        raise ValueError(f"write an address and a port from 0 to {MOST_PORT}, such as 127.0.0.1:8000")
    return text


def _hosts(text: str) -> tuple[str, ...]:
    hosts = tuple(host.strip("[]").rstrip(".").lower() for host in _list(text))
    for host in hosts:
        if not _HOST.fullmatch(host):
            raise ValueError("write names of hosts without scheme, port or path, such as costcalc.example.org")
    return hosts


def _origins(text: str) -> tuple[str, ...]:
    origins = tuple(origin.rstrip("/") for origin in _list(text))
    for origin in origins:
        if origin != "*" and not _ORIGIN.fullmatch(origin):
            raise ValueError("write sites without a path, such as https://intranet.example.org, or * for all")
    return origins


def _tokens(text: str) -> tuple[str, ...]:
    tokens = _list(text)
    for token in tokens:
        Token.of(token)
    if not tokens:
        raise ValueError("it names no token: write tokens separated by commas, or unset it to let everybody ask")
    return tokens


def _token(text: str) -> str:
    Token.of(text)
    return text


def _switch(text: str) -> bool:
    if text.lower() not in ("on", "off"):
        raise ValueError("write on or off")
    return text.lower() == "on"


def _rate_limit(text: str) -> str:
    from limits import parse

    try:
        parse(text)
    except ValueError:
        raise ValueError("write a number of requests and a length of time, such as 600/minute") from None
    return text


def _list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _proxies(text: str) -> tuple[str, ...]:
    from ipaddress import ip_network

    if text.isascii() and text.isdecimal() and int(text) > 0:
        return (text,)
    try:
        return tuple(str(ip_network(part)) for part in _list(text))
    except ValueError:
        raise ValueError("write a count of the proxies in front, such as 1, or their addresses or networks") from None


@dataclass(frozen=True, slots=True)
class Settings:
    """The service's own settings as typed values; each name is its variable's without COSTCALC_, in lower case."""

    database_url: str | None = _setting(
        None,
        "Where prices are stored, as a database URL; if unset, SQLite in the user's data folder.",
        _store,
        secret=True,
    )
    bind: str = _setting("127.0.0.1:8000", "The address and port that `costcalc serve` listens on.", address)
    workers: int = _setting("2", "Worker processes of `costcalc serve`.", _whole(1))
    threads: int = _setting("4", "Threads of each worker.", _whole(1))
    public_url: str | None = _setting(
        None,
        "The public address of the service, with its path; links start with it.",
        _like(_WEB_ADDRESS, "write a whole address, such as https://costcalc.example.org"),
    )
    hosts: tuple[str, ...] = _setting(
        None,
        "Host names that the service answers to, separated by commas, besides that of `COSTCALC_PUBLIC_URL`, localhost "
        "and the address it listens on.",
        _hosts,
        unset=(),
    )
    api_tokens: tuple[str, ...] = _setting(
        None,
        "Accepted API tokens, separated by commas: plain, or `sha256:` and the digest, optionally after a name for the log "
        "(`anna:`), `read:` for reading only, and a last day (`until=2027-06-30:`); `costcalc token` makes one. If set, "
        "every request needs one, as `Authorization: Bearer` or `token=`. Changes need a restart.",
        _tokens,
        secret=True,
        unset=(),
    )
    metrics_token: str | None = _setting(
        None, "Prometheus's token, plain or as `sha256:` and its digest; it opens `/metrics` only.", _token, secret=True
    )
    slack_signing_secret: str | None = _setting(
        None, "The signing secret of the Slack app, which proves that a slash command comes from Slack.", secret=True
    )
    slack_response_hosts: tuple[str, ...] = _setting(
        "hooks.slack.com",
        "Hosts, or origins such as http://127.0.0.1:9000, that delayed answers to slash commands may go to.",
        _list,
    )
    slack_webhook_url: str | None = _setting(
        None, "The Slack webhook to which `costcalc watch --slack` posts; if unset, it cannot post.", secret=True
    )
    redis_url: str | None = _setting(
        None,
        "Redis for counts of requests and used Slack signatures; if unset, each worker counts its own requests and the "
        "store keeps the signatures.",
        partial(_with, "redis"),
        secret=True,
    )
    poll_seconds: float = _setting("2", "Seconds between a worker's checks for newer prices.", _seconds)
    refresh: timedelta | None = _setting(  # noqa: RUF009
        "1h",
        "How often one of the servers sharing a store refreshes the prices, such as 1h or 30m; `off` for never.",
        _interval,
    )
    edition_key: str | None = _setting(
        None,
        "The private key, of 64 hexadecimal digits, that signs editions.",
        _like(_KEY, "write 64 hexadecimal digits: `costcalc prices key` makes one"),
        secret=True,
    )
    edition_without: tuple[str, ...] = _setting(
        None, "Providers, separated by commas, whose rates no edition passes on.", _list, unset=()
    )
    cache_answers: int = _setting("512", "Encoded answers that a worker keeps in memory.", _whole(0))
    wait_seconds: float = _setting(
        "2", "Seconds that a question may wait for its turn before it is refused with 503.", _seconds
    )
    rate_limit: str | None = _setting(
        None, "The most requests per accepted token, or per address without one, such as 600/minute.", _rate_limit
    )
    trusted_proxies: tuple[str, ...] = _setting(
        None,
        "How many proxies stand in front, such as 1, if they alone reach the server; or their addresses or networks, without "
        "clients.",
        _proxies,
        unset=(),
    )
    cors_origins: tuple[str, ...] = _setting(
        None,
        "Sites whose scripts may call the service, separated by commas, such as https://intranet.example.org; `*` means all.",
        _origins,
        unset=(),
    )
    access_log: bool = _setting("off", "`on` writes a line of JSON per request to standard error.", _switch)


SETTINGS: tuple[Setting, ...] = tuple(
    Setting(f"COSTCALC_{each.name.upper()}", **each.metadata) for each in fields(Settings)
)


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Settings from environment variables; empty means unset, but for the tokens, where it would open the door.

    Raises BadSetting naming the variable.
    """
    values = {}
    for setting in SETTINGS:
        text = environment.get(setting.variable, "").strip()
        if text or (setting.parse is _tokens and setting.variable in environment):
            values[setting.field] = _parsed(setting, text)
    return Settings(**values)


def _parsed(setting: Setting, text: str) -> Any:
    try:
        return setting.parse(text)
    except ValueError as error:
        shown = MASK if setting.secret else text
        raise BadSetting(f"{setting.variable}={shown}: {error}") from None


def shown(setting: Setting, environment: Mapping[str, str]) -> str:
    """What `costcalc settings` prints for a variable: its value, its default, or a mask."""
    text = environment.get(setting.variable, "").strip()
    if text:
        return MASK if setting.secret else _QUERY.sub(f"?{MASK}", _USER_INFO.sub(f"//{MASK}@", text))
    return setting.default or "(unset)"
