"""No history is lost: backups of a store that is written, what damage looks like, and what comes back after it."""

import os
import random
import re
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import PostgresServer
from sqlalchemy import text
from support.histories import history
from support.live_server import clean_environment
from support.old_stores import engine_at
from support.prices import LATER, NOW, listed, many, offer

from api.cli.main import main
from pricing.store import HEAD, backups
from pricing.store.connection import Database, fault
from pricing.store.errors import StoreDamaged, StoreError, StoreGone
from pricing.store.store import Store

ROOT = Path(__file__).parents[3]
OFFERS = 300
COSTCALC = f'{sys.executable} -c "from api.cli.main import main; main()"'


def published(url: str, generations: int = 3) -> Store:
    """A store with a rate for each of these generations."""
    store = Store(url)
    for number in range(generations):
        moment = NOW + timedelta(hours=number)
        store.publish(listed("aws", *many(OFFERS, str(number + 1), moment)), moment)
    return store


def known(store: Store) -> object:
    """All that a store can tell."""
    return store.current_snapshot_id(), store.all_offers(), history(store, "p3.2xlarge"), store.status()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "prices.sqlite3"


@pytest.fixture
def url(path: Path) -> str:
    return f"sqlite:///{path}"


def test_backups_of_a_store_that_is_written_hold_whole_generations(url: str, tmp_path: Path) -> None:
    store, done = published(url, 1), threading.Event()

    def write() -> None:
        number = 1
        while not done.is_set():
            moment = NOW + timedelta(hours=number)
            store.publish(listed("aws", *many(OFFERS, str(number + 1), moment)), moment)
            number += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(5):
            backups.backup(url, tmp_path / f"{number}.sqlite3")
    finally:
        done.set()
        writer.join()
    for number in range(5):
        copy = Store(f"sqlite:///{tmp_path / f'{number}.sqlite3'}")
        rates = {each.hourly_rate for each in copy.standing_offers("aws")}
        assert len(rates) == 1
        assert len(history(copy, "p3.2xlarge")) == OFFERS * int(rates.pop())


def test_a_restored_store_tells_the_same_also_to_those_who_have_it_open(url: str, path: Path, tmp_path: Path) -> None:
    store = published(url)
    before, copy = known(store), tmp_path / "copy.sqlite3"
    backups.backup(url, copy)
    store.publish(listed("aws", offer("99", LATER)), LATER)
    after = known(store)
    aside = backups.restore(url, copy, LATER)
    assert known(store) == before
    assert aside == path.with_name("prices-replaced-20261120T130000Z.sqlite3")
    assert known(Store(f"sqlite:///{aside}")) == after
    assert backups.restore(url, copy, LATER + timedelta(1)) != aside


def test_a_store_that_root_restores_or_rebuilds_stays_its_owners(url: str, path: Path, tmp_path: Path) -> None:
    owner = 12345 if os.geteuid() == 0 else os.geteuid()
    published(url)
    backups.backup(url, tmp_path / "copy.sqlite3")
    os.chown(path, owner, -1)
    backups.restore(url, tmp_path / "copy.sqlite3", LATER)
    assert path.stat().st_uid == owner
    flip(path, 8192, 40960)
    backups.rebuild(url, LATER)
    assert path.stat().st_uid == owner


def test_a_lost_store_comes_back(url: str, path: Path, tmp_path: Path) -> None:
    before = known(published(url))
    backups.backup(url, tmp_path / "copy.sqlite3")
    path.unlink()
    assert backups.restore(url, tmp_path / "copy.sqlite3", NOW) is None
    assert known(Store(url)) == before


def lose(path: Path, *beside: str) -> None:
    """Takes a store away, and what else is named."""
    for each in (path, *(path.with_name(f"{path.name}{ending}") for ending in ("-wal", "-shm", *beside))):
        each.unlink(missing_ok=True)


def test_a_store_that_vanished_is_not_begun_anew_until_somebody_says_so(url: str, path: Path) -> None:
    identity = published(url).identity
    lose(path)
    with pytest.raises(
        StoreGone, match=r"prices\.sqlite3: it is gone, .*`costcalc prices restore FILE`.*prices rebuild"
    ):
        Store(url)
    assert not path.exists()
    done = backups.rebuild(url, LATER)
    assert (done.path, "every price that a refresh saw" in done.lost) == (None, True)
    assert Store(url).identity == identity
    assert [state.name for state in Store(url).status()] == ["packaged"]
    with pytest.raises(StoreError, match="is not damaged"):
        backups.rebuild(url, LATER)


def test_what_its_log_held_does_not_come_into_a_restored_store(url: str, path: Path, tmp_path: Path) -> None:
    store = published(url)
    backups.backup(url, tmp_path / "copy.sqlite3")
    before = known(store)
    with closing(sqlite3.connect(path)) as reader:
        reader.execute("SELECT 1 FROM snapshots").fetchone()
        store.publish(listed("aws", offer("99", LATER)), LATER)
        path.unlink()
    assert path.with_name("prices.sqlite3-wal").exists()
    backups.restore(url, tmp_path / "copy.sqlite3", LATER)
    assert known(Store(url)) == before


