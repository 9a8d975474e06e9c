"""No pattern over strangers' text takes longer than its text is long: attacks are built from each pattern itself."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from re import _constants as code
from re import _parser as parser
from time import process_time

import msgspec
import pytest

from own_runs import logs

SIZES = 500, 1000, 2000, 4000
MOST_GROWTH = 3.0
"""Of the time, where the text doubles: that of a linear pattern grows by 2, of a quadratic one by 4."""
TOO_SHORT_S = 0.002
RUNS = 3
OF_CLASS = {
    code.CATEGORY_DIGIT: "1",
    code.CATEGORY_SPACE: " ",
    code.CATEGORY_WORD: "a",
    code.CATEGORY_NOT_SPACE: "a",
    code.CATEGORY_NOT_WORD: "-",
}
BRANCHES = 3
REPEATS = (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT)


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    for module in pkgutil.iter_modules(logs.__path__, "own_runs.logs."):
        for name, value in vars(importlib.import_module(module.name)).items():
            held = [value] if isinstance(value, re.Pattern) else [*value] if isinstance(value, tuple) else []
            for index, part in enumerate(held):
                fields = msgspec.structs.astuple(part) if isinstance(part, msgspec.Struct) else [part]
                yield from ((f"{module.name}.{name}.{index}", each) for each in fields if isinstance(each, re.Pattern))


PATTERNS = {pattern: name for name, pattern in patterns()}


class Text:
    """A text that a pattern matches, where its repeat number `at` is repeated `size` times; `end` is where that one ends. Of
    alternatives it has that of number `branch`, or the last."""

    def __init__(self, tree: parser.SubPattern, at: int, size: int, branch: int) -> None:
        self.at, self.size, self.branch, self.repeats, self.end = at, size, branch, 0, 0
        self.groups: dict[int, str] = {}
        self.text = ""
        self._add(tree)

    def _add(self, tree: parser.SubPattern) -> None:
        for kind, given in tree:
            getattr(self, f"_{kind.name.lower()}", lambda _: None)(given)

    def _literal(self, sign: int) -> None:
        self.text += chr(sign)

    def _not_literal(self, sign: int) -> None:
        self.text += "a" if chr(sign) != "a" else "b"

    def _any(self, _: None) -> None:
        self.text += "1"

    def _in(self, members: list) -> None:
        negated = members[0][0] is code.NEGATE
        kinds = [
            chr(v) if k is code.LITERAL else chr(v[0]) if k is code.RANGE else OF_CLASS[v] for k, v in members[negated:]
        ]
        self.text += next(sign for sign in "1a -" if sign not in kinds) if negated else kinds[0]

    def _repeat(self, given: tuple) -> None:
        least, most, tree = given
        self.repeats += 1
        mine, begin = self.repeats == self.at, len(self.text)
        self._add(tree)
        self.text += self.text[begin:] * (min(self.size if mine else int(least), int(most)) - 1)
        if mine:
            self.end = len(self.text)

    _max_repeat = _min_repeat = _possessive_repeat = _repeat

    def _subpattern(self, given: tuple) -> None:
        begin = len(self.text)
        self._add(given[3])
        self.groups[given[0]] = self.text[begin:]

    def _atomic_group(self, tree: parser.SubPattern) -> None:
        self._add(tree)

    def _groupref(self, number: int) -> None:
        self.text += self.groups[number]

    def _branch(self, given: tuple) -> None:
        self._add(given[1][min(self.branch, len(given[1]) - 1)])

    def _assert(self, given: tuple) -> None:
        direction, tree = given
        if direction > 0:
            self._add(tree)


def attacks(pattern: re.Pattern[str], size: int) -> Iterator[str]:
    tree = parser.parse(pattern.pattern, pattern.flags)
    for branch in range(BRANCHES if "|" in pattern.pattern else 1):
        yield from attacks_of(tree, size, branch)


def attacks_of(tree: parser.SubPattern, size: int, branch: int) -> Iterator[str]:
    whole = Text(tree, 0, 0, branch)
    for at in range(1, whole.repeats + 1):
        text = Text(tree, at, size, branch)
        yield text.text[:-1] + "\0"
        yield text.text[: text.end] + "\0"
        yield text.text[: text.end] * 8 + "\0"
        yield whole.text + text.text[: text.end] + "\0"
    for end in range(1, len(whole.text)):
        yield whole.text[:end] * (size // end + 1) + "\0"
    for sign in "1a ,.:[('\"{=-/\n":
        yield whole.text[:-1] + sign * size + "\0"
        yield sign * size + whole.text[:-1]


def seconds(pattern: re.Pattern[str], text: str) -> float:
    taken = []
    for _ in range(RUNS):
        begin = process_time()
        [None for _ in pattern.finditer(text)]
        pattern.fullmatch(text)
        taken.append(process_time() - begin)
    return min(taken)


@pytest.mark.parametrize("pattern", PATTERNS, ids=PATTERNS.values())
def test_a_pattern_reads_a_text_once(pattern: re.Pattern[str]) -> None:
    for index, text in enumerate(attacks(pattern, SIZES[-1])):
        begin = process_time()
        [None for _ in pattern.finditer(text)]
        pattern.fullmatch(text)
        if process_time() - begin < TOO_SHORT_S:
            continue
        small, large = (seconds(pattern, [*attacks(pattern, size)][index]) for size in (SIZES[-1] // 4, SIZES[-1]))
        assert large < MOST_GROWTH**2 * small, (pattern.pattern, text[:100], text[-100:], small, large)
