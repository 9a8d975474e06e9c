"""`pytest --processor`: the seconds of processor that each file of tests took, its child processes included."""

import os
from collections import Counter
from collections.abc import Iterator

import pytest

SHOWN = 40
NAME = "processor_seconds"


class ProcessorSeconds:
    """Reports of a test's end bear what it took, also from forks."""

    def __init__(self) -> None:
        self._by_file: Counter[str] = Counter()
        self._begun = 0.0

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Iterator[None]:
        self._begun = taken()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo) -> Iterator[None]:
        report = yield
        if call.when == "teardown":
            report.user_properties.append((NAME, taken() - self._begun))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":
            self._by_file[report.nodeid.partition("::")[0]] += dict(report.user_properties)[NAME]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section(f"{taken():.0f} seconds of processor, {self._by_file.total():.0f} of them in tests")
        for file, seconds in self._by_file.most_common(SHOWN):
            terminalreporter.write_line(f"{seconds:8.1f} {file}")


def taken() -> float:
    """Seconds of processor of this process and of those that it started and that have ended."""
    return sum(os.times()[:4])
