"""What does not stay in memory is read again in each epoch."""

import numpy as np
import pytest

from costcalc.assumptions import fed
from costcalc.hardware import Machine
from costcalc.machine_limits.host import Feed
from costcalc.machine_limits.known_limits import LimitTables
from costcalc.machine_limits.limits import RentedMachines
from costcalc.machine_limits.storage import GB_PER_GIB, USABLE_SHARE, Volume, best_volume, read_again, storage_limit

GP3 = Volume("aws", None, "gp3", None, 125, "somebody")
SMALL, LARGE = (
    Volume("aws", name, "local NVMe", size, 2000, "somebody") for name, size in (("small", 125), ("large", 900))
)
VOLUMES = (GP3, SMALL, LARGE)
FEED, FFCV = Feed("pytorch", 200, (), 149, 0.5), Feed("ffcv", 500, (), 202, 0.5)


def kind(name="small", memory_gib=16.0, provider="aws"):
    return provider, name, Machine("T4", 1, 16.0, 4, memory_gib)


def limit(feeds, *kinds, nodes=1):
    machines = RentedMachines(kinds, np.arange(len(kinds)), np.full(len(kinds), nodes))
    return storage_limit(feeds, VOLUMES, machines).seconds_per_epoch


def test_the_fastest_volume_that_holds_the_set():
    assert best_volume(VOLUMES, kind("small"), 149) == GP3
    assert best_volume(VOLUMES, kind("large"), 149) == LARGE
    assert best_volume(VOLUMES, kind(provider="acme"), 149) is None


def test_what_fits_the_memory_is_not_read_again():
    assert read_again(kind(memory_gib=256), 149) == 0
    assert read_again(kind(memory_gib=16), 149) == pytest.approx(149 - USABLE_SHARE * 16 * GB_PER_GIB)
    assert read_again(kind(memory_gib=None), 149) is None


def test_each_epoch_reads_the_rest_at_the_rate_of_the_volume():
    rest = read_again(kind(), 149)
    kinds = kind("small"), kind("large"), kind("large", 256.0), kind("small", None), kind(provider="acme")
    found = limit([FEED, FFCV, None], *kinds)
    assert found[0] == pytest.approx([rest / 0.125, rest / 2, 0, 0, 0])
    assert found[1] == pytest.approx([(rest + 53) / 0.125, (rest + 53) / 2, 0, 0, 0])
    assert found[2].tolist() == [0] * 5
    assert limit([FEED], kind("small"), nodes=4)[0] == pytest.approx([rest / 0.5])


def test_what_is_said_of_the_disk():
    tables = LimitTables(volumes=VOLUMES)
    *_, said = fed(tables, FEED, kind("small"), 1)
    assert said == "135 of the data set's 149 GB do not fit in memory, so each epoch reads them from gp3 at 125 MB/s."
    assert fed(tables, FEED, kind(provider="acme"), 1)[1].endswith("reads them from a disk of unknown speed.")
    assert len(fed(tables, FEED, kind(memory_gib=256.0), 1)) == 1


def test_packaged_volumes_are_of_packaged_machines(packaged_evidence):
    from pricing.packaged.machine_facts import read_machines

    volumes = packaged_evidence.limit_tables.volumes
    assert {(one.provider, one.instance_type) for one in volumes if one.instance_type} <= set(read_machines())
    assert all(one.source for one in volumes)
