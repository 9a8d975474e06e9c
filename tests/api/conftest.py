"""The application on packaged prices, in process and as a real server."""

import pytest
from fakes.slack import SECRET
from support.live_server import start_server
from support.services import packaged_service

from api.settings import Settings
from api.web.app import create_app


@pytest.fixture(scope="session", autouse=True)
def patient():
    """Answers in Slack and plans may take their time: a busy machine is no fault."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr("api.slack.command.ACK_SECONDS", 60)
        monkeypatch.setattr("api.forms.plan.LONGEST_SECONDS", 600)
        yield


@pytest.fixture(scope="session")
def service():
    return packaged_service()


@pytest.fixture(scope="session")
def app(service):
    return create_app(service)


@pytest.fixture
def client(app):
    return app.test_client()


@pytest.fixture(scope="session")
def live(tmp_path_factory):
    """One server for all tests that only ask."""
    server = start_server(tmp_path_factory.mktemp("live"), COSTCALC_WORKERS="2")
    server.wait_until_ready()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def slack_settings(tmp_path_factory):
    """Slack set up, with a store beside which used signatures are remembered."""
    prices = tmp_path_factory.mktemp("slack") / "prices.sqlite3"
    prices.touch()
    return Settings(f"sqlite:///{prices}", slack_signing_secret=SECRET, public_url="https://cost.example.org/")


@pytest.fixture(scope="session")
def slack_app(slack_settings):
    return create_app(packaged_service(), slack_settings)
