"""Settings are read once, checked by name, and never show a secret."""

import pytest

from api.settings import MASK, SETTINGS, BadSetting, read_settings, shown


def test_an_empty_environment_gives_the_listed_defaults():
    listed = {setting.field: setting.parse(setting.default) for setting in SETTINGS if setting.default}
    defaults = read_settings({})
    assert {name: getattr(defaults, name) for name in listed} == listed
    assert read_settings({"COSTCALC_WORKERS": "  "}) == defaults


def test_values_are_typed():
    given = {"COSTCALC_WORKERS": "3", "COSTCALC_API_TOKENS": "a, b,,", "COSTCALC_POLL_SECONDS": "0.5"}
    settings = read_settings(given)
    assert (settings.workers, settings.api_tokens, settings.poll_seconds) == (3, ("a", "b"), 0.5)


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("COSTCALC_TRUSTED_PROXIES", "0"),
        ("COSTCALC_TRUSTED_PROXIES", "everybody"),
        ("COSTCALC_TRUSTED_PROXIES", "1, 10.0.0.1"),
        ("COSTCALC_TRUSTED_PROXIES", "10.0.0.1/8"),
        ("COSTCALC_WORKERS", "0"),
        ("COSTCALC_WORKERS", "two"),
        ("COSTCALC_WORKERS", "²"),
        ("COSTCALC_POLL_SECONDS", "nan"),
        ("COSTCALC_POLL_SECONDS", "0"),
        ("COSTCALC_CACHE_ANSWERS", "-1"),
        ("COSTCALC_PUBLIC_URL", "cost.example.org"),
        ("COSTCALC_PUBLIC_URL", "ftp://cost.example.org"),
    ],
)
def test_a_bad_value_is_refused_by_name(variable, text):
    with pytest.raises(BadSetting, match=f"{variable}={text}: write a"):
        read_settings({variable: text})


@pytest.mark.parametrize(
    "text", ["garbage", "mysql://me:hunter2@host/prices", "http://host", "sqlite://", "sqlite:///"]
)
def test_a_store_that_no_address_can_mean_is_refused_without_showing_it(text):
    with pytest.raises(BadSetting, match=r"COSTCALC_DATABASE_URL=\*{8}: write sqlite:////path"):
        read_settings({"COSTCALC_DATABASE_URL": text})


@pytest.mark.parametrize(
    "text", ["sqlite:////tmp/a.db", "sqlite:///a.db", "postgres://h/d", "postgresql+psycopg://h/d"]
)
def test_a_store_is_a_file_or_a_postgresql_database(text):
    assert read_settings({"COSTCALC_DATABASE_URL": text}).database_url == text


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("COSTCALC_DATABASE_URL", "postgresql://me:hunter2@host/prices"),
        ("COSTCALC_REDIS_URL", "redis://:hunter2@host"),
    ],
)
def test_a_missing_extra_is_named_with_the_command_that_installs_it(variable, text, monkeypatch):
    assert read_settings({variable: text})
    monkeypatch.setattr("api.settings.find_spec", lambda package: None)
    with pytest.raises(BadSetting, match=rf"{variable}=\*{{8}}: .* run: pip install 'costcalc\[server\]'") as refused:
        read_settings({variable: text})
    assert "hunter2" not in str(refused.value)
    assert read_settings({"COSTCALC_DATABASE_URL": "sqlite:////tmp/a.db"})


def test_secrets_are_masked_wherever_they_are_shown():
    secrets = [setting for setting in SETTINGS if setting.secret]
    assert {"COSTCALC_DATABASE_URL", "COSTCALC_API_TOKENS", "COSTCALC_SLACK_SIGNING_SECRET"} <= {
        setting.variable for setting in secrets
    }
    for setting in SETTINGS:
        text = shown(setting, {setting.variable: "hunter2"})
        assert text == (MASK if setting.secret else "hunter2")
    assert shown(secrets[0], {}) == "(unset)"


def test_a_password_inside_an_address_is_masked():
    public = next(setting for setting in SETTINGS if setting.variable == "COSTCALC_PUBLIC_URL")
    text = shown(public, {public.variable: "https://me:hunter2@costs.example/x"})
    assert text == f"https://{MASK}@costs.example/x"


@pytest.mark.parametrize("text", ["127.0.0.1:99999", "nonsense", "127.0.0.1:"])
def test_an_address_that_cannot_be_listened_on_is_refused(text):
    with pytest.raises(BadSetting, match="COSTCALC_BIND"):
        read_settings({"COSTCALC_BIND": text})


@pytest.mark.parametrize(
    "text", ["intranet.example.org", "https://intranet.example.org/page", "https://me@host", "null"]
)
def test_a_site_that_may_ask_is_an_origin(text):
    with pytest.raises(BadSetting, match="COSTCALC_CORS_ORIGINS"):
        read_settings({"COSTCALC_CORS_ORIGINS": text})
    assert read_settings({"COSTCALC_CORS_ORIGINS": "https://a.example:8443/, *"}).cors_origins == (
        "https://a.example:8443",
        "*",
    )
