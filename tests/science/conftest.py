"""The packaged evidence."""

import pytest
from support.engine import evidence

from costcalc.evidence import Evidence


@pytest.fixture(scope="session")
def packaged_evidence() -> Evidence:
    return evidence()
