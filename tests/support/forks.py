"""`pytest --forks N`: the tests are collected once and run by forks of that process, which share what it has read and worked out.

A fork takes the tests of one file at a time, and the next file as it begins its last test, so that none idles while any are left.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from tempfile import TemporaryFile
from typing import NoReturn

import pytest
from _pytest._io import TerminalWriter

WAIT = [Path(__file__).parents[1] / folder for folder in ("api/clients", "api/web/serving", "cluster", "deploy")]
Numbers = Sequence[int]  # of tests, as they were collected


@dataclass
class Files:
    """The tests of each file that none has begun. Fork 0 begins with those that wait for servers, while others keep the
    processors busy."""

    waiting: deque[Numbers]
    busy: deque[Numbers]

    @classmethod
    def of(cls, items: Sequence[pytest.Item]) -> Files:
        """Those with long tests come first, and then those with many, so that the forks end together."""
        files: dict[Path, list[int]] = {}
        long = {item.path for item in items if item.get_closest_marker("timeout")}
        for number, item in enumerate(items):
            files.setdefault(item.path, []).append(number)
        ordered = sorted(files, key=lambda path: (path in long, len(files[path])), reverse=True)
        waits = {path for path in files if any(map(path.is_relative_to, WAIT))}
        return cls(*(deque(files[path] for path in ordered if (path in waits) is those) for those in (True, False)))

    def next(self, fork: int) -> Numbers:
        """None where none is left."""
        ordered = (self.busy, self.waiting) if fork else (self.waiting, self.busy)
        return next((files.popleft() for files in ordered if files), ())


@dataclass
class Fork:
    """A process that runs tests: which one it runs, and which were given to it beside that."""

    number: int
    process: int
    connection: Connection
    given: deque[int] = field(default_factory=deque)
    running: int | None = None

    @classmethod
    def begun(cls, session: pytest.Session, number: int, tests: Numbers) -> Fork:
        here, there = Pipe()
        process = os.fork()
        if not process:
            here.close()
            _work(session, there)
        there.close()
        fork = cls(number, process, here)
        fork.give(tests)
        return fork

    def give(self, tests: Numbers) -> None:
        self.given.extend(tests)
        self.connection.send(tests)


@dataclass(eq=False)
class Forks:
    """The plugin: it runs the tests in so many processes."""

    count: int

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if session.testsfailed or session.config.option.collectonly:
            return None  # pytest says what is wrong, or lists the tests
        files = Files.of(session.items)
        begun = [Fork.begun(session, number, files.next(number)) for number in range(self.count)]
        forks = {each.connection: each for each in begun}
        while forks:
            for connection in wait(list(forks)):
                fork = forks[connection]
                try:
                    self._hear(session, fork, files)
                except EOFError:
                    del forks[connection]
                    os.waitpid(fork.process, 0)
                    if fork.running is not None:
                        _report(session, _died(session.items[fork.running]))
                        another = Fork.begun(session, fork.number, tuple(fork.given))
                        forks[another.connection] = another
            if session.shouldfail:
                raise session.Failed(session.shouldfail)
        return True

    def _hear(self, session: pytest.Session, fork: Fork, files: Files) -> None:
        """What a fork says: that it begins its next test, what came of it, or that it wants more. Raises EOFError at its end."""
        match fork.connection.recv():
            case "begins":
                fork.running = fork.given.popleft()
            case "wants more":
                fork.give(files.next(fork.number))
            case "has ended":
                fork.running = None
            case dict() as told:
                _report(session, session.config.hook.pytest_report_from_serializable(config=session.config, data=told))


def _report(session: pytest.Session, report: pytest.TestReport) -> None:
    session.config.hook.pytest_runtest_logreport(report=report)


def _died(item: pytest.Item) -> pytest.TestReport:
    return pytest.TestReport(item.nodeid, item.location, {}, "failed", "The process of this test ended.", "call")


@dataclass(eq=False)
class _Reports:
    """A fork's plugin in place of the terminal: it hands over what came of each test. What else is told there, such as the stacks
    of threads that hang, stands among the errors of the test."""

    session: pytest.Session
    connection: Connection

    @cached_property
    def _tw(self) -> TerminalWriter:
        return TerminalWriter(open(sys.stderr.fileno(), "w", buffering=1, closefd=False))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        config = self.session.config
        self.connection.send(config.hook.pytest_report_to_serializable(config=config, report=report))


def _work(session: pytest.Session, connection: Connection) -> NoReturn:
    """What a fork does until it is given no more."""
    plugins = session.config.pluginmanager
    plugins.unregister(name="terminalreporter")
    plugins.register(_Reports(session, connection), "terminalreporter")
    captured = plugins.get_plugin("capturemanager")._global_capturing
    for each in filter(
        None, (captured.out, captured.err)
    ):  # files that the forks would share; libraries may have kept them too
        with TemporaryFile() as own:
            os.dup2(own.fileno(), each.tmpfile.fileno())
    status = 1
    try:
        given = deque(connection.recv())
        while given:
            connection.send("begins")
            item = session.items[given.popleft()]
            if not given:
                connection.send("wants more")
                given.extend(connection.recv())
            following = session.items[given[0]] if given else None
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            connection.send("has ended")
        status = 0
    except Exception:  # noqa: BLE001  whatever it is, the process ends with it
        traceback.print_exc()
    finally:
        session._setupstate.teardown_exact(None)  # servers end also where a person interrupts the tests
        os._exit(status)
