"""`/cost.atom`: a question that a feed reader watches."""

from decimal import Decimal
from types import SimpleNamespace
from xml.etree import ElementTree

from fakes.slack import FeedInChannel
from support.browser import serving
from support.prices import LATER, offer
from support.services import service_of

from api.web.app import create_app
from costcalc.catalogue.catalogue import Catalogue

ATOM = "{http://www.w3.org/2005/Atom}"
ASKED = "model=resnet50&target=0.757&as_of=2026-11-20"


def entries(client, more=""):
    response = client.get(f"/cost.atom?{ASKED}{more}")
    assert (response.status_code, response.content_type) == (200, "application/atom+xml")
    feed = ElementTree.fromstring(response.data)
    assert [feed.find(f"{ATOM}{name}").text for name in ("id", "title", "updated")]
    return feed.findall(f"{ATOM}entry")


def test_its_entry_is_the_verdict_and_leads_to_the_answer(client):
    [entry] = entries(client)
    verdict = client.get(f"/cost?{ASKED}").json["verdict"]
    assert (entry.find(f"{ATOM}title").text, entry.find(f"{ATOM}summary").text) == (verdict[0], " ".join(verdict[1:]))
    page = client.get(entry.find(f"{ATOM}link").get("href"), headers={"Accept": "text/html"})
    assert verdict[0].partition(". ")[0] in page.text


def test_it_tells_nothing_before_the_answer_costs_less_than_asked(client):
    cost = client.get(f"/cost?{ASKED}").json["picks"][0]["estimate"]["billed_cost"]
    assert entries(client, f"&below={cost}") == []
    assert len(entries(client, f"&below={cost + 0.01}")) == 1


def test_another_answer_is_another_entry(client):
    first, again, other = (
        entries(client, more)[0].find(f"{ATOM}id").text for more in ("", "&below=999", "&provider=aws")
    )
    assert first == again != other
    assert "below" in client.get(f"/cost.atom?{ASKED}&below=x").json["errors"]


def test_a_channel_that_subscribes_is_told_once_that_the_answer_costs_less_than_asked():
    dear = Catalogue.from_offers([offer("30")], "dear")
    cheap = dear.with_offers([offer("2", LATER)])
    known = [dear]
    service = service_of(SimpleNamespace(catalogue=lambda: known[-1], catalogue_at=lambda _: known[-1]), LATER)
    with serving(create_app(service)) as root:
        cost = create_app(service).test_client().get("/cost?model=resnet50&target=0.757").json["picks"][0]
        below = Decimal(str(cost["estimate"]["billed_cost"])) / 2
        channel = FeedInChannel(f"{root}/cost.atom?model=resnet50&target=0.757&below={below}")
        channel.subscribe()
        assert channel.read() == []
        known.append(Catalogue(cheap.columns, cheap.vocabulary, "cheap"))
        [(told, page)] = channel.read()
        assert "V100 at AWS" in told
        assert page.startswith(f"{root}/?model=resnet50")
        assert channel.read() == []
