"""Changes one thing at a time in the code and asks whether a test notices.

    python -m tools.mutants --seed 1 --count 150 costcalc/convergence costcalc/throughput
    python -m tools.mutants --into docs/mutants.md signature

A name of `AREAS` stands for its modules and the tests that count for them. With `--into` the survivors are written into that
page; the reasons that stand beside them there are kept.

A mutant is the code with one small change: `<` became `<=`, `+` became `-`, `and` became `or`, 0.8 became 1.8, a slice lost
its start, `return x` became `return None`, a statement went. `--count` of all possible mutants are drawn with `--seed`. A
mutant is killed when a test fails or does not end; one that survives points at a line that no test holds, or is equivalent:
no input tells it from the original.

Each mutant meets the tests that reach its line, then those in the file named after its module, those that reach its file, and
the others, as many as together took at most `--seconds` of a processor before the change; one that takes three times as long
does not end. Which test reaches which line is measured once and kept until a file changes. All work is done in a temporary
copy of the checkout. Annotations, decorators, strings, assertions and what is raised are left alone.
"""

from __future__ import annotations

import argparse
import ast
import copy
import functools
import hashlib
import importlib.util
import json
import os
import queue
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import coverage
import platformdirs

from tools.mutants_page import write

ROOT = Path(__file__).parents[1]
BUSY = 10  # a second of a processor may take so many on a machine that is busy with other things
NOT_FOUND = 4  # pytest's exit status when a test named on the command line does not exist
NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info")
LEFT_ALONE = {"annotation", "returns", "decorator_list", "type_comment", "ctx", "exc", "cause"}
LEFT_ALONE_NODES = (ast.Import, ast.ImportFrom, ast.JoinedStr, ast.Assert)
DURATION = re.compile(r"^([\d.]+)s (setup|call|teardown) +(\S.*)$", re.MULTILINE)
OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div, ast.Mod: ast.Mult,
    ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd,
}  # fmt: skip


@functools.singledispatch
def changed(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand in this node's place."""
    if type(node) in OPERATORS:
        yield OPERATORS[type(node)]()


@changed.register
def _(node: ast.Constant) -> Iterator[ast.AST]:
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, int | float):
        yield ast.Constant(node.value + 1 if abs(node.value) < 10 else node.value * 2)


@changed.register
def _(node: ast.UnaryOp) -> Iterator[ast.AST]:
    yield node.operand


@changed.register(ast.If)
@changed.register(ast.IfExp)
def _(node: ast.If | ast.IfExp) -> Iterator[ast.AST]:
    if not isinstance(node.test, ast.Compare | ast.UnaryOp):
        yield _with(node, test=ast.UnaryOp(ast.Not(), node.test))


@changed.register
def _(node: ast.Slice) -> Iterator[ast.AST]:
    for bound in ("lower", "upper", "step"):
        if getattr(node, bound):
            yield _with(node, **{bound: None})


@changed.register
def _(node: ast.Return) -> Iterator[ast.AST]:
    if node.value and not (isinstance(node.value, ast.Constant) and node.value.value is None):
        yield ast.Return(ast.Constant(None))


@changed.register(ast.Expr)
@changed.register(ast.Raise)
@changed.register(ast.AugAssign)
@changed.register(ast.Continue)
@changed.register(ast.Break)
def _(node: ast.stmt) -> Iterator[ast.AST]:
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        yield ast.Pass()


def _with(node: ast.AST, **fields: Any) -> ast.AST:
    other = copy.copy(node)
    vars(other).update(fields)
    return other


@dataclass(frozen=True)
class Area:
    """Modules that belong together, and the tests that count for them."""

    folders: Sequence[str]
    tests: Sequence[str]


def _files(pattern: str) -> list[str]:
    return sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob(pattern))


