"""The application on packaged prices, in process and as a real server."""

import pytest
from support.live_server import start_server
from support.services import packaged_service

from api.app import create_app


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
