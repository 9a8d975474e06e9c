"""What is acknowledged is on the disk: a store on a disk that forgets, at a power cut, all that was not synced."""

import os
import shutil
import subprocess
import sys
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from support.own_training_runs import own_run
from support.prices import LATER, NOW, listed, offer

from pricing.store.changes import By
from pricing.store.connection import open_sqlite
from pricing.store.store import SignIn, Store
from tools.cluster.program import installed

SOURCE = Path(__file__).parents[2] / "support" / "forgetful_disk.c"
BY = By("anna", NOW)
HERS = SignIn("a" * 64, "her token", LATER + timedelta(30))
ACTIONS = {
    "a run is added": lambda store: store.add_own_run(own_run().stored(), BY),
    "somebody signs in": lambda store: store.add_sign_in(HERS, NOW),
    "prices are published": lambda store: store.publish(listed("aws", offer()), NOW),
    "a rate is withdrawn": lambda store: store.withdraw("aws", frozenset({offer().key}), By("anna", LATER)),
    "somebody signs out": lambda store: store.end_sign_in(HERS.id),
    "a run is removed": lambda store: store.remove_own_run(own_run().stored().id, BY),
}


def kept(store: Store) -> tuple[object, ...]:
    """All that the actions change."""
    return (
        store.own_runs(),
        store.sign_ins(),
        store.standing_offers("aws"),
        [change.did for change in store.changes(99)],
    )


def act(url: str, disk: str) -> None:
    """What the process on that disk does: each action, and after it a power cut."""
    store = Store(url)
    with closing(open_sqlite(Path(url.removeprefix("sqlite:///")), "ro", 1)) as reader:  # so that no log is put away
        reader.execute("SELECT * FROM identity").fetchall()
        for number, action in enumerate(ACTIONS.values()):
            action(store)
            shutil.copytree(disk, f"{disk}-{number}")


@pytest.mark.skipif(sys.platform != "linux", reason="LD_PRELOAD is of Linux")
def test_a_power_cut_forgets_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    library, disk, url = tmp_path / "disk.so", tmp_path / "disk", f"sqlite:///{tmp_path}/here/prices.sqlite3"
    subprocess.run([installed("gcc", "gcc"), "-shared", "-fPIC", "-o", library, SOURCE], check=True)
    disk.mkdir()
    environment = {"PYTHONPATH": os.pathsep.join(sys.path), "LD_PRELOAD": str(library), "DISK": str(disk)}
    subprocess.run([sys.executable, __file__, url, disk], env=environment, check=True, timeout=240)
    without = Store(f"sqlite:///{tmp_path}/without/prices.sqlite3")
    for number, (name, action) in enumerate(ACTIONS.items()):
        action(without)
        after = Store(f"sqlite:///{disk}-{number}/prices.sqlite3")
        assert kept(after) == kept(without), name


if __name__ == "__main__":
    act(*sys.argv[1:])
