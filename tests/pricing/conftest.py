"""A store to publish into, and a machine without an AWS account."""

from pathlib import Path

import pytest

from pricing.sources.aws import source as aws
from pricing.store.store import Store


@pytest.fixture
def store(store_url: str) -> Store:
    return Store(store_url)


@pytest.fixture
def no_account(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No credentials, files or metadata service of AWS, whatever the machine that the tests run on has."""
    for name in (setting.variable for setting in aws.SETTINGS):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
