"""Tables fit any terminal with their figures whole, and every command prints what its HTTP path answers."""

import itertools
import json
import re
from decimal import Decimal
from io import StringIO
from math import ceil
from time import sleep

import click
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from support.prices import offer
from support.sampled import sampled
from support.services import packaged_service, service_of

from api.cli.main import main
from api.cli.waiting import waiting
from api.formats.column import Column
from api.formats.terminal.grid import has_colour, table
from api.forms.cost import CostReport
from api.stored import FixedPrices
from costcalc.catalogue.catalogue import Catalogue
from costcalc.offer import Gap

DAY = "2026-11-20"
PATHS = {
    "cost resnet50 0.757 --limit 5": "/cost?model=resnet50&target=0.757&limit=5",
    "cost efficientnet_b4 0.82 --purchase free,spot": "/cost?model=efficientnet_b4&target=0.82&purchase=free,spot",
    "accuracy resnet50 --budget 5": "/accuracy?model=resnet50&budget=5",
    "commitments resnet50 0.757 --limit 1": "/commitments?model=resnet50&target=0.757&limit=1",
    "offers --provider aws,alibaba": "/offers?provider=aws,alibaba",
    "changes --since 2026-06-01 --limit 30": "/offers/changes?since=2026-06-01&limit=30",
    "throughput --model resnet50 --limit 30": "/throughput?model=resnet50&limit=30",
    "cost resnet50 0.757 --limit 2 --own 1xRTX3090": "/cost?model=resnet50&target=0.757&limit=2&own=1xRTX3090",
    "compare resnet18 0.7 aws:p3.8xlarge own:1xV100": "/compare?model=resnet18&target=0.7&a=aws:p3.8xlarge&b=own:1xV100",
    "fit resnet50,pix2pix_hd --accelerator RTX2060": "/fit?model=resnet50,pix2pix_hd&accelerator=RTX2060",
}
UNDATED = {
    "models": "/models",
    "models ResNet-50": "/models/resnet50",
    "history p3.8xlarge": "/offers/history?instance_type=p3.8xlarge",
}
COMMANDS = [*(f"{command} --as-of {DAY}" for command in PATHS), *UNDATED]
FIGURE = re.compile(r"\d[\d,]*\.\d\d+")


@pytest.fixture
def run(monkeypatch):
    monkeypatch.setattr("api.cli.answers.build_once", lambda settings: packaged_service())

    def printed(command, width=None):
        ended = CliRunner().invoke(main, command.split(), env={"COLUMNS": width and str(width)})
        assert ended.exit_code == 0, ended.output
        return ended.stdout_bytes.decode()

    return printed


WIDE = {}


def printed_wide(run, command):
    """On 400 columns, printed once."""
    if command not in WIDE:
        WIDE[command] = run(command, 400)
    return WIDE[command]


@pytest.mark.parametrize(("command", "width"), sampled(itertools.product(COMMANDS, (60, 72, 80, 100, 120)), one_in=3))
def test_no_line_is_wider_than_the_terminal_and_no_figure_is_split(run, command, width):
    narrow, wide = run(command, width), printed_wide(run, command)
    assert [line for line in narrow.splitlines() if len(line) > width and len(line.split()) > 1] == []
    assert set(FIGURE.findall(narrow)) <= set(FIGURE.findall(wide))


def test_the_two_sides_of_a_comparison_are_called_as_its_sentences_call_them(run):
    printed = run(f"compare resnet50 0.757 aws:p3.8xlarge aws:p3.16xlarge --as-of {DAY} --explain")
    assert re.findall(r"^(\w)\.? +aws (p3\.\w+)", printed, re.M) == [("a", "p3.8xlarge"), ("b", "p3.16xlarge")] * 2


@pytest.mark.parametrize("command", COMMANDS)
def test_in_a_pipe_a_table_has_a_fixed_width(run, command):
    assert run(command) == run(command, 100)


