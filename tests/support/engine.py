"""The engine with one memory and one evidence for all the tests of a process."""

from functools import cache, partial

from costcalc import estimate
from costcalc.evidence import load_evidence
from costcalc.memory import Memory

MEMORY = Memory(most_bytes=256 * 2**20)  # four times a server's: tests ask about every network in turn
answer = partial(estimate.answer, memory=MEMORY)
evidence = cache(load_evidence)
