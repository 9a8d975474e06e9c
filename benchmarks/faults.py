"""python -m benchmarks faults --seed 1 --count 200: random faults while clients ask.

Every answer must be the one that is right for the snapshot that it names, or an honest error. After each fault a refresh must
succeed, no snapshot may be lost or half published, and every server must be ready again. The same seed breaks the same things in
the same order.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from random import Random

from benchmarks.faulty.faults import FAULTS
from benchmarks.faulty.world import World, world
from benchmarks.timing import report


def main(arguments: Sequence[str] = ()) -> bool:
    """Breaks, judges and reports."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks faults", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    given = parser.parse_args(arguments)
    print(f"     seed {given.seed}: {given.count} faults", flush=True)
    with world(given.seed) as everything:
        survived = [survives(everything, f"{given.seed}/{number}", number) for number in range(given.count)]
    return report("faults survived", f"{sum(survived)} of {len(survived)}", "all", all(survived))


def survives(everything: World, seed: str, number: int) -> bool:
    """Whether one fault did no harm. The kinds take turns in random order, so that few faults meet many kinds."""
    chance = Random(seed)
    order = Random(seed.partition("/")[0] + str(number // len(FAULTS))).sample(FAULTS, len(FAULTS))
    fault, prices = order[number % len(FAULTS)], chance.choice(everything.stores)
    failure = ""
    try:
        fault(everything, prices, chance)
        everything.look(prices)
        everything.recover(prices)
    except AssertionError as error:
        failure = str(error)
    right, errors, wrong = everything.judged()
    kind = "SQLite" if prices.file else "PostgreSQL"
    print(
        f"     {number}: {fault.__name__.replace('_', ' ')}, {kind}: {right} answers right, {errors} errors", flush=True
    )
    for each in [failure, *wrong][:5]:
        if each:
            print(f"        {each}", flush=True)
    return not failure and not wrong
