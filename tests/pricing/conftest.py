"""A store to publish into, and a machine without an AWS account."""

import shutil
from pathlib import Path

import pytest
from support.prices import NOW

from pricing.sources.aws import source as aws
from pricing.store.store import Store


@pytest.fixture
def store(store_url: str) -> Store:
    return Store(store_url)


@pytest.fixture(scope="session")
def filled_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of the packaged prices, to be copied."""
    folder = tmp_path_factory.mktemp("filled")
    Store(f"sqlite:///{folder / 'prices.sqlite3'}").fill(NOW)
    return folder


@pytest.fixture
def filled_url(filled_folder: Path, tmp_path: Path) -> str:
    """A copy of it, which costs a hundredth of filling one."""
    copied = shutil.copytree(filled_folder, tmp_path / "filled")
    return f"sqlite:///{copied / 'prices.sqlite3'}"


@pytest.fixture
def no_account(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No credentials, files or metadata service of AWS, whatever the machine that the tests run on has."""
    for name in (setting.variable for setting in aws.SETTINGS):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
