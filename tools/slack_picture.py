"""Draws docs/slack-reply.png: the reply to a command, its real blocks laid out as Slack does. Needs Chromium and Pillow.

Run it as `.venv/bin/python tools/slack_picture.py` after a change of the reply.
"""

from __future__ import annotations

import html
import re
import subprocess
import tempfile
from base64 import b64encode
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from PIL import Image

from api.bootstrap import FixedPrices
from api.formats.charts.cost_and_time import svg
from api.questions.schemas import Layout
from api.reports.cost import CostReport
from api.service import Service
from api.slack.reply import Replier
from costcalc.catalogue.catalogue import Catalogue
from costcalc.evidence import load_evidence
from pricing.packaged.offers import read_packaged

COMMAND = "resnet50 75.7% on aws, gcp, azure"
MOMENT = datetime(2026, 11, 20, 12, tzinfo=UTC)
PICTURE = Path(__file__).parents[1] / "docs" / "slack-reply.png"
SIZE = "960,1030"
COLORS = 64
STYLE = """
body { font: 14px/1.46 Lato, "DejaVu Sans", "Liberation Sans", sans-serif; color: #1d1c1d; margin: 18px 24px; zoom: 0.9 }
.typed { background: #f4ede4; border-radius: 6px; padding: 6px 10px; display: inline-block; margin-bottom: 10px }
.app { font-size: 10px; background: #e8e8e8; padding: 1px 3px; border-radius: 2px }
.quiet { color: #616061; font-size: 11px } a { color: #1264a3; text-decoration: none }
table { border-collapse: collapse; margin: 8px 0; font-size: 12px } td { border: 1px solid #dddddd; padding: 4px 8px }
tr:first-child td { font-weight: bold; background: #f8f8f8 } p { margin: 8px 0 } img { width: 540px }
"""


def main() -> None:
    """Writes the picture."""
    catalogue = Catalogue.from_offers(read_packaged().offers, "packaged")
    service = Service(load_evidence(), FixedPrices(catalogue), lambda: MOMENT)
    replier = Replier(service, pictures=True)
    replies = replier.reply(COMMAND, "https://cost.example.org")
    _, query, _ = replier.question(COMMAND, catalogue)
    chart = svg(CostReport(service, catalogue, query), Layout())
    messages = [replies.answer, *filter(None, [replies.picture])]
    shown = "".join(block_as_html(block, chart) for message in messages for block in message.blocks)
    screenshot(f"""<meta charset="utf-8"><style>{STYLE}</style><div class="typed">/cost {html.escape(COMMAND)}</div>
<div><b>costcalc</b> <span class="app">APP</span> <span class="quiet">Only visible to you</span></div>{shown}""")


def block_as_html(block: dict[str, Any], chart: bytes) -> str:
    """One block as Slack lays it out; the picture is drawn here instead of fetched."""
    if block["type"] == "section":
        return f"<p>{mrkdwn(block['text']['text'])}</p>"
    if block["type"] == "context":
        return f'<p class="quiet">{mrkdwn(block["elements"][0]["text"])}</p>'
    if block["type"] == "image":
        return f'<img src="data:image/svg+xml;base64,{b64encode(chart).decode()}">'
    aligned = [column["align"] for column in block["column_settings"]]
    rows = (
        "".join(
            f'<td align="{align}">{html.escape(cell["text"])}</td>' for align, cell in zip(aligned, row, strict=True)
        )
        for row in block["rows"]
    )
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def mrkdwn(text: str) -> str:
    """The little of Slack's mark-up that replies use; entities are HTML's already."""
    text = re.sub(r"<([^|>]*)\|([^>]*)>", r'<a href="\1">\2</a>', text)
    text = re.sub(r"\*([^*\n]+)\*", r"<b>\1</b>", text)
    return text.replace("\n", "<br>")


def screenshot(page: str) -> None:
    """Has Chromium draw the page."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "reply.html"
        file.write_text(page)
        command = [
            "chromium",
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            f"--window-size={SIZE}",
        ]
        subprocess.run(
            [*command, f"--screenshot={PICTURE}", file.as_uri()], check=True, capture_output=True, timeout=120
        )
    Image.open(PICTURE).convert("RGB").quantize(COLORS, Image.Quantize.FASTOCTREE).save(PICTURE, optimize=True)


if __name__ == "__main__":
    main()
