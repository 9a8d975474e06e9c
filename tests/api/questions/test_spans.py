"""The list of the kinds of spans: each kind reads the span of its own example."""

from datetime import date

import pytest

from api.questions.words.plain import plain_text
from api.questions.words.scan import Scan
from api.questions.words.spans import kinds

TODAY = date(2026, 11, 24)


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.example)
def test_each_kind_reads_its_example(service, kind):
    spans = []

    def noted(other):
        def read(scan, match):
            understood = other.read(scan, match)
            spans.extend([other.example] * understood)
            return understood

        return read

    words = service.words(service.catalogue())
    rules = [(other.pattern, noted(other)) for other in kinds()]
    Scan(plain_text(kind.example), words, TODAY, rules).run()
    assert kind.example in spans


def test_each_example_stands_once():
    examples = [kind.example for kind in kinds()]
    assert len({*examples}) == len(examples)
