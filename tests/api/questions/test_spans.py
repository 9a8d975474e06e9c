"""The list of the kinds of spans: each kind reads the span of its own example."""

from datetime import date

import pytest

from api.questions.words.kinds import Kind, kinds
from api.questions.words.plain import plain_text
from api.questions.words.spans import read

TODAY = date(2026, 11, 24)


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.example)
def test_each_kind_reads_its_example(service, kind, monkeypatch):
    spans, read_span = [], Kind.read

    def noted(other, scan, match):
        understood = read_span(other, scan, match)
        spans.extend([other.example] * understood)
        return understood

    monkeypatch.setattr(Kind, "read", noted)
    read(plain_text(kind.example), service.words(service.catalogue()), TODAY)
    assert kind.example in spans


def test_each_example_stands_once():
    examples = [kind.example for kind in kinds()]
    assert len({*examples}) == len(examples)