ENGINE = Area(
    [
        f"costcalc/{room}"
        for room in ("catalogue", "convergence", "costing", "duration", "machine_limits", "throughput")
    ],
    ["tests/costcalc"],
)
AREAS = {
    "engine": ENGINE,
    "evidence": Area(
        [f"costcalc/{room}" for room in ("evidence", "fitting", "validation")],
        [f"tests/costcalc/{room}" for room in ("evidence", "fitting", "validation")],
    ),
    "answers": Area(
        _files("costcalc/*.py"),
        [
            *_files("tests/costcalc/test_*.py"),
            *(f"tests/costcalc/{room}" for room in ("costing", "duration", "evidence", "machine_limits")),
            "tests/api/reports/test_comparison.py",
        ],
    ),
    "checks": Area(["pricing/checks.py"], ["tests/pricing/test_checks.py", "tests/pricing/test_refresh.py"]),
    "access": Area(["api/web/access.py"], ["tests/api/web/test_access.py", "tests/api/web/test_app.py"]),
    "cache": Area(
        ["api/web/replay.py", "api/web/responses.py"],
        [
            *(f"tests/api/web/test_{name}.py" for name in ("replay", "responses", "app", "compression")),
            *(
                f"tests/api/formats/test_{name}.py"
                for name in ("csv_stream", "cut_lists", "csv_export", "spreadsheets")
            ),
            "tests/api/reports/test_cost.py",
        ],
    ),
    "signature": Area(
        ["api/slack/verification.py", "api/web/slack.py", "pricing/store/replay.py"],
        [
            "tests/api/slack/test_verification.py",
            "tests/api/slack/test_command.py",
            "tests/pricing/store/test_replay.py",
        ],
    ),
}


@dataclass(frozen=True)
class Mutant:
    """One change: `holder[key]`, a part of `tree`, becomes `after`. `path` is relative to the checkout."""

    path: str
    lines: range
    tree: ast.Module
    holder: Any
    key: str | int
    before: ast.AST
    after: ast.AST
    statement: ast.AST

    def source(self, part: ast.AST | None = None) -> str:
        """The text of the changed module, or of a part of it."""
        self.holder[self.key] = self.after
        try:
            return ast.unparse(ast.fix_missing_locations(part or self.tree))
        finally:
            self.holder[self.key] = self.before

    def change(self) -> tuple[str, str]:
        """What the change is in the text around it, before and after."""
        if self.statement is self.before:
            before, after = ast.unparse(self.before), ast.unparse(self.after)
        else:
            before, after = ast.unparse(self.statement), self.source(self.statement)
        pairs = zip(before.splitlines(), after.splitlines(), strict=False)
        old, new = next((old.strip(), new.strip()) for old, new in pairs if old != new)
        start = max(0, len(os.path.commonprefix([old, new])) - 60)  # noqa: RUF071 - of text
        return old[start:][:110], new[start:][:110]

    def __str__(self) -> str:
        """The place and the change."""
        before, after = self.change()
        return f"{self.path}:{self.lines.start}\n    - {before}\n    + {after}"


def mutants(root: Path, folders: Sequence[str]) -> list[Mutant]:
    """All mutants of the modules below these folders of `root`, or of single modules."""
    found: list[Mutant] = []
    for folder in folders:
        for path in sorted((root / folder).rglob("*.py")) or [root / folder]:
            tree = ast.parse(path.read_text("utf-8"))
            found += _mutants(path.relative_to(root).as_posix(), tree, tree, None)
    return found


def _mutants(path: str, tree: ast.Module, node: ast.AST, statement: ast.stmt | None) -> Iterator[Mutant]:
    for holder, key, child in _children(node):
        inside = child if isinstance(child, ast.stmt) else statement
        if inside is None or isinstance(child, LEFT_ALONE_NODES):
            continue
        place: Any = child if hasattr(child, "lineno") else node  # an operator has no lines of its own
        for after in changed(child):
            lines = range(place.lineno, place.end_lineno + 1)
            yield Mutant(path, lines, tree, holder, key, child, after, inside)
        yield from _mutants(path, tree, child, inside)


def _children(node: ast.AST) -> Iterator[tuple[Any, str | int, ast.AST]]:
    """Each child with the list or the attributes that hold it."""
    for field, value in ast.iter_fields(node):
        if field in LEFT_ALONE:
            continue
        if isinstance(value, list):
            yield from ((value, index, child) for index, child in enumerate(value) if isinstance(child, ast.AST))
        elif isinstance(value, ast.AST):
            yield vars(node), field, value


