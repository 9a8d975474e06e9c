"""What MLPerf's tasks cost to train, round by round: `python -m tools.mlperf_in_dollars`.

Writes docs/mlperf-in-dollars.md from the packaged prices at a fixed moment, and every round of every task as the table that
/mlperf/all and its picture show.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import astuple, fields
from pathlib import Path

from api import reports
from api.forms.every_round import FILE, MOMENT, PARTS, EveryRoundReport, fall
from api.forms.mlperf import RoundRow, RoundsReport, RoundsSchema, rounds_report
from api.service import Service
from api.stored import FixedPrices
from costcalc.catalogue.catalogue import Catalogue
from costcalc.evidence import load_evidence
from costcalc.tasks.tables import MLPERF, benchmark_of, tasks
from pricing.packaged.offers import read_packaged

PAGE = Path(__file__).parents[1] / "docs" / "mlperf-in-dollars.md"
ROUNDS = Path(reports.__file__).parent / "data" / FILE
TITLE = "# MLPerf in dollars"
INTRODUCTION = f"""The least cost of training each task on demand, at the packaged rates confirmed on the day of a round and on
{MOMENT:%Y-%m-%d}; the record is the fastest result of the task's newest round, on whatever system. {PARTS}
`costcalc mlperf TASK` shows every round and the least minutes; all are in [a table](../api/reports/data/mlperf_in_dollars.csv),
and on every server at `/mlperf/all`, with this picture. `python -m tools.mlperf_in_dollars` writes them.

![The least cost of every task of MLPerf at each round](pictures/mlperf-in-dollars.png)

| task | first round with a price | newest round | now | record |
|---|---|---|---|---|
"""


def main() -> None:
    """Writes the page and the table."""
    catalogue = Catalogue.from_offers(read_packaged().offers, "packaged")
    lines, table = found(Service(load_evidence(), FixedPrices(catalogue), lambda: MOMENT))
    ROUNDS.write_text(table, "utf-8")
    rows = EveryRoundReport().rows()
    unpriced = ", ".join(f"{row.task} {row.round}" for row in rows if row.cost is None)
    told = f"{fall(rows)} No rate of their day is packaged for {unpriced}."
    PAGE.write_text("\n".join([TITLE, "", told, "", INTRODUCTION + "\n".join(lines), ""]), "utf-8")
    print(f"{PAGE} and {ROUNDS} are written")


def found(service: Service, every: int = 1) -> tuple[list[str], str]:
    """The lines of the page, and the table: of each task, or of every second, every third and so on.

    The service has the packaged prices, and its clock says MOMENT.
    """
    catalogue = service.catalogue()
    names = [name for name, task in tasks().items() if benchmark_of(task) == MLPERF][::every]
    reports = [_report(service, catalogue, name) for name in names]
    return list(map(_line, reports)), _table(row for report in reports for row in report.rows())


def _report(service: Service, catalogue: Catalogue, name: str) -> RoundsReport:
    values, _ = service.parse(RoundsSchema(), {"model": [name]}, catalogue)
    return rounds_report(service, catalogue, values)


def _line(report: RoundsReport) -> str:
    document, rows = report.document(), report.rows()
    now, priced = document.now, [row for row in rows if row.cost is not None]
    machine = f"{now.accelerators:,} {now.accelerator}, {now.provider}" if now else ""
    cost = f"${now.billed_cost:,.2f}, {now.hours * 60:,.0f} min on {machine}" if now else "no rate known"
    record = f"{rows[-1].record_minutes:,.1f} min on {rows[-1].record_system}"
    return f"| {' | '.join([report.task.name, _then(priced[:1]), _then(priced[-1:]), cost, record])} |"


def _then(rows: Sequence[RoundRow]) -> str:
    """A round and what it cost on its day."""
    return f"{rows[0].round}, {rows[0].published:%Y}: ${rows[0].cost:,.2f}" if rows else ""


def _table(rows: Iterator[RoundRow]) -> str:
    text = io.StringIO()
    sheet = csv.writer(text, lineterminator="\n")
    sheet.writerow([field.name for field in fields(RoundRow)])
    sheet.writerows(map(_rounded, rows))
    return text.getvalue()


def _rounded(row: RoundRow) -> list[object]:
    return [f"{value:.6g}" if isinstance(value, float) else value for value in astuple(row)]


if __name__ == "__main__":
    main()
