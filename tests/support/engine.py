"""The engine with one memory for all the tests of a process."""

from functools import partial

from costcalc import estimate
from costcalc.memory import Memory

MEMORY = Memory()
answer = partial(estimate.answer, memory=MEMORY)
