"""first_answers.md is what people see today; UPDATE_DOCS=1 writes it anew: read the difference as a stranger would."""

import os

from tools.first_answers import DOCUMENT, LINES, QUESTIONS, document


def test_the_document_shows_what_the_code_answers():
    answered = document()
    if os.environ.get("UPDATE_DOCS"):
        DOCUMENT.write_text(answered, "utf-8")
    assert DOCUMENT.read_text("utf-8") == answered
    blocks = answered.split("```text\n")[1:]
    assert len(blocks) == len(QUESTIONS)
    assert all(2 <= block.partition("\n```")[0].count("\n") <= LINES for block in blocks)
