"""The packaged evidence."""

import pytest

from costcalc.evidence import Evidence, load_evidence


@pytest.fixture(scope="session")
def packaged_evidence() -> Evidence:
    return load_evidence()