@pytest.mark.parametrize("is_older", [True, False])
def test_a_restored_store_goes_on_as_the_one_in_whose_place_it_is(
    url: str, path: Path, tmp_path: Path, is_older: bool
) -> None:
    if is_older:
        engine_at(f"sqlite:///{tmp_path / 'copy.sqlite3'}", "0009").dispose()
    else:
        published(f"sqlite:///{tmp_path / 'copy.sqlite3'}")
    store = published(url)
    backups.restore(url, tmp_path / "copy.sqlite3", LATER)
    assert Store(url).identity == store.identity
    store.check_identity()


def test_the_store_that_was_known_is_not_begun_anew_elsewhere(store_url: str) -> None:
    with pytest.raises(StoreGone, match=r"it is gone, .* start anew"):
        Store(store_url, expected="the one before")
    here = Store(store_url)
    assert Store(store_url, expected=here.identity).identity == here.identity
    with pytest.raises(StoreGone):
        Store(store_url, expected="another")


def test_nothing_is_written_over_and_nothing_damaged_is_taken_for_a_backup(
    url: str, path: Path, tmp_path: Path
) -> None:
    published(url)
    (tmp_path / "there").write_text("a letter")
    with pytest.raises(StoreError, match="exists already: name a new file"):
        backups.backup(url, tmp_path / "there")
    with pytest.raises(StoreError, match="there is no backup at"):
        backups.restore(url, tmp_path / "missing", NOW)
    not_a_database = rf"^{tmp_path}/there cannot be used: file is not a database; the store stands as it was$"
    with pytest.raises(StoreError, match=not_a_database):
        backups.restore(url, tmp_path / "there", NOW)
    with closing(sqlite3.connect(tmp_path / "other")) as other:
        other.execute("CREATE TABLE songs (name TEXT)")
    no_store = "other cannot be used: it is not a copy of a store as `costcalc prices backup` writes; the store"
    with pytest.raises(StoreError, match=no_store):
        backups.restore(url, tmp_path / "other", NOW)
    (tmp_path / "other").unlink()
    flip(path, 8192, 40960)
    with pytest.raises(StoreError, match="cannot be used"):
        backups.backup(url, tmp_path / "copy")
    assert {each.name for each in tmp_path.iterdir()} - {"prices.sqlite3-wal", "prices.sqlite3-shm"} == {
        "prices.sqlite3",
        "prices.sqlite3.id",
        "there",
    }


def test_a_backup_from_before_an_upgrade_stays_as_it_was_and_restores_upgraded(
    url: str, path: Path, tmp_path: Path
) -> None:
    engine_at(url).dispose()
    backups.backup(url, tmp_path / "copy.sqlite3")
    assert version(tmp_path / "copy.sqlite3") == version(path) == "0002"
    before = known(published(url))
    backups.restore(url, tmp_path / "copy.sqlite3", LATER)
    assert version(path) == "0002"
    assert known(published(url)) == before
    assert version(path) == HEAD


def test_a_backup_of_a_newer_version_is_refused(url: str, path: Path, tmp_path: Path) -> None:
    published(url)
    copy = tmp_path / "copy.sqlite3"
    backups.backup(url, copy)
    with closing(sqlite3.connect(copy)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="written by a newer costcalc"):
        backups.restore(url, copy, LATER)
    assert path.read_bytes() == before


def version(path: Path) -> str:
    with closing(sqlite3.connect(path)) as connection:
        [(found,)] = connection.execute("SELECT version_num FROM alembic_version")
    return str(found)


