"""How tokens are written, who has them, and until when."""

from datetime import UTC, date, datetime
from hashlib import sha256

import pytest

from api.tokens import Token, Tokens

DIGEST = sha256(b"sesame").digest()
KEY, OTHER_KEY = b"a" * 32, b"b" * 32
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize("secret", ["sesame", f"sha256:{DIGEST.hex()}", f"sha256:{DIGEST.hex().upper()}"])
@pytest.mark.parametrize(
    ("words", "name", "read_only", "until"),
    [
        ("", "", False, None),
        ("read:", "", True, None),
        ("anna:", "anna", False, None),
        ("anna:read:", "anna", True, None),
        ("read:anna:", "anna", True, None),
        ("anna.b@example.org:until=2027-06-30:", "anna.b@example.org", False, date(2027, 6, 30)),
    ],
)
def test_words_before_a_token(secret, words, name, read_only, until):
    assert Token.of(words + secret) == Token(DIGEST, name, read_only, until)


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("", "write a token"),
        ("anna:", "behind anna: write a token"),
        ("anna:ben:sesame", "one name:"),
        ("-x:sesame", "one name:"),
        ("sha256:sesame", "64 hexadecimal digits"),
        (f"sha256:{DIGEST.hex()[:-2]}", "64 hexadecimal digits"),
        ("until=tomorrow:sesame", "a day such as 2027-06-30"),
    ],
)
def test_what_is_no_token_is_refused_with_what_to_write(written, told):
    with pytest.raises(ValueError, match=told):
        Token.of(written)


def test_what_the_store_has_of_a_token_is_neither_it_nor_its_digest():
    token, named = Token.of("sesame"), Token.of("anna:sesame")
    told = {each for one in (token, named) for each in (one.id(KEY), one.owner(KEY), one.who(KEY))}
    assert not any(DIGEST.hex()[:8] in each for each in told)
    assert token.id(KEY) != token.id(OTHER_KEY)
    assert token.owner(KEY) == token.id(KEY) == named.id(KEY) != named.owner(KEY)
    assert (named.who(KEY), token.who(KEY)) == ("anna", f"token-{token.id(KEY)[:8]}")


def test_tokens_of_one_name_own_the_same():
    old, new, other = (Token.of(written) for written in ("anna:sesame", "read:anna:new", "ben:third"))
    assert old.owner(KEY) == new.owner(KEY) != other.owner(KEY)
    assert old.id(KEY) != new.id(KEY)


def test_a_token_is_accepted_through_its_last_day():
    tokens = Tokens.of(("until=2026-11-20:sesame", "always"))
    until_then, after = NOW.replace(hour=23, minute=59), NOW.replace(day=21, hour=0)
    for now, accepted in ((until_then, True), (after, False)):
        assert (tokens.sent("sesame", now) is not None) is accepted
        assert (tokens.of_id(Token.of("sesame").id(KEY), KEY, now) is not None) is accepted
        assert tokens.sent("always", now) is not None