@dataclass(frozen=True)
class Baseline:
    """What the tests did before any change: the seconds of each test and of the slowest set-up in each test file (all its tests
    may need it), and the tests that reached each line, by path and line number, as places in `seconds`."""

    seconds: dict[str, float]
    setups: dict[str, float]
    reached: dict[str, dict[str, list[int]]]

    def tests_for(self, mutant: Mutant, limit: float) -> list[str]:
        """The tests most likely to kill the mutant first; `limit` seconds of them."""
        names, lines = list(self.seconds), self.reached.get(mutant.path, {})
        near = {names[test] for line in mutant.lines for test in lines.get(str(line), [])}
        same_file = {names[test] for tests in lines.values() for test in tests}
        totals: dict[str, float] = dict.fromkeys(self.setups, 0.0)
        for test, seconds in self.seconds.items():
            totals[_file(test)] += seconds
        namesake = f"test_{Path(mutant.path).name}"

        def unlikely(test: str) -> tuple[object, ...]:
            file = _file(test)
            return test not in near, Path(file).name != namesake, test not in same_file, totals[file], file

        return list(self._within(sorted(names, key=unlikely), limit))

    def _within(self, tests: list[str], limit: float) -> Iterator[str]:
        spent, files = 0.0, set[str]()
        for test in tests:
            cost = self.seconds[test] + (0 if _file(test) in files else self.setups[_file(test)])
            if spent + cost <= limit:
                spent += cost
                files.add(_file(test))
                yield test


def _file(test: str) -> str:
    return test.partition("::")[0]


def baseline(root: Path, folders: Sequence[str], tests: Sequence[str]) -> Baseline:
    """Runs all tests once, or reads what an earlier run of the same files left; SystemExit where a test fails."""
    kept = platformdirs.user_cache_path("costcalc") / "mutants" / f"{_fingerprint(root, [*folders, *tests])}.json"
    if kept.exists():
        return Baseline(**json.loads(kept.read_text("utf-8")))
    (root / "mutants.coveragerc").write_text("[run]\nrelative_files = true\n", "utf-8")
    sources = {f"--cov={Path(folder).parts[0]}" for folder in folders}
    options = [
        *sources,
        "--cov-config=mutants.coveragerc",
        "--cov-context=test",
        "--cov-report=",
        "--durations=0",
        "-vv",
    ]
    before = os.times()
    run = _pytest(root, [*options, *tests])
    after = os.times()
    if run.returncode:
        raise SystemExit(f"The tests fail before any change:\n{run.stdout[-5000:]}")
    worked = sum(after[2:4]) - sum(before[2:4])  # processor seconds of child processes
    measured = _measured(root, run.stdout, min(1.0, worked / (after.elapsed - before.elapsed)))
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(asdict(measured)), "utf-8")
    return measured


def _measured(root: Path, output: str, share: float) -> Baseline:
    """Reads pytest's list of durations and coverage's data. The tests had this `share` of a processor's time."""
    seconds: dict[str, float] = {}
    setups: dict[str, float] = {}
    for wall, phase, test in DURATION.findall(output):
        taken = float(wall) * share
        seconds[test] = seconds.get(test, 0.0) + (0.0 if phase == "setup" else taken)
        setups[_file(test)] = max(setups.get(_file(test), 0.0), taken if phase == "setup" else 0.0)
    number = {test: index for index, test in enumerate(seconds)}
    data = coverage.CoverageData(str(root / ".coverage"))
    data.read()
    reached = {}
    for path in data.measured_files():
        contexts = {
            str(line): {name.rpartition("|")[0] for name in of} for line, of in data.contexts_by_lineno(path).items()
        }
        reached[path] = {line: sorted(number[test] for test in of if test in number) for line, of in contexts.items()}
    return Baseline(seconds, setups, reached)


