"""Pages that take seconds are worked out behind the first answers."""

from support.services import packaged_service

from api.formats.xlsx import summary
from api.web.app import create_app
from api.web.serving import ahead
from costcalc.memory import Memory
from costcalc.recall import Recall


def test_what_is_worked_out_ahead_is_not_worked_out_for_the_page(monkeypatch):
    service = packaged_service().changed(memory=Memory())
    monkeypatch.setattr(ahead, "PAUSE_SECONDS", 0)
    ranked = []
    usual = Recall.ranked
    monkeypatch.setattr(Recall, "ranked", lambda *asked: ranked.append(asked) or usual(*asked))
    ahead.work_out(service, ["trend"])
    assert ranked
    ranked.clear()
    page = create_app(service).test_client().get("/trend", headers={"Accept": "text/html"})
    assert page.status_code == 200
    assert not ranked


def test_the_first_workbook_is_made_ahead(monkeypatch):
    service = packaged_service().changed(memory=Memory())
    monkeypatch.setattr(ahead, "PAUSE_SECONDS", 0)
    written = []
    usual = summary.workbook
    monkeypatch.setattr(summary, "workbook", lambda *asked: written.append(usual(*asked)) or written[-1])
    ahead.work_out(service, ["cost"])
    assert written[0].startswith(b"PK")
