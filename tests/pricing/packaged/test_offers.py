import shutil
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from support.stores import packaged_edition

from costcalc.evidence.tables import TableError
from costcalc.hardware import Machine
from costcalc.offer import Offer, PurchaseOption
from pricing.packaged.offers import EDITION, packaged_digest, read_packaged
from pricing.packaged.tables import Table, packaged_folder

OFFERS = packaged_edition().offers


def found(**wanted: object) -> list[Offer]:
    return [offer for offer in OFFERS if all(getattr(offer, name) == value for name, value in wanted.items())]


def test_the_cloud_tpu_of_2018_is_the_sum_of_device_and_host() -> None:
    offers = found(instance_type="v2-8", purchase_option=PurchaseOption.ON_DEMAND)
    tpu = min(offers, key=lambda offer: offer.observed_at)
    assert tpu.observed_at < datetime(2018, 4, 26, tzinfo=UTC)
    assert tpu.hourly_rate == Decimal("6.69") == sum(part.hourly for part in tpu.parts)
    assert tpu.machine == Machine("TPU v2", 4, 16.0, tpu.machine.vcpus, tpu.machine.memory_gib)


def test_rates_of_2018_are_dated_before_april_26() -> None:
    [cirrascale] = found(provider="cirrascale", instance_type="4x V100")
    assert (cirrascale.monthly, cirrascale.hours_in_month, cirrascale.term) == (Decimal(7500), 730, "1mo")
    assert cirrascale.observed_at <= datetime(2018, 4, 27, tzinfo=UTC)


def test_providers_bill_by_their_own_increments() -> None:
    assert {(offer.billing_increment_seconds, offer.minimum_seconds) for offer in found(provider="aws")} == {(1, 60)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for table in EDITION:
        shutil.copy(packaged_folder() / table.name, tmp_path / table.name)
    return tmp_path


FIRST_OFFER = 2  # line 1 is the header


def damage(folder: Path, column: str, text: str, name: str = "offers.csv") -> None:
    """Overwrite one cell of the first row."""
    lines = (folder / name).read_text().splitlines()
    header, cells = lines[0].split(","), lines[1].split(",")
    assert len(header) == len(cells), "the first row has no quoted cell"
    cells[header.index(column)] = text
    (folder / name).write_text("\n".join([lines[0], ",".join(cells), *lines[2:]]) + "\n")


@pytest.mark.parametrize(
    ("column", "text", "complaint"),
    [
        ("hourly_rate", "cheap", "hourly_rate 'cheap' is not a decimal number"),
        ("hourly_rate", "nan", "a number must be finite, not nan"),
        ("hourly_rate", "-1", "hourly_rate '-1' is not an amount of money"),
        ("hourly_rate", "0", "a rate of zero is no rate"),
        ("hourly_rate", "", "hourly_rate is blank"),
        ("purchase_option", "barter", "purchase_option 'barter' is unknown"),
        ("purchase_option", "reserved", "a commitment needs a term"),
        ("term", "1 year", "unknown term '1 year'"),
        ("payment", "later", "payment 'later' is unknown"),
        ("observed_at", "2026-02-30", "observed_at '2026-02-30' is not an ISO date"),
        ("effective_from", "yesterday", "effective_from 'yesterday' is not an ISO date"),
        ("parts", "device=1;host=1", "do not add up to the hourly_rate"),
        ("instance_type", "none-such", "none-such is not in instance_types.csv"),
        ("source", "", "source is blank"),
        ("upfront", "1,2", "expected 18 cells"),
    ],
)
def test_a_corrupt_rate_is_refused_by_file_and_line(folder: Path, column: str, text: str, complaint: str) -> None:
    damage(folder, column, text)
    with pytest.raises(TableError) as refused:
        read_packaged(folder)
    assert f"pricing/packaged/data/offers.csv, line {FIRST_OFFER}: " in str(refused.value)
    assert complaint in str(refused.value)


@pytest.mark.parametrize("table", EDITION, ids=lambda table: table.name)
def test_every_table_is_checked(folder: Path, table: Table) -> None:
    few = (folder / "offers.csv").read_bytes().splitlines(keepends=True)[:100]  # as good as all, and read at once
    (folder / "offers.csv").write_bytes(b"".join(few))
    name = table.name
    path, whole = folder / name, (folder / name).read_bytes()
    lines = whole.splitlines(keepends=True)
    twice = [*lines, lines[1]]
    for content, complaint in [
        (b"".join(twice), f"{name}, line {len(twice)}: .* stands here twice"),
        (b"x" + b"".join(lines), f"{name}, line 1: lacks {table.columns[0]}"),
        (b"", f"{name}, line 1: lacks "),
        (lines[0] + b"\xff" + b"".join(lines[1:]), f"{name}, line 2: not UTF-8"),
        (b"".join(lines[:-1]) + lines[-1][:9], f"{name}, line {len(lines)}: expected"),
    ]:
        path.write_bytes(content)
        with pytest.raises(TableError, match=complaint):
            read_packaged(folder)
    path.unlink()
    with pytest.raises(TableError, match=f"{name}: No such file.* install the package again"):
        packaged_digest(folder)


def test_the_digest_tells_editions_apart(folder: Path) -> None:
    assert packaged_digest(folder) == packaged_digest() == read_packaged(folder).digest
    (folder / "providers.csv").write_text((folder / "providers.csv").read_text() + "\n")
    assert packaged_digest(folder) != packaged_digest()
