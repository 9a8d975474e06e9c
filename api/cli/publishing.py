"""The files that `costcalc prices publish` writes: the signed edition, the open book beside it, and what was held back."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from api.formats import open_book
from api.settings import Settings
from costcalc.catalogue.catalogue import Catalogue
from pricing import editions, nightly
from pricing.edition_head import EditionHead
from pricing.editions import Edition
from pricing.packaged.catalogue import packaged_catalogue
from pricing.store.quarantine import Quarantined

LATEST, HELD_BACK = "latest", "held-back.md"
EPOCH = datetime.fromtimestamp(0, UTC)
EXPLAINING = (
    "These rates are left as they were. To let one pass, add a row with its source and date to "
    "`pricing/packaged/data/offers.csv` and run `make compact`; the next night takes it."
)


class NotMade(ValueError):
    """No edition was made; the message says why."""


class Written(Struct, frozen=True):
    """What was written: the number and the bytes of the edition, and how many rates stayed as they were."""

    number: int
    size: int
    held_back: int


def former(folder: Path, key: str | None) -> Edition | None:
    """The edition in a folder, of any age, if there is one. Raises NoEdition if it is not of this key."""
    try:
        content = (folder / LATEST).read_bytes()
    except FileNotFoundError:
        return None
    return editions.read_at_any_age(content, [editions.public_key(key)] if key else [])


def write(folder: Path, catalogue: Catalogue, odd: list[Quarantined], settings: Settings, now: datetime) -> Written:
    """Write the edition after the one in the folder, and the open book. Raises NotMade, NoEdition, OSError."""
    before = former(folder, settings.edition_key)
    packaged = packaged_catalogue()
    known = before.rates if before else packaged
    night = nightly.checked(
        editions.passed_on(known, now, settings.edition_without),
        editions.passed_on(catalogue, now, settings.edition_without),
        editions.passed_on(packaged, now),
        [each for each in nightly.read_anchors() if each.key[0] not in settings.edition_without],
    )
    folder.mkdir(parents=True, exist_ok=True)
    _write_held_back(folder, [*night.refused, *night.held_back, *(each.reason for each in odd)])
    if night.refused:
        raise NotMade(f"no edition was made: {'; '.join(night.refused[:5])}; see {folder / HELD_BACK}")
    head = before.head if before else EditionHead("", 0, EPOCH)
    content = editions.make(night.offers, now, settings.edition_key, head)
    for name in (LATEST, f"{now:%Y-%m-%d}"):
        (folder / name).write_bytes(content)
    rates = Catalogue.from_offers(night.offers, "")
    (folder / "latest.csv").write_bytes(b"".join(open_book.latest(rates, now)))
    (folder / "schema.json").write_bytes(open_book.schema())
    month = folder / f"observations-{now:%Y-%m}.csv"
    held = month.read_bytes().decode() if month.exists() else ""
    month.write_bytes(open_book.month(held, rates, now).encode())
    return Written(head.number + 1, len(content), len(night.held_back))


def _write_held_back(folder: Path, sentences: list[str]) -> None:
    """The text of an issue, where there is anything to look at."""
    file = folder / HELD_BACK
    file.unlink(missing_ok=True)
    if sentences:
        file.write_text("\n".join([EXPLAINING, "", *(f"- {sentence}" for sentence in sentences), ""]))