def test_without_a_store_there_is_nothing_to_copy(url: str, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no store at"):
        backups.backup(url, tmp_path / "copy")


def flip(path: Path, first: int, end: int) -> None:
    content = bytearray(path.read_bytes())
    content[first:end] = bytes(255 - byte for byte in content[first:end])
    path.write_bytes(content)


DAMAGES = {
    "header": lambda path: flip(path, 0, 16),
    "first page": lambda path: flip(path, 100, 4096),
    "cut in half": lambda path: os.truncate(path, path.stat().st_size // 2),
    "cut to nothing": lambda path: os.truncate(path, 0),
    "a page": lambda path: flip(path, 4096, 8192),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_named_and_left_alone_until_a_person_says_so(url: str, path: Path, damage: str) -> None:
    published(url)
    DAMAGES[damage](path)
    content = path.read_bytes()
    with pytest.raises(StoreDamaged, match=rf"{path} is damaged \(.+\): `costcalc prices restore FILE`"):
        Store(url)
    assert path.read_bytes() == content
    done = backups.rebuild(url, LATER)
    assert done.path == path.with_name("prices-damaged-20261120T130000Z.sqlite3")
    assert done.path.read_bytes() == content
    assert re.match(
        r"3 snapshots published from 2026-11-20 12:00 to 2026-11-20 14:00|what it held cannot be read", done.lost
    )
    assert fault(path) is None
    assert len(Store(url).load_current()) > 1000
    assert not history(Store(url), "none")


def test_what_people_measured_themselves_is_taken_over_where_it_can_be_read(url: str, path: Path) -> None:
    published(url)
    own = ("1", "speed", None, "2026-11-20 12:00:00", "{}")
    with closing(sqlite3.connect(path)) as connection:
        with connection:
            connection.execute("INSERT INTO own_runs (id, kind, owner, added_at, document) VALUES (?, ?, ?, ?, ?)", own)
        [(books,)] = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'books'")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    flip(path, (books - 1) * 4096, books * 4096)
    assert backups.rebuild(url, LATER).own_runs == 1
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT id, kind, owner, added_at, document FROM own_runs").fetchall() == [own]


def test_a_whole_store_is_not_rebuilt(url: str) -> None:
    before = known(published(url))
    with pytest.raises(StoreError, match="is not damaged: nothing was done"):
        backups.rebuild(url, LATER)
    assert known(Store(url)) == before


def test_a_changed_byte_anywhere_is_noticed_or_changes_nothing(url: str, path: Path, tmp_path: Path) -> None:
    before, whole, drawn = known(published(url)), path.read_bytes(), random.Random(14)
    noticed = 0
    for number in range(12):
        place, other = drawn.randrange(len(whole)), tmp_path / f"{number}.sqlite3"
        other.write_bytes(whole[:place] + bytes([whole[place] ^ (1 << drawn.randrange(8))]) + whole[place + 1 :])
        try:
            assert known(Store(f"sqlite:///{other}")) == before, f"bit of byte {place}"
        except StoreError:
            noticed += 1
    assert noticed


def test_a_damaged_segment_is_said_in_words(store_url: str) -> None:
    store = published(store_url)
    with Database(store_url).writing() as connection:
        connection.execute(
            text(
                "INSERT INTO segments (sequence, part, started_at, ended_at, document) VALUES (1, 0, :first, :last, :document)"
            ),
            {"first": NOW, "last": NOW + timedelta(1), "document": b"no zlib"},
        )
    with pytest.raises(StoreError, match="are damaged, or were written by another version"):
        store.all_offers()


def documented(language: str) -> list[str]:
    """The commands of docs/operations.md that back up and restore such a database."""
    page = (ROOT / "docs/operations.md").read_text("utf-8")
    part = page.partition("## Back up and restore")[2].partition("\n## ")[0]
    blocks = re.findall(rf"```sh\n# {language}\n(.*?)```", part, re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def run(command: str, folder: Path, url: str, path: str) -> None:
    environment = clean_environment(folder, COSTCALC_DATABASE_URL=url, PATH=path, PYTHONPATH=str(ROOT))
    command = re.sub(r"^costcalc ", lambda _: f"{COSTCALC} ", command)
    done = subprocess.run(
        ["sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("language", ["PostgreSQL", "SQLite"])
def test_the_documented_commands_bring_everything_back(
    language: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    url = request.getfixturevalue("postgres_url" if language == "PostgreSQL" else "url")
    path = os.environ["PATH"]
    if language == "PostgreSQL":
        server: PostgresServer = request.getfixturevalue("postgres_server")
        path = f"{server.binaries}:{path}"
    before = known(published(url))
    saves, restores = documented(language)
    run(saves, tmp_path, url, path)
    Store(url).publish(listed("aws", offer("99", LATER)), LATER)
    assert known(Store(url)) != before
    run(restores, tmp_path, url, path)
    assert known(Store(url)) == before


def test_a_command_says_which_tools_postgresql_has() -> None:
    with pytest.raises(StoreError, match="pg_dump --format=custom"):
        backups.store_path("postgresql://h/d")


def test_a_command_on_a_damaged_store_says_what_to_do(
    url: str, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    published(url)
    os.truncate(path, 5000)
    monkeypatch.setenv("COSTCALC_DATABASE_URL", url)
    monkeypatch.setenv("HOME", str(tmp_path))
    for arguments, told in (
        (["cost", "resnet50", "0.7"], "is damaged"),
        (["prices", "refresh", "aws"], "`costcalc prices rebuild` sets it aside"),
        (["prices", "rebuild"], "lost: "),
        (["cost", "resnet50", "0.7"], "Rent "),
    ):
        done = CliRunner().invoke(main, arguments)
        assert told in done.output
        assert done.exception is None or isinstance(done.exception, SystemExit)


def test_several_may_create_the_store_at_once(url: str) -> None:
    with ThreadPoolExecutor(8) as together:
        list(together.map(lambda _: Store(url), range(8)))


def test_the_copy_is_one_file(url: str, tmp_path: Path) -> None:
    published(url)
    backups.backup(url, tmp_path / "copy.sqlite3")
    assert [each.name for each in tmp_path.glob("*copy*")] == ["copy.sqlite3"]
    with closing(sqlite3.connect(tmp_path / "copy.sqlite3")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
