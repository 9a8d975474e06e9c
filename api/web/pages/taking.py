"""How a question is taken elsewhere: to a shell, a sheet, Slack, a launcher, or as a file."""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

from flask import request, url_for

from api.questions.links import narrowed, to_command, to_url
from api.reports.launch import LAUNCHED, launchers
from api.web.files import feed_of
from api.web.responses import needs_token
from costcalc.answers import Answer, Estimate
from costcalc.query import EstimateQuery
from pricing.packaged.starts import TITLES

FILES = ("csv", "xlsx", "png", "svg")
NOT_LAUNCHED = {*EstimateQuery.__struct_fields__} - LAUNCHED
HEADER = ' -H "Authorization: Bearer $COSTCALC_TOKEN"'
PLACE = "YOUR_TOKEN"
NOTE = (
    f"Put your token into the variable COSTCALC_TOKEN of your shell, and in a sheet in the place of {PLACE}. "
    "Everyone who can read the sheet can read the token: one that may only read is enough."
)


class Taking(NamedTuple):
    """Commands to copy by name, files and launch files with their addresses, and where the token goes if one is needed."""

    commands: list[tuple[str, str]]
    files: list[tuple[str, str]]
    launch: list[tuple[str, str]]
    note: str


def _alert(query: EstimateQuery, answer: Answer, root: str) -> str:
    """What a Slack channel types to be told when the answer costs a tenth less."""
    below = round(answer.first.cost(query.basis).cost * Decimal("0.9"), 2)
    token = f"&token={PLACE}" if needs_token() else ""
    return f"/feed subscribe {root}{feed_of(query)}&below={below}{token}"


def taking(query: EstimateQuery, estimate: Estimate | None = None, answer: Answer | None = None) -> Taking:
    """How to take a question with its answer elsewhere, or one estimate of it alone."""
    own = narrowed(query, estimate) if estimate else query
    path, root = url_for("questions.cost"), request.host_url.rstrip("/")
    locked = needs_token()
    sheet = to_url(own, f"{root}{path}.csv", **({"token": PLACE} if locked else {}))
    return Taking(
        commands=[
            ("curl", f"curl{HEADER if locked else ''} '{to_url(own, root + path)}'"),
            ("Sheet", f'=IMPORTDATA("{sheet}")'),
            ("Slack", to_command(own)),
            *([] if estimate or answer is None or not answer.picks else [("Alert", _alert(own, answer, root))]),
        ],
        files=[
            *((kind.upper(), to_url(own, f"{path}.{kind}")) for kind in FILES),
            ("JSON", to_url(own, path, format="json")),
            *([] if estimate else [("Feed", feed_of(own))]),
        ],
        launch=[
            (TITLES[name], to_url(own, url_for("files.launch"), NOT_LAUNCHED, to=name))
            for name in (launchers(estimate) if estimate else ())
        ],
        note=NOTE if locked else "",
    )


def explained(query: EstimateQuery, estimate: Estimate) -> str:
    """The address that explains one estimate of a question, whatever is found beside it."""
    return to_url(narrowed(query, estimate), f"{request.script_root}/estimate")


def url_of(query: EstimateQuery, path: str) -> str:
    """The address of a question on this service."""
    return to_url(query, f"{request.script_root}{path}")
