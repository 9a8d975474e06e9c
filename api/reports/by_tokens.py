"""What an answer about a language model says beside its figures: what is trained, the memory that it needs, what APIs charge."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal

from msgspec import Struct

from costcalc.answers import Answer
from costcalc.duration.overheads import STARTUP_HOURS
from costcalc.fields import filled
from costcalc.money import money
from costcalc.query import EstimateQuery
from costcalc.tasks.goals import training_in_words
from costcalc.throughput.language.memory import card_gib
from costcalc.units import count_in_words
from own_runs.tokens import PADDED, TokenTraining
from pricing.packaged.providers import provider
from pricing.packaged.token_rates import CLOSED, token_prices


def what_is_trained(query: EstimateQuery) -> Iterator[str]:
    """The sentences that say what the tokens are, and what was assumed of them; none about other trainings."""
    training = TokenTraining.of(query)
    if training is None:
        return
    work = training.work
    bits = "16 bits" if training.precision == "amp" else training.precision
    how = f"{work.length:,} a sequence, {'packed' if training.is_packed else 'not packed'}, {bits}"
    title = training_in_words(query)
    yield f"{title[0].upper()}{title[1:]} ({how})."
    if query.method_of:
        yield f"No method named: {query.method_of} are pretraining; method= names another."
    if work.method == "pretrain":
        yield "Whole pretrainings whose hours are stated took 1.8 times as long (the median of 25)."
    if training.is_padded:
        yield f"Padding counts as {PADDED - 1:.0%} more tokens."
    elif not training.is_packed and query.packed is None:
        yield "Short examples are padded to that: packed=true may take a third of it."


def needed_gib_of(query: EstimateQuery) -> dict[str, float]:
    """By the number of accelerators, the memory that each must have for one sequence at once; empty for other trainings."""
    training = TokenTraining.of(query)
    counts = (1, 2, 4, 8, 16, 64) if training else ()
    return {f"{many}": round(card_gib(training.work, 1, many), 1) for many in counts if training}


def needed_memory(query: EstimateQuery) -> str:
    """`alone it needs 1,334 GiB, each of 8 needs 178 GiB`; empty for other trainings."""
    needed = needed_gib_of(query)
    return f"alone it needs {needed['1']:,.0f} GiB, each of 8 needs {needed['8']:,.0f} GiB" if needed else ""


class ApiPrice(Struct, frozen=True):
    """What an API charges for the training: `rate` for each `unit`, at least the `minimum`, in all `cost`, in dollars whatever
    the currency of the answer. `model` is the one that it trains; `serving` says what using the result adds."""

    provider: str
    model: str
    method: str
    rate: Decimal
    unit: str
    minimum: Decimal
    cost: Decimal
    serving: str | None
    observed_at: date
    source: str


def api_prices(query: EstimateQuery, as_of: datetime) -> tuple[ApiPrice, ...]:
    """The cheapest rate of each API and model, cheapest first, closed models last; none of other trainings."""
    training = TokenTraining.of(query)
    if training is None:
        return ()
    work, tokens = training.work, training.billed_tokens * query.runs
    return tuple(
        filled(
            ApiPrice,
            each,
            model=each.model or work.network.name,
            method=work.method if each.method == CLOSED else each.method,
            unit="1M tokens",
            cost=each.cost(tokens),
        )
        for each in token_prices(work.network, work.method, as_of.date())
    )


def by_the_token(answer: Answer) -> str:
    """Whether an API trains the same model for less than the lead, and from how many tokens renting is cheaper."""
    query, lead = answer.query, answer.lead
    same = [each for each in api_prices(query, answer.prices.as_of) if each.model == query.model]
    if not same or not lead.is_rented or query.currency != "USD":
        return ""
    least = same[0]
    cost = money(least.cost, "USD") if least.cost else "less than a cent"
    name = f"By the token: {cost} at {provider(least.provider).name.replace('-', ' ').title()}"
    tokens = TokenTraining.of(query).billed_tokens * query.runs  # type: ignore[union-attr]  # it has API prices
    rate = float(lead.hourly_rate)
    saved = float(least.rate) / 1e6 - rate * (lead.hours - STARTUP_HOURS) / tokens
    if saved <= 0:
        return f"{name}, which is cheaper than this machine at any number of tokens."
    from_tokens = float(f"{rate * STARTUP_HOURS / saved:.2g}")
    return f"{name}; renting is cheaper from {count_in_words(from_tokens)} tokens."