def _fingerprint(root: Path, options: list[str]) -> str:
    digest = hashlib.sha256(repr(options).encode())
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        digest.update(path.relative_to(root).as_posix().encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:32]


def _pytest(root: Path, arguments: list[str], limit: float | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--hypothesis-seed=1", *arguments]
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPATH": str(root)}
    if limit:
        command = ["sh", "-c", f'ulimit -t {limit:.0f} && exec "$@"', "sh", *command]
    return subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, timeout=limit and BUSY * limit, check=False
    )


def survives(path: Path, source: str, root: Path, tests: list[str], limit: float) -> bool:
    """Whether all these tests pass with this source in `path`, in our copy at `root`, within `limit` seconds of a processor."""
    original, compiled = path.read_bytes(), Path(importlib.util.cache_from_source(str(path)))
    path.write_text(source, "utf-8")
    try:
        compiled.unlink(missing_ok=True)  # Python tells a stale one by whole seconds and size only
        status = _pytest(root, ["-x", "-q", *tests], limit).returncode
        if status == NOT_FOUND:  # the change renamed a parametrized test, or nothing can be imported any more
            status = _pytest(root, ["-x", "-q", *sorted({_file(test) for test in tests})], limit).returncode
        return status == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        path.write_bytes(original)
        compiled.unlink(missing_ok=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the survivors and the share killed; 1 where fewer than `--least` are."""
    options = _options(arguments)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies = [Path(folder) / str(number) for number in range(options.jobs)]
        for place in copies:
            shutil.copytree(Path.cwd(), place, ignore=NOT_COPIED)
        every = mutants(copies[0], options.area.folders)
        drawn = random.Random(options.seed).sample(every, min(options.count, len(every)))
        known = baseline(copies[0], options.area.folders, options.area.tests)
        alive = []
        for mutant in _survivors(drawn, copies, known, options.seconds):
            alive.append(mutant)
            print(mutant, flush=True)
    share = 1 - len(alive) / len(drawn)
    told = f"{len(drawn) - len(alive)} of {len(drawn)} mutants killed ({share:.1%}); {len(every)} are possible."
    print(told)
    if options.into:
        write(options.into, options.name, told, [(each.path, *each.change()) for each in alive])
    return int(share < options.least)


def _survivors(drawn: list[Mutant], copies: list[Path], measured: Baseline, seconds: float) -> Iterator[Mutant]:
    """Those that no test kills, tried in all copies side by side."""
    free: queue.SimpleQueue[Path] = queue.SimpleQueue()
    for place in copies:
        free.put(place)

    def outcome(mutant: Mutant, source: str) -> bool:
        place = free.get()
        try:
            return survives(place / mutant.path, source, place, measured.tests_for(mutant, seconds), 3 * seconds)
        finally:
            free.put(place)

    sources = [mutant.source() for mutant in drawn]
    with ThreadPoolExecutor(len(copies)) as pool:
        yield from (one for one, survived in zip(drawn, pool.map(outcome, drawn, sources), strict=True) if survived)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m tools.mutants", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "folders", nargs="+", metavar="FOLDER", help=f"folders or modules to change, or one of {', '.join(AREAS)}"
    )
    parser.add_argument("--seed", type=int, default=1, help="draws the mutants (1)")
    parser.add_argument("--count", type=int, default=150, help="how many mutants are drawn (150)")
    parser.add_argument("--least", type=float, default=0.9, help="the share that must be killed (0.9)")
    parser.add_argument("--seconds", type=float, default=60, help="how long the tests of one mutant may take (60)")
    parser.add_argument("--jobs", type=int, choices=(1, 2), default=1, help="processes side by side (1)")
    parser.add_argument("--tests", nargs="+", help="the tests that count (those of the area, else tests/costcalc)")
    parser.add_argument("--into", type=Path, help="write the survivors into this page")
    options = parser.parse_args(arguments)
    options.name = " ".join(options.folders)
    options.area = AREAS.get(options.name) or Area(options.folders, options.tests or ENGINE.tests)
    return options


if __name__ == "__main__":
    sys.exit(main())
