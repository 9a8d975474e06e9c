"""The verdict of `/commitments`: the decision, against the cheapest that one can rent on demand."""

import re

import pytest

ASKED = "/commitments?model=resnet50&target=0.757"


def verdict(client, more):
    return " ".join(client.get(f"{ASKED}&{more}").json["verdict"])


def test_few_runs_are_no_reason_to_commit_though_the_machine_itself_would_save(client):
    said = verdict(client, "term=3y&runs_per_month=20&currency=EUR")
    rented, committed = map(float, re.findall(r"€([\d,.]+)(?= with| a month,)", said)[:2])
    assert said.startswith("Do not commit: 20 runs a month cost")
    assert rented < committed
    least = int(re.search(r"pays from ([\d,]+) runs", said)[1])
    assert rented / 20 * (least - 1) < committed <= rented / 20 * least + 0.3
    assert "Against the same machine on demand it saves" in said
    assert "If use halves to 10 runs a month" in said


@pytest.mark.parametrize("runs", [1, 10, 100])
def test_it_advises_what_costs_less(client, runs):
    said = verdict(client, f"as_of=2018-04-26&runs_per_month={runs}")
    rented, committed = (
        float(re.search(form, said)[1].replace(",", ""))
        for form in (r"runs a month cost \$([\d,.]+) with", r"for \$([\d,.]+) a month")
    )
    assert said.startswith("Do not commit" if committed > 0.9 * rented else "Commit to ")


def test_a_small_saving_is_no_reason_to_be_bound(client):
    from_runs = int(re.search(r"pays from (\d+) runs", verdict(client, "term=3y&runs_per_month=1"))[1])
    said = verdict(client, f"term=3y&runs_per_month={from_runs + 1}")
    assert said.startswith("Do not commit")
    assert "saves only $" in said


def test_without_runs_it_says_from_how_many_it_pays(client):
    assert re.search(
        r"^The cheapest commitment is .* It (pays from [\d,]+ runs|never pays)", verdict(client, "term=1y")
    )


def test_where_nothing_is_committed_to_it_says_nothing(client):
    assert client.get(f"{ASKED}&provider=kaggle").json["verdict"] == []


def test_where_one_machine_cannot_do_all_runs_it_says_what_each_must_do(client):
    said = verdict(client, "term=3y&runs_per_month=40")
    pays, most = map(int, re.search(r"Each pays from (\d+) of the (\d+) runs a month that it can do", said).groups())
    assert said.startswith("Do not commit")
    assert 40 / 2 < pays <= most < 40
