"""The engine with one memory for all the tests of a process."""

from functools import partial

from costcalc import estimate
from costcalc.memory import Memory

MEMORY = Memory(most_bytes=256 * 2**20)  # four times a server's: tests ask about every network in turn
answer = partial(estimate.answer, memory=MEMORY)
