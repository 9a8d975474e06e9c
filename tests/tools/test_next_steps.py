"""Next steps, run as they are printed."""

from support.sampled import sampled

from tools.next_steps import QUESTIONS, followed, told


def test_steps_give_what_their_sentences_promise(filled_url, monkeypatch):
    monkeypatch.setenv("COSTCALC_DATABASE_URL", filled_url)
    *lines, counted = told(map(followed, sampled(QUESTIONS.strip().splitlines(), 7, 2)))
    assert counted.endswith(": no fault"), [line for line in lines if not line.startswith("as it says")]