def test_narrow_terminals_leave_columns_out_in_a_stated_order(run):
    printed = [run(f"cost resnet50 0.757 --as-of {DAY} --limit 21", width) for width in range(190, 56, -6)]
    found = [re.search(r"Not shown at \d+ columns: (.*)\.", text) for text in printed]
    left = [set(each[1].split(", ")) if each else set() for each in found]
    assert left == sorted(left, key=len)
    assert {len(each) for each in left} == {0, 1, 2, 3}
    assert all(each == set(["recipe", "share of use", "reaches it"][: len(each)]) for each in left)


@pytest.mark.parametrize("form", ["json", "csv"])
@pytest.mark.parametrize(("command", "path"), [*PATHS.items(), *UNDATED.items()])
def test_every_command_prints_what_its_path_answers(run, client, command, path, form):
    dated, asked = (f"{command} --as-of {DAY}", f"{path}&as_of={DAY}") if command in PATHS else (command, path)
    if form == "json":
        assert _same(json.loads(run(f"{dated} --format json")), client.get(asked).json)
    elif not path.startswith("/models"):
        assert run(f"{dated} --format csv").encode() == client.get(asked.replace("?", ".csv?")).data


def _same(ours, theirs):
    """The two documents without the moment at which each was asked for."""
    return all(ours[name] == theirs[name] or name == "until" for name in {*ours, *theirs})


def test_models_as_csv_have_the_figures_of_json(run, client):
    rows = run("models --format csv").splitlines()
    models = client.get("/models").json["models"]
    assert len(rows) == len(models) + 1
    assert all(row.startswith(f"{model['model']},") for row, model in zip(rows[1:], models, strict=True))


WORDS = st.text("abc-.9", min_size=1, max_size=12)


@given(
    rows=st.lists(st.tuples(st.lists(WORDS, max_size=4).map(" ".join), st.floats(0, 1e6)), max_size=5),
    width=st.integers(30, 120),
)
def test_a_table_keeps_every_figure_and_every_word_at_any_width(rows, width):
    columns = [
        Column("name", lambda row: row[0]),
        Column("figure", lambda row: f"{row[1]:,.2f}", is_number=True),
        Column("more", lambda row: row[0], leave=1),
    ]
    lines = list(table(columns, rows, width))
    assert max(map(len, lines)) <= width
    assert all(any(f"{figure:,.2f}" in line for line in lines) for _, figure in rows)
    assert all(any(word in line for line in lines) for text, _ in rows for word in text.split())


@pytest.mark.parametrize("goal", ["resnet50 0.757", "efficientnet_b4 0.82", "convnext_tiny 0.82 --basis effective"])
def test_the_first_answer_fits_a_terminal_and_has_the_verdict_and_the_picks(run, goal):
    lines = run(f"cost {goal}", 80).splitlines()
    assert len(lines) <= 12
    asked = {"model": [goal.split()[0]], "target": [goal.split()[1]], "basis": ["effective"] * ("effective" in goal)}
    service = packaged_service()
    catalogue = service.catalogue()
    found = CostReport(service, catalogue, service.question(asked, catalogue)[0]).answer
    printed = " ".join(" ".join(lines).split())
    for said in found.verdict:
        assert said.replace("`", "") in printed
    table = run(f"cost {goal}", 400)
    for pick in found.picks:
        assert pick.name in table
        assert f"{pick.estimate.cost(found.query.basis).cost:,.2f}" in table
        assert pick.estimate.instance_type in table
    assert "at unconfirmed rates" in table


def test_of_a_list_that_comes_whole_fifty_rows_are_shown(run):
    lines = run("models", 100).splitlines()
    assert re.fullmatch(r"50 of \d+ models; --format json has all", lines[0])
    assert lines[5].startswith("resnet50 ")


def test_a_machine_of_ones_own_stands_once_among_the_picks(run):
    assert run("cost resnet50 0.76 --own 8xV100 --own-price 0", 120).count("your 8 V100") == 1


