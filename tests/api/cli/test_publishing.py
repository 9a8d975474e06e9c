"""An edition is made by one command and signed by another, which checks what it signs; `prices verify` says who signed."""

import re
from datetime import timedelta

import pytest
from click.testing import CliRunner
from fakes.edition import KEY
from msgspec.structs import replace

from api.bootstrap import utc_now
from api.cli.main import main
from pricing import editions
from pricing.edition_head import EditionHead
from pricing.packaged.catalogue import packaged_catalogue

PUBLIC = editions.public_key(KEY)
SECOND = timedelta(seconds=1)


@pytest.fixture
def said(monkeypatch, filled_url):
    """Says what a command prints, and its exit status."""
    monkeypatch.setenv("COSTCALC_DATABASE_URL", filled_url)
    for name in ("COSTCALC_EDITION_KEY", "COSTCALC_EDITION_TRUSTED"):
        monkeypatch.delenv(name, raising=False)

    def said(*words, **settings):
        done = CliRunner(env=settings).invoke(main, ["prices", *map(str, words)])
        return done.exit_code, done.output

    return said


@pytest.fixture
def folder(tmp_path):
    """The folder of a night, that of what was published before, and a way to put an unsigned edition into the first."""
    before, now = tmp_path / "before", tmp_path / "now"
    for each in (before, now):
        each.mkdir()
    return before, now


def rates():
    return editions.passed_on(packaged_catalogue(), utc_now())


def published(folder, made_at):
    """What a signer published."""
    content = editions.make(rates(), made_at, KEY, EditionHead("", 0, made_at))
    (folder / "latest").write_bytes(content)
    return editions.read_at_any_age(content, [PUBLIC]).head


def unsigned(folder, head, offers=None, made_at=None):
    (folder / "unsigned").write_bytes(editions.make(offers or rates(), made_at or utc_now(), before=head))


def test_a_night_is_made_without_the_key_and_signed_with_it(said, folder):
    before, now = folder
    assert said("publish", now, "--unsigned")[0] == 0
    assert [each.name for each in now.iterdir()] == ["unsigned"]
    status, text = said("sign", now, before, COSTCALC_EDITION_KEY=KEY)
    assert (status, f"COSTCALC_EDITION_TRUSTED={PUBLIC}" in text) == (0, True)
    assert {"latest", "latest.csv", "schema.json"} <= {each.name for each in now.iterdir()}
    status, text = said("verify", "--edition", now / "latest", COSTCALC_EDITION_TRUSTED=PUBLIC)
    assert status == 0
    assert re.search(
        rf"rates, number 1 of .* UTC, signed by {PUBLIC[:16]}\.\.\., which COSTCALC_EDITION_TRUSTED names", text
    )
    assert "after none\ntaken until " in text


def test_without_a_key_nothing_is_signed_and_the_status_is_1(said, folder):
    for words in (("publish", folder[1]), ("sign", folder[1], folder[0])):
        status, text = said(*words)
        assert (status, "so no server will take it: set COSTCALC_EDITION_KEY" in text) == (1, True)
    assert not (folder[1] / "latest").exists()


def test_an_edition_that_was_signed_before_is_not_signed_again(said, folder):
    """A replay: the unsigned edition of a night that has passed."""
    before, now = folder
    unsigned(now, EditionHead("", 0, utc_now()))
    published(before, utc_now() - SECOND)
    assert said("sign", now, before, COSTCALC_EDITION_KEY=KEY) == (
        1, "costcalc: edition 1 does not follow edition 1, which is published\n"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("spoilt", "words"),
    [
        (lambda offers: [replace(each, hourly_rate=each.hourly_rate * 10, parts=()) for each in offers], "(+900%)"),
        (lambda offers: offers[::2], ": gone, as "),
    ],
    ids=["tenfold", "halved"],
)
def test_what_the_collector_spoilt_is_not_signed(said, folder, spoilt, words):
    before, now = folder
    head = published(before, utc_now() - SECOND)
    unsigned(now, head, spoilt(rates()))
    status, text = said("sign", now, before, COSTCALC_EDITION_KEY=KEY)
    assert (status, words in text) == (1, True)
    assert not (now / "latest").exists()


def test_an_edition_that_lay_about_for_days_is_not_signed(said, folder):
    before, now = folder
    head = published(before, utc_now() - timedelta(days=10))
    unsigned(now, head, made_at=utc_now() - timedelta(days=9))
    status, text = said("sign", now, before, COSTCALC_EDITION_KEY=KEY)
    assert (status, "is 9 days old" in text) == (1, True)


def test_a_head_expires_within_a_week_and_says_when(said, folder):
    head = published(folder[0], utc_now() - timedelta(days=8))
    assert head.expires_at == head.made_at + editions.LONGEST_LIFE
    status, text = said("verify", "--edition", folder[0] / "latest", COSTCALC_EDITION_TRUSTED=PUBLIC)
    assert (status, "it is 8 days old" in text) == (1, True)
    assert editions.unfit_at(replace(head, expires_at=head.made_at), head.made_at + SECOND).startswith("expired at ")


def test_an_edition_of_somebody_else_is_not_verified(said, folder):
    published(folder[0], utc_now())
    status, text = said("verify", "--edition", folder[0] / "latest", COSTCALC_EDITION_TRUSTED="6f" * 32)
    assert (status, "is not signed by a key of COSTCALC_EDITION_TRUSTED" in text) == (1, True)


def test_a_rate_says_who_stated_it_and_who_brought_it(said, folder):
    status, text = said("verify", "--provider", "lambda", "--accelerator", "H100")
    assert status == 0
    assert re.search(r"lambda gpu_8x_h100_sxm5 in any, on demand: USD [\d.]+ an hour, seen 2026-", text)
    assert "; brought by the prices that ship with costcalc" in text
    published(folder[0], utc_now() - SECOND)
    assert said("begin", folder[0], COSTCALC_EDITION_KEY=KEY)[0] == 0
    _, text = said("verify", "--provider", "lambda", "--accelerator", "H100", COSTCALC_EDITION_TRUSTED=PUBLIC)
    assert "a published edition, the last one taken being number 1 of " in text
    assert f"signed by {PUBLIC[:16]}..., which COSTCALC_EDITION_TRUSTED names" in text
