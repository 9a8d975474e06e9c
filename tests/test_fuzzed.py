"""Whatever a question, a sentence, a sheet, a plan or an edition holds, it is read, or refused in words. What was found once
stays as an example."""

from contextlib import suppress
from time import process_time
from urllib.parse import urlencode

import pytest
from fakes.edition import KEY
from hypothesis import example, given, settings, target
from hypothesis import strategies as st
from support.prices import NOW, many
from support.sampled import WHOLE
from support.services import packaged_service

from api import budget
from api.forms.register import QUESTIONS
from api.questions.errors import BadParameters
from api.questions.words.understanding import LONGEST
from api.reports.rows import rows_of
from api.settings import Settings
from api.web.app import create_app
from api.web.serving.ahead import SLOW
from pricing import editions
from pricing.sources.own_sheet.source import offers
from pricing.sources.source import SourceError

EXAMPLES = settings(max_examples=5000 if WHOLE else 60)
SOON_S = 2.0
WORDS = """
    resnet50; bert-large; 75.7%; 0.757; top-5; on; 8; 8x; x; H100; A100-80GB; V100s; aws; gcp; in; us-east-1; frankfurt;
    under; $50; 50 €; 1.200; 1,200.50; within; 8 hours; 3h; and; or; not; no; without; vs; what if; spot; reserved; 3 years;
    by; 2026-02-30; 31.04.2026; june; model=; target=1e999; cheapest; my; own; 4090; nodes; a; zqx; 8小时; 未満; unter; für;
    moins de; (; ); *; <b>; `; "; '; @; #; %; -; –; 1e9; \u202e; \0; ?; ...; =; ,; /
"""
PIECES = [word.strip() for word in WORDS.split(";")]
sentences = st.lists(st.sampled_from(PIECES) | st.text(max_size=9), max_size=60).map(" ".join)
SHEET = (
    "provider,instance_type,accelerator,accelerators,purchase_option,term,hourly_rate,monthly,currency,observed_at\n"
    "aws,p3.2xlarge,V100,1,on_demand,,3.06,,USD,2026-11-01\nacme,big,H100,8,reserved,1y,,9000.50,EUR,\n"
)
PLAN = "model,target,_team,max_cost\nresnet50,75.7%,a,100\nbert-large,,b,\n"
SIGNS = ', " ; 1e999 -1 nan inf =1+1 2026-02-30 € ½ \0 [] {} null \\ud800'
ODD = ["", "\n", "\t", "9" * 400, *SIGNS.split()]


@st.composite
def changed(draw: st.DrawFn, text: str) -> str:
    """A text with odd parts in place of some of it."""
    for _ in range(draw(st.integers(1, 4))):
        begin = draw(st.integers(0, len(text)))
        end = min(begin + draw(st.integers(0, 15)), len(text))
        text = text[:begin] + draw(st.sampled_from(ODD) | st.text(max_size=6)) + text[end:]
    return text


@st.composite
def addresses(draw: st.DrawFn) -> str:
    """A question of the register by its address, with examples, bounds and odd words as values."""
    question = draw(st.sampled_from([each for each in QUESTIONS if WHOLE or each.name not in SLOW]))
    asked = dict(question.example)
    for name in draw(st.lists(st.sampled_from([*question.schema.fields]), max_size=6)):
        field = question.schema.fields[name]
        usual = [field.example, *getattr(field, "choices", ()), *(getattr(field, end, None) for end in ("low", "high"))]
        asked[name] = draw(
            st.sampled_from([str(each) for each in usual if each is not None] + ODD) | st.text(max_size=9)
        )
    ending = draw(st.sampled_from(["", *(f".{each}" for each in question.endings if each not in ("xlsx", "png"))]))
    return f"{question.path.format(model='resnet50')}{ending}?{urlencode(asked, errors='replace')}"


@pytest.fixture(scope="module")
def client():
    return create_app(packaged_service(), Settings(cache_answers=0)).test_client()


@EXAMPLES
@given(addresses(), st.sampled_from(["application/json", "text/html"]))
def test_a_question_is_answered_or_refused_soon(client, address, form):
    begun = process_time()
    status = client.get(address, headers={"Accept": form}).status_code
    seconds = process_time() - begun
    target(seconds)
    assert status < 500
    assert seconds < 2 * budget.SECONDS  # of which the form takes as much as the answer at most


@pytest.fixture(scope="module")
def understand():
    service = packaged_service()
    catalogue = service.catalogue()
    service.understand("resnet50", catalogue)
    return lambda sentence: service.understand(sentence, catalogue)


@EXAMPLES
@given(sentences)
def test_a_sentence_is_understood_or_asked_about_soon(understand, sentence):
    """The longer one takes, the more are tried like it."""
    begun = process_time()
    with suppress(BadParameters):
        understand(sentence[:LONGEST])
    seconds = process_time() - begun
    target(seconds)
    assert seconds < SOON_S


@example(SHEET.replace("9000.50", "9" * 400))
@example(SHEET.replace("3.06", "9" * 11))
@EXAMPLES
@given(changed(SHEET))
def test_a_price_sheet_is_read_or_refused(sheet):
    with suppress(SourceError):
        offers(sheet, NOW)


@EXAMPLES
@given(changed(PLAN), changed('[{"model": "resnet50", "target": 0.757, "_team": ["a", "b"]}]'))
def test_the_rows_of_a_plan_are_read_or_refused(sheet, listed):
    for text, is_json in ((sheet, False), (listed, True)):
        with suppress(BadParameters):
            rows_of(text.encode("utf-8", "surrogatepass"), is_json)


@example(1, b"\xb3\xff", 1, KEY)
@EXAMPLES
@given(st.integers(0, 10_000), st.binary(max_size=40), st.integers(0, 40), st.sampled_from([KEY, None]))
def test_an_edition_is_read_whole_or_not_at_all(at, more, fewer, key):
    whole = editions.make(many(3, "3.06"), NOW, key)
    trusted = [editions.public_key(key)] if key else []
    at %= len(whole)
    spoilt = whole[:at] + more + whole[at + fewer :]
    try:
        edition = editions.read(spoilt, trusted, NOW)
    except editions.NoEdition:
        return
    assert key is None or spoilt == whole
    assert len(edition.rates) <= 3