def test_the_list_has_free_tiers_below(run, client):
    printed = run(f"cost efficientnet_b4 0.82 --as-of {DAY} --limit 21", 400)
    answer = client.get(f"/cost?model=efficientnet_b4&target=0.82&as_of={DAY}").json
    assert "Free, if you can wait:\n" in printed
    for each in answer["free"]:
        [told] = [line for line in each["assumptions"] if line.startswith("Free tier: ")]
        assert f"  {each['provider']} {each['instance_type']}: {told.removeprefix('Free tier: ')}\n" in printed


def test_accuracies_that_picks_reach_stand_first_with_what_each_takes(run, client):
    printed = run(f"accuracy resnet50 --budget 20 --as-of {DAY}", 400)
    answer = client.get(f"/accuracy?model=resnet50&budget=20&as_of={DAY}").json
    shown = re.findall(r"^ +(0\.\d+)  (\w+ .+?) +on demand .* \$([\d.]+)  ", printed, re.MULTILINE)
    steps = answer["confirmed"]
    assert all(each["confirmed"] and each["purchase_option"] == "on_demand" for each in steps)
    expected = [
        (f"{each['target']:g}", f"{each['provider']} {each['instance_type']}", f"{each['billed_cost']:.2f}")
        for each in steps
    ]
    assert shown[: len(steps)] == expected != []


def test_the_cost_that_the_question_goes_by_stays_on_a_narrow_terminal(run):
    asked = f"cost resnet50 0.757 --purchase reserved --provider azure --as-of {DAY} --limit 21"
    for basis, stays, leaves in (("billed", "to pay", "share of use"), ("effective", "share of use", "to pay")):
        printed = run(f"{asked} --basis {basis}", 70)
        [heading] = [line for line in printed.splitlines() if line.startswith(" #") or line.startswith("  #")]
        assert heading.endswith(stays) or heading.split()[-1] == stays.partition(" ")[0], "in one line or in two"
        assert re.search(rf"Not shown at 70 columns: .*{leaves}[,.]", printed)


def test_a_cost_that_cannot_move_has_no_range(run):
    printed = run(f"cost resnet50 0.757 --purchase reserved --provider azure --as-of {DAY} --limit 21", 200)
    assert re.search(r"^ *\d+\*? +azure ", printed, re.MULTILINE)
    assert not any(low == high for low, high in re.findall(r"([\d,]+\.\d\d)-([\d,]+\.\d\d)", printed))


def test_an_estimate_that_is_several_picks_stands_once(run):
    printed = run("cost resnet50 0.757 --instance-type p3.8xlarge --purchase on_demand --nodes 1", 400)
    assert printed.count("p3.8xlarge, us-east-1") == 1, "and one estimate needs no table"


def test_old_and_second_hand_rates_are_marked_and_the_heading_says_how_fresh_rates_are(run, client):
    printed = run(f"cost resnet50 0.757 --as-of {DAY} --limit 300", 400)
    answer = client.get(f"/cost?model=resnet50&target=0.757&as_of={DAY}&limit=300").json
    assert f"(half of the rates seen within {ceil(answer['freshness']['median_age_days'])} days)" in printed
    rows = re.findall(r"^ {4} .*(\d{4}-\d\d-\d\d)(†?‡?) ", printed, re.MULTILINE)
    expected = [(each["sources"]["price"]["observed_at"][:10], _marks(each)) for each in answer["estimates"]]
    assert rows == expected
    assert {marks for _, marks in expected} >= {"†", "‡", "†‡"}
    assert "†: the rate is more than 30 days old. ‡: a third party states it" in printed


def _marks(each):
    return f"{'†' * (each['price_age_days'] > 30)}{'‡' * (not each['price_first_hand'])}"


@pytest.mark.parametrize(
    "command", ["cost resnet50 0.757 --limit 21", "accuracy resnet50", "commitments resnet50 0.757"]
)
def test_missing_prices_take_one_line_and_explain_has_their_reasons(monkeypatch, command):
    reasons = [
        Gap(source, f"{source} is down for the {time} time") for source in ("aws", "gcp") for time in ("1st", "2nd")
    ]
    catalogue = Catalogue.from_offers([offer()], "silent", tuple(reasons))
    monkeypatch.setattr("api.cli.answers.build_once", lambda settings: service_of(FixedPrices(catalogue)))
    asked = command.split()
    short, long = (CliRunner().invoke(main, [*asked, *more]).output for more in ([], ["--explain"]))
    assert short.count("No new prices") == 1
    assert "\nNo new prices from aws, gcp: older ones are used." in short
    assert all(f"{gap.source}: {gap.reason}\n" in long for gap in reasons)
    assert all(gap.reason not in short for gap in reasons)


