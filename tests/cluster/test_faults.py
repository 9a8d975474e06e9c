"""Two random faults while clients ask: `python -m benchmarks faults` breaks two hundred."""

import pytest

from benchmarks import faults


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_two_faults_do_no_harm(capsys):
    survived = faults.main(["--seed", "3", "--count", "2"])
    assert survived, capsys.readouterr().out
