"""Public logs that nobody chose are read right, asked about or refused, and never wrong in silence.

They were drawn on 28 November 2026 from public repositories, by the names that files of logs have (metrics.csv of Lightning,
trainer_state.json, training_log.csv, train.log, nohup.out, results.csv, output/metrics.json, trainer_log.jsonl), every so many
of the list, whatever they held; cut to their first 3,600 signs, and paths and names of people taken out. What is true of each was
worked out from its text with a script of its own, or by hand, and stands in `truth.json`: the `epochs` that it has seen (null
where it doesn't tell, or is no training), the `hours`, the `last` value of a `metric`, and the `steps` of its epochs.

    python -m pytest tests/own_runs/logs/test_drawn.py -s    prints what became of them, by program
"""

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from own_runs.adding import Facts, RunRefused, read_run
from own_runs.logs.log import LogRefused

DRAWN = Path(__file__).parent / "drawn"
NOW = datetime(2026, 11, 28, tzinfo=UTC)
BATCH = 32
RIGHT, ANSWERED, ASKED, REFUSED, WRONG = "right", "right once asked", "asked", "refused", "wrong in silence"
OUTCOMES = (RIGHT, ANSWERED, ASKED, REFUSED, WRONG)


def facts_of(truth: dict) -> Facts:
    """What the owner of a run says before anything is asked."""
    samples = round(BATCH * (truth.get("steps") or 100))
    return Facts("mine", dataset="mine", accelerator="V100", batch_size=BATCH, samples_per_epoch=samples)


def answered(facts: Facts, asked: dict, truth: dict) -> Facts:
    """The facts with an answer to each question that truth has one for."""
    answers = {
        "metric": truth.get("metric"),
        "hours": truth.get("hours") or 1.0,
        "lower_is_better": True,
        "steps_are": "batches",
    }
    named = {"better": "lower_is_better"}
    return replace(
        facts,
        **{named.get(name, name): answers[named.get(name, name)] for name in asked if named.get(name, name) in answers},
    )


def outcome(path: Path, truth: dict, facts: Facts, rounds: int = 3) -> tuple[str, str]:
    try:
        run = read_run(path, facts, NOW)
    except RunRefused as refused:
        again = answered(facts, refused.errors, truth)
        if rounds and again != facts and truth["epochs"]:
            became, why = outcome(path, truth, again, rounds - 1)
            return ANSWERED if became == RIGHT else became, why or str(refused)
        return ASKED, str(refused)
    except LogRefused as refused:
        return REFUSED, str(refused)
    is_timed = truth.get("hours") is not None or facts.hours is None
    told = {
        "epochs": run.epochs,
        "hours": run.hours if is_timed else None,
        "last": run.curve[-1].value if run.metric == truth.get("metric") else None,
    }
    true = {"epochs": truth["epochs"] or -1.0, "hours": truth.get("hours") or -1.0, "last": truth.get("last")}
    off = {name: (told[name], true[name]) for name in told if told[name] is not None and true[name] is not None}
    off = {name: both for name, both in off.items() if abs(both[0] - both[1]) > 0.06 * abs(both[1])}
    return (WRONG, str(off)) if off else (RIGHT, "")


def test_no_drawn_log_is_read_wrong_in_silence() -> None:
    truths = json.loads((DRAWN / "truth.json").read_text())
    became = {name: outcome(DRAWN / name, truth, facts_of(truth)) for name, truth in truths.items()}
    table = Counter((truths[name]["program"], what) for name, (what, _) in became.items())
    for program in sorted({truth["program"] for truth in truths.values()}):
        print(f"{program:16}", *(f"{what} {table[program, what]:3}" for what in OUTCOMES))
    print(
        f"{'all':16}",
        *(f"{what} {sum(table[each] for each in table if each[1] == what):3}" for what in OUTCOMES),
    )
    assert {name: why for name, (what, why) in became.items() if what == WRONG} == {}
    read = [name for name, truth in truths.items() if truth["epochs"] and became[name][0] == REFUSED]
    assert read == [], "these are logs of trainings"
