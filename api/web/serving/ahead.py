"""What takes long at first is worked out before anybody asks, behind the first answers, for each new snapshot: a sentence, a
workbook and the pages' examples."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence

from api.forms.register import QUESTIONS
from api.questions.errors import Refused
from api.questions.schemas.layout import Layout
from api.service import Service

SLOW = ("ask", "cost", "compare", "commitments", "trend", "tasks", "mlperf")
EXAMPLES = {"ask": {"q": "resnet50 to 76% on 8 H100"}, "cost": {"model": "resnet50"}}
"""Of questions whose pages have none."""
LOOK_SECONDS, PAUSE_SECONDS = 5, 1.0
log = logging.getLogger("costcalc")


def begin(service: Service) -> None:
    """Keeps them worked out, in a thread of its own."""
    threading.Thread(target=_keep, args=(service,), name="ahead", daemon=True).start()


def _keep(service: Service) -> None:
    known = None
    while True:
        try:
            now = (service.catalogue().snapshot, service.clock().date())
            if now != known:
                work_out(service)
            known = now
        except Refused:  # no prices yet
            pass
        except Exception:
            log.exception("an example could not be worked out ahead")
            known = now
        time.sleep(LOOK_SECONDS)


def work_out(service: Service, names: Sequence[str] = SLOW) -> None:
    """Asks the examples of these questions, so that the service's memory holds what they rest on."""
    for question in (each for each in QUESTIONS if each.name in names):
        time.sleep(PAUSE_SECONDS)  # whoever asks now goes first
        catalogue = service.catalogue()
        example = EXAMPLES.get(question.name, question.example)
        values, _ = service.parse(question.schema, {name: [value] for name, value in example.items()}, catalogue)
        report = question.code.report(service, catalogue, {**question.drawn, **values})
        report.document()
        if question.name == "cost":
            question.code.xlsx_of(report, Layout())