def test_one_of_a_kind_is_not_said_as_several(run):
    asked = "--provider aws --region us-east-1 --purchase on_demand"
    assert run(f"offers --instance-type p3.8xlarge {asked} --as-of {DAY}").startswith("1 rate at prices of")
    assert run(f"history p3.8xlarge {asked} --limit 1").split(" until ")[0].endswith("rates")
    alone = run(f"cost resnet50 0.757 --instance-type p3.8xlarge {asked} --nodes 1 --as-of {DAY} --limit 21")
    assert "\nThe only estimate:\n" in alone


def test_an_empty_answer_says_what_to_change_as_an_option(run):
    printed = run("cost resnet50 0.757 --accelerator RTX-2080-Ti --as-of 2026-11-20", 80)
    assert printed.startswith("No estimate answers this question; left out: ")
    said = " ".join(printed.split())
    assert "Instead: 1 estimate with --max-price-age=2100." in said
    assert "Instead: 2 estimates with --as-of=2021-05-20." in said


class Screen(StringIO):
    """A stream that is a terminal."""

    def isatty(self):
        return True


def test_what_to_do_is_coloured_on_a_terminal_alone(run, monkeypatch):
    verdict = run("cost resnet50 0.757", 80)
    monkeypatch.setattr("api.formats.terminal.grid.has_colour", lambda stream: True)
    coloured = CliRunner().invoke(main, ["cost", "resnet50", "0.757"], env={"COLUMNS": "80"}, color=True).output
    assert click.unstyle(coloured) == verdict
    assert coloured.startswith(click.style("Rent", fg="green", bold=True).removesuffix("\033[0m"))


@pytest.mark.parametrize(
    ("stream", "setting", "coloured"),
    [
        (Screen(), {}, True),
        (Screen(), {"NO_COLOR": "1"}, False),
        (Screen(), {"TERM": "dumb"}, False),
        (StringIO(), {}, False),
    ],
)
def test_no_colour_in_a_pipe_or_where_nobody_wants_it(monkeypatch, stream, setting, coloured):
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in setting.items():
        monkeypatch.setenv(name, value)
    assert has_colour(stream) is coloured


@pytest.mark.parametrize(("stream", "patience", "word"), [(Screen, 0, "Wait"), (Screen, 60, ""), (StringIO, 0, "")])
def test_whoever_waits_is_told_so_until_the_answer_comes(monkeypatch, stream, patience, word):
    shown = stream()
    monkeypatch.setattr("sys.stderr", shown)
    monkeypatch.setattr("api.cli.waiting.PATIENCE_SECONDS", patience)
    with waiting("Wait"):
        sleep(0.2)
        assert shown.getvalue() == word
    assert shown.getvalue() == (f"{word}\r\033[K" if stream is Screen else "")


def test_the_rates_of_an_accelerator_take_a_screen_and_begin_with_what_they_cost(run, client):
    lines = run(f"offers H100 --as-of {DAY}", 80).splitlines()
    assert len(lines) <= 24
    summary = client.get(f"/offers?accelerator=H100&as_of={DAY}").json["summary"]
    [most] = [each for each in summary if (each["accelerator"], each["purchase_option"]) == ("H100", "on_demand")]
    figures = [f"${Decimal(str(most[name])):,.2f}" for name in ("least", "median", "most")]
    row = next(line.split() for line in lines if line.startswith("H100 "))
    assert row == ["H100", "on", "demand", str(most["count"]), *figures]
    cheapest = client.get(f"/offers?accelerator=H100&as_of={DAY}&sort=accelerator&limit=1").json["offers"][0]
    assert f"{cheapest['provider']} {cheapest['instance_type']}" in " ".join(lines)
