"""Servers the tests start for themselves, stores on each kind of database, and what is left out for want of a program."""

import gc
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import support.one_thread  # noqa: F401  # before anything that imports numpy
from hypothesis import HealthCheck, settings
from support.clocks import move_this_process
from support.forks import Forks
from support.left_out import last_line
from support.memory import GivesMemoryBack
from support.processor import ProcessorSeconds
from support.sampled import WHOLE
from support.services import commands_share_what_was_worked_out, packaged_service
from support.stores import fill_a_store, filled_store, packaged_prices_are_read_once

from tools.cluster.postgres import PostgresServer, binaries
from tools.cluster.program import NotInstalled

os.environ.pop("COLUMNS", None)  # tables would be as wide as the terminal of whoever runs the tests
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # hundreds of processes that tests start would compile what they import
sys.dont_write_bytecode = False
move_this_process()
ALL = os.environ.get("CI") == "true"  # no test may be left out, and all draw the same examples every time
busy = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow],
}  # on a busy machine an example takes what it takes
settings.register_profile("tests", max_examples=25, derandomize=ALL, **busy)
settings.register_profile("whole", max_examples=200, **busy)
settings.load_profile("whole" if WHOLE else "tests")

gc.set_threshold(100_000, 20, 20)  # looking for garbage took a tenth of the time


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--processor", action="store_true", help="say what each file took in seconds of processor")
    parser.addoption("--forks", type=int, default=0, metavar="N", help="run the tests in so many processes")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "nightly: measures for minutes; `TESTS=whole` has it run")
    config.pluginmanager.register(GivesMemoryBack())
    if config.getoption("processor"):
        config.pluginmanager.register(ProcessorSeconds())
    if config.getoption("forks"):
        config.pluginmanager.register(Forks(config.getoption("forks")))


def pytest_collection_finish(session: pytest.Session) -> None:
    """What was collected stays: it is not looked through again. What nearly all tests need, forks find done."""
    if session.config.getoption("forks"):
        with packaged_prices_are_read_once():
            packaged_service()
            fill_a_store()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not WHOLE:
        items[:] = [item for item in items if not item.get_closest_marker("nightly")]
    for item in items if WHOLE else ():
        item.add_marker(pytest.mark.timeout(3600), append=False)  # all of a sample's cases take many times as long


@pytest.hookimpl(wrapper=True)
def _leave_out_what_needs_a_missing_program(item: pytest.Item) -> Iterator[None]:
    try:
        return (yield)
    except NotInstalled as error:
        pytest.skip(str(error))


pytest_runtest_setup = pytest_runtest_call = _leave_out_what_needs_a_missing_program


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    report = yield
    if ALL and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome, report.longrepr = "failed", f"CI=true leaves no test out: {report.longrepr[2]}"
    return report


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    skipped = terminal.stats.get("skipped", []) if terminal else []
    if skipped:
        terminal.write_line(last_line([report.longrepr[2] for report in skipped]))


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    program, folder = binaries(), Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    server = PostgresServer(program, folder)
    try:
        server.initialise()
        server.start()
        yield server
        server.stop()
    finally:
        os.spawnlp(os.P_NOWAIT, "rm", "rm", "-rf", str(folder))  # nobody waits half a minute for many databases


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> str:
    return postgres_server.database()


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store on each kind of database in turn."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'prices.sqlite3'}"
    return request.getfixturevalue("postgres_url")


@pytest.fixture(scope="session", autouse=True)
def _what_is_packaged_is_read_once() -> Iterator[None]:
    with packaged_prices_are_read_once(), commands_share_what_was_worked_out():
        yield


@pytest.fixture
def filled_url(tmp_path: Path) -> str:
    """A store of the packaged prices: a copy, which costs a hundredth of filling one."""
    return filled_store(tmp_path / "filled")
