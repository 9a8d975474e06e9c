"""No pattern over others' text takes longer than its text is long: attacks are built from each pattern itself.

A sentence and the value of a parameter have bounds that hold before any pattern sees them; there, no pattern may take long.
"""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from re import _constants as code
from re import _parser as parser
from time import process_time
from typing import NamedTuple

import pytest
from support.sampled import sampled

from api.questions.fields import LONGEST_VALUE
from api.questions.words import elsewhere, language, plain
from api.questions.words.kinds import kinds
from api.questions.words.understanding import LONGEST, LONGEST_WORD, MOST_WORDS

ROOT = Path(__file__).parents[1]
PACKAGES = ("own_runs", "pricing", "api")
CALL = re.compile(r"\bre\.(compile|match|fullmatch|search|sub|subn|split|findall|finditer)\(")
AT_THE_BEGINNING = {"match", "fullmatch"}
SIZES = 1000, 4000
MOST_GROWTH = 9.0
"""Of the time, where the text is four times as long: that of a linear pattern grows by 4, of a quadratic one by 16."""
TOO_SHORT_S = 0.002
MOST_S = 0.1
"""Of a pattern over a text that is bounded before."""
RUNS = 3
OF_CLASS = {
    code.CATEGORY_DIGIT: "1",
    code.CATEGORY_NOT_DIGIT: "a",
    code.CATEGORY_SPACE: " ",
    code.CATEGORY_WORD: "a",
    code.CATEGORY_NOT_SPACE: "a",
    code.CATEGORY_NOT_WORD: "-",
}
BRANCHES = 3
REPEATS = (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT)


class Read(NamedTuple):
    """A pattern, where it stands, and whether it may begin anywhere in a text."""

    where: str
    pattern: re.Pattern
    searches: bool

    def seconds(self, text: str) -> float:
        text = text.encode("latin-1", "replace") if isinstance(self.pattern.pattern, bytes) else text
        begin = process_time()
        if self.searches:
            [None for _ in self.pattern.finditer(text)]
        self.pattern.fullmatch(text)
        return process_time() - begin


def patterns() -> Iterator[Read]:
    """Those that stand in calls, evaluated in their modules, and those that are made of tables."""
    for file in (file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py"))):
        if CALL.search(text := file.read_text()):
            yield from in_calls(file.relative_to(ROOT), text)
    made = [*plain._patterns("spelt"), *plain._patterns("without_blanks"), *((kind.pattern, kind) for kind in kinds())]
    made += [(span.pattern, span) for span in language._spans()]
    made += [(pattern, question) for question, pattern in elsewhere._questions()]
    made += [(pattern, None) for language in plain._languages() for pattern in language[1:]]
    yield from (Read(f"api/questions/words/{number}", pattern, True) for number, (pattern, _) in enumerate(made))


def in_calls(file: Path, text: str) -> Iterator[Read]:
    if "migrations" in file.parts or "measure" in file.parts:  # which Alembic and PyTorch alone can run
        return
    module = importlib.import_module(".".join(file.with_suffix("").parts))
    for node in ast.walk(ast.parse(text)):
        if not (isinstance(node, ast.Call) and CALL.fullmatch(f"{ast.unparse(node.func)}(")):
            continue
        flags = node.args[-1] if ast.unparse(node.args[-1]).startswith("re.") else ast.Constant(0)
        try:
            pattern, flags = (eval(ast.unparse(part), vars(module)) for part in (node.args[0], flags))
        except NameError:  # of a local variable: made of a table
            continue
        yield Read(f"{file}:{node.lineno}", re.compile(pattern, flags), searches(node, text))


def searches(node: ast.Call, text: str) -> bool:
    """Whether a pattern is used for more than the beginning of a text; by its name, where it has one, in its module."""
    name = re.match(r"\s*(\w+)\s*(?::[^=]*)?=", text.splitlines()[node.lineno - 1])
    calls = set(re.findall(rf"\b{name[1]}(?:\[\w+\])?\.(\w+)\(", text)) if name else {node.func.attr}
    return not (calls and calls <= AT_THE_BEGINNING)


PATTERNS = [*{(each.pattern, each.searches): each for each in patterns()}.values()]
OF_BOUNDED = [each for each in PATTERNS if each.where.startswith("api/questions/")]
OF_ANY = [each for each in PATTERNS if not each.where.startswith(("api/questions/", "api/settings"))]


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
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    tree = parser.parse(source, pattern.flags)
    for branch in range(BRANCHES if "|" in source else 1):
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


@pytest.mark.parametrize("read", sampled(OF_ANY, 6), ids=lambda read: read.where)
def test_a_pattern_reads_a_text_once(read: Read) -> None:
    for index, text in enumerate(attacks(read.pattern, SIZES[-1])):
        if read.seconds(text) < TOO_SHORT_S:
            continue
        of_sizes = ([*attacks(read.pattern, size)][index] for size in SIZES)
        small, large = (min(read.seconds(each) for _ in range(RUNS)) for each in of_sizes)
        assert large < MOST_GROWTH * small, (read.pattern.pattern, text[:100], text[-100:], small, large)


@pytest.mark.parametrize("read", sampled(OF_BOUNDED, 60), ids=lambda read: read.where)
def test_a_pattern_reads_what_may_be_asked_at_once(read: Read) -> None:
    in_words = "/words/" in read.where
    for text in attacks(read.pattern, LONGEST if in_words else LONGEST_VALUE):
        asked = as_sentence(text) if in_words else text[:LONGEST_VALUE]
        if read.seconds(asked) > MOST_S:
            assert min(read.seconds(asked) for _ in range(RUNS)) < MOST_S, (read.pattern.pattern, asked)


def as_sentence(text: str) -> str:
    """As much of a text as a sentence may have."""
    words = [word[:LONGEST_WORD] for word in re.split(r"(?<=[\s,;/])", " ".join(text[:LONGEST].split()))]
    return "".join(words[:MOST_WORDS])


@pytest.mark.parametrize("pattern", [r"\d+x", r"(a|b)*\s*\s*c"])
def test_a_pattern_that_looks_again_is_found(pattern: str) -> None:
    with pytest.raises(AssertionError):
        test_a_pattern_reads_a_text_once(Read("here", re.compile(pattern), True))
