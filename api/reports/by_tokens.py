"""What an answer about a language model says beside its figures: what is trained, and the memory that it needs."""

from __future__ import annotations

from collections.abc import Iterator

from costcalc.query import EstimateQuery
from costcalc.tasks.goals import training_in_words
from costcalc.throughput.language.memory import needed_gib
from own_runs.tokens import PADDED, TokenTraining


def what_is_trained(query: EstimateQuery) -> Iterator[str]:
    """The sentences that say what the tokens are, and what was assumed of them; none about other trainings."""
    training = TokenTraining.of(query)
    if training is None:
        return
    work = training.work
    how = f"{work.length:,} a sequence, {'packed' if training.is_packed else 'not packed'}, {work.precision}"
    title = training_in_words(query)
    yield f"{title[0].upper()}{title[1:]} ({how})."
    if training.is_padded:
        yield f"Padding counts as {PADDED - 1:.0%} more tokens."
    elif not training.is_packed and query.packed is None:
        yield "Short examples are padded to that: packed=true may take a third of it."


def needed_memory(query: EstimateQuery) -> str:
    """`one needs 1,334 GiB, each of 8 178 GiB`; empty for other trainings."""
    training = TokenTraining.of(query)
    if training is None:
        return ""
    alone, of_eight = (needed_gib(training.work, 1, shards) for shards in (1, 8))
    return f"alone it needs {alone:,.0f} GiB, each of 8 needs {of_eight:,.0f} GiB"
