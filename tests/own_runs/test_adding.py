"""A log becomes a run; what neither the log nor its owner says is asked for by name."""

import json
from datetime import date

import pytest
from support.services import NOW

from own_runs.adding import MOST_STORED, Facts, RunRefused, name_of, read_run
from own_runs.logs.log import LogRefused

FACTS = {
    "name": "my-run", "dataset": "my-data", "accelerator": "V100", "accelerators": 8, "batch_size": 256,
    "samples_per_epoch": 25_600,
}  # fmt: skip
TIMED = "epoch,seconds,val_acc\n1,100,0.4\n2,200,0.6\n"


def added(folder, text=TIMED, name="log.csv", **changed):
    path = folder / name
    path.write_text(text)
    return read_run(path, Facts(**(FACTS | changed)), NOW)


def refused(folder, text=TIMED, **changed):
    with pytest.raises(RunRefused) as error:
        added(folder, text, **changed)
    return error.value.errors


def test_a_log_with_times_is_a_run_with_its_own_speed(tmp_path):
    run = added(tmp_path)
    assert [tuple(point) for point in run.curve] == [(1, 100, 0.4), (2, 200, 0.6)]
    assert (run.metric, run.lower_is_better, run.model, run.samples_per_second) == ("val_acc", False, "my-run", 256)
    assert (run.source, run.ran_on, run.added_at) == ("log.csv", date(2026, 11, 20), NOW)


def test_all_that_is_missing_is_asked_for_at_once(tmp_path):
    nothing = dict.fromkeys(("dataset", "accelerator", "batch_size", "samples_per_epoch"))
    errors = refused(tmp_path, "epoch,val_wer,val_loss\n1,0.4,2\n", **nothing)
    assert list(errors) == ["metric", "accelerator", "dataset", "batch_size", "samples_per_epoch"]
    assert errors["metric"] == "missing: the log has val_wer, val_loss"
    assert refused(tmp_path, "epoch,acc\n1,0.4\n") == {
        "hours": "missing: the log has no times, so how many hours did all of it take?"
    }


def test_hours_stand_for_the_times_that_a_log_lacks(tmp_path):
    run = added(tmp_path, "epoch,acc\n1,0.4\n4,0.5\n", hours=0.1)
    assert run.samples_per_second == pytest.approx(4 * 25_600 / 360)
    assert run.hours == pytest.approx(0.1)


def test_steps_are_epochs_by_batch_and_samples(tmp_path):
    run = added(tmp_path, "step,seconds,acc\n0,0,0.1\n100,100,0.4\n200,200,0.6\n")
    assert [point.epochs for point in run.curve] == [1, 2]  # nothing was trained at step 0


def test_steps_that_take_minutes_are_asked_about(tmp_path):
    """MLflow has a step alone, which many count in epochs."""
    text = "step,seconds,acc\n1,600,0.4\n2,1200,0.6\n"
    assert refused(tmp_path, text) == {"steps_are": "missing: one of the log's steps took 600 s; epochs or batches?"}
    assert [point.epochs for point in added(tmp_path, text, steps_are="epochs").curve] == [1, 2]
    assert added(tmp_path, text, steps_are="batches").samples_per_second == pytest.approx(256 / 600)


def test_a_log_of_mlperf_says_which_values_are_better(tmp_path):
    said = [
        (0, "submission_benchmark", "llama2_70b_lora", {}),
        (0, "run_start", None, {}),
        *((600_000 * n, "eval_accuracy", 1 - n / 20, {"samples_count": 1000 * n}) for n in (1, 2)),
    ]
    lines = (
        f":::MLLOG {json.dumps({'time_ms': 1.7e12 + ms, 'key': key, 'value': value, 'metadata': more})}"
        for ms, key, value, more in said
    )
    run = added(tmp_path, "\n".join(lines), dataset=None, samples_per_epoch=None)
    assert (run.model, run.dataset, run.lower_is_better) == ("llama2-70b-lora", "scrolls-govreport", True)


def test_the_samples_of_an_epoch_follow_from_steps_and_epochs(tmp_path):
    run = added(tmp_path, "epoch,step,seconds,acc\n0,99,100,0.4\n1,199,200,0.5\n", samples_per_epoch=None)
    assert run.samples_per_epoch == 25_600


@pytest.mark.parametrize("metric", ["val_loss", "eval/loss", "WER", "test_rmse", "perplexity", "bits_bpc"])
def test_a_loss_is_known_by_its_name(tmp_path, metric):
    assert added(tmp_path, f"epoch,seconds,{metric}\n1,10,3\n2,20,2\n").lower_is_better


@pytest.mark.parametrize("metric", ["accuracy", "bleu", "glossary", "F1", "mAP", "answer_rate"])
def test_what_rises_is_better_higher(tmp_path, metric):
    assert not added(tmp_path, f"epoch,seconds,{metric}\n1,10,0.3\n2,20,0.4\n").lower_is_better


def test_a_metric_of_another_name_that_falls_needs_a_word(tmp_path):
    falls = "epoch,seconds,score\n1,10,3\n2,20,2\n"
    assert refused(tmp_path, falls) == {
        "better": "missing: score fell from 3 to 2; lower for a loss, higher for an accuracy"
    }
    assert added(tmp_path, falls, lower_is_better=False).reached == 3


def test_the_metric_may_be_part_of_a_columns_name(tmp_path):
    log = "epoch,seconds,eval_top1,eval_top5\n1,10,0.3,0.6\n"
    run = added(tmp_path, log, metric="top5")
    assert (run.metric, run.reached) == ("top5", 0.6)
    assert "more than one column is called top" in refused(tmp_path, log, metric="top")["metric"]
    assert "no column is called bleu" in refused(tmp_path, log, metric="bleu")["metric"]


def test_a_clock_that_starts_at_the_first_value_is_set_back(tmp_path):
    run = added(tmp_path, "1700000000000 0.4 100\n1700000100000 0.6 200\n", name="val_acc")
    assert (run.metric, [point.seconds for point in run.curve]) == ("val_acc", [100, 200])
    assert any("before the first value" in note for note in run.notes)
    assert "the log has no times" in refused(tmp_path, "1700000000000 0.4 100\n")["hours"]


def test_transformers_batch_is_that_of_one_process(tmp_path):
    history = [{"epoch": 1.0, "step": 800, "eval_f1": 0.8}, {"epoch": 1.0, "step": 800, "train_runtime": 360.0}]
    state = json.dumps({"train_batch_size": 32, "log_history": history})
    asked = refused(tmp_path, state, batch_size=None)["batch_size"]
    assert asked.endswith("the log has 32 for one process, before accumulation")
    history[-1] |= {"train_samples_per_second": 284.4, "train_steps_per_second": 2.222}
    state = json.dumps({"train_batch_size": 32, "log_history": history})
    run = added(tmp_path, state, batch_size=None, samples_per_epoch=None)
    assert (run.batch_size, run.samples_per_epoch, run.metric) == (128, 102_400, "eval_f1")
    assert run.samples_per_second == pytest.approx(102_400 / 360)


def test_a_long_log_is_kept_in_means(tmp_path):
    rows = "".join(f"{step},{step},{step % 2}\n" for step in range(1, 10 * MOST_STORED + 1))
    run = added(tmp_path, f"step,seconds,acc\n{rows}", lower_is_better=False)
    assert len(run.curve) == MOST_STORED
    assert {point.value for point in run.curve} == {0.5}
    assert run.epochs == pytest.approx(100)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "timestamp,epoch,acc\n2026-10-05 09:00:00,1,0.4\n2026-10-05 10:00:00,2,0.5\n2026-10-05 09:30:00,3,0.5\n",
            {"file": "the time goes back at epoch 3: give the log of one run"},
        ),
        (
            "step,seconds,acc\n0,0,0.4\n",
            {"hours": "missing: the log has no times, so how many hours did all of it take?"},
        ),
        ("epoch,seconds,acc\n1,1,1e15\n", {"metric": "1e+15 at epoch 1: at most 1e+12 is read"}),
    ],
    ids=range(3),
)
def test_a_log_that_no_run_has_is_refused(tmp_path, text, fault):
    assert refused(tmp_path, text) == fault


def test_what_the_owner_says_counts_against_the_log_and_the_difference_is_told(tmp_path):
    run = added(tmp_path, hours=1.0)
    assert (run.hours, [point.seconds for point in run.curve]) == (1.0, [1800, 3600])
    assert "The log's own clock says 3.33 min: your 60 min count." in run.notes
    state = json.dumps(
        {
            "train_batch_size": 2,
            "log_history": [
                {"epoch": 1.0, "step": 10, "eval_acc": 0.5},
                {
                    "epoch": 1.0,
                    "step": 10,
                    "train_runtime": 60,
                    "train_samples_per_second": 16.0,
                    "train_steps_per_second": 0.5,
                },
            ],
        }
    )
    assert "The log says batch_size 32: your 256 counts." in added(tmp_path, state).notes


def test_an_accuracy_that_falls_is_an_accuracy(tmp_path):
    run = added(tmp_path, "epoch,seconds,val_acc\n1,10,0.71\n2,20,0.74\n3,30,0.69\n")
    assert (run.lower_is_better, run.reached) == (False, 0.74)


def test_an_epoch_in_progress_is_a_share(tmp_path):
    part = "epoch,step,loss\n" + "".join(f"0,{step},2.0\n" for step in range(9, 50, 10))
    asked = refused(tmp_path, part, samples_per_epoch=None, hours=1.0)
    assert "how many samples has the data set?" in asked["samples_per_epoch"]
    run = added(tmp_path, part, hours=1.0)
    assert (run.epochs, len(run.curve)) == (0.5, 5)
    assert run.samples_per_second == pytest.approx(0.5 * 25_600 / 3600)
    second = part + "".join(f"1,{step},1.0\n" for step in range(109, 160, 10))
    assert added(tmp_path, part + "0,99,1.5\n" + second.removeprefix(part), hours=1.0).epochs == pytest.approx(1.6)


def test_the_last_of_several_runs_is_read_and_a_pause_left_out(tmp_path):
    def dated(*rows):
        return "timestamp,epoch,val_acc\n" + "".join(
            f"2026-10-{day:02} {hour:02}:00:00,{n},0.{n}\n" for day, hour, n in rows
        )

    run = added(tmp_path, dated((5, 1, 1), (5, 2, 2), (5, 3, 3), (6, 1, 1), (6, 2, 2)))
    assert (run.epochs, run.hours) == (2, 2)
    assert any("It has 2 runs" in note for note in run.notes)
    run = added(tmp_path, dated((5, 1, 1), (5, 2, 2), (5, 3, 3), (8, 1, 4), (8, 2, 5)))
    assert (run.epochs, run.hours) == (5, 5)
    assert any("Its clock paused for 69 h before row 5" in note for note in run.notes)
    run = added(tmp_path, dated((5, 1, 1), (5, 2, 2), (5, 3, 3), (5, 5, 2), (5, 6, 3), (5, 7, 4)))
    assert (run.epochs, run.hours) == (4, 4)
    assert any("It went on from a checkpoint at row 5" in note for note in run.notes)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("epoch,time,acc\n1,2,0.5\n2,4,0.6\n", "its times (time) have no unit"),
        (
            "epoch,seconds,acc\n1,100,0.5\n2,110,0.6\n3,120,0.6\n4,130,0.6\n5,140,0.6\n",
            "may run since the start (2.33 min) or be",
        ),
        ("epoch,hours,acc\n1,1,0.5\n2,2,0.6\n3,2,0.7\n", "its clock stands still from epoch 2 on"),
        (
            "epoch,timestamp,epoch_time,acc\n1,2026-10-05 01:00,3600,0.5\n2,2026-10-05 01:01,3601,0.6\n",
            "its dates say 60 s, its epoch_time",
        ),
    ],
)
def test_a_log_that_contradicts_itself_is_asked_about(tmp_path, text, asked):
    assert asked in refused(tmp_path, text)["hours"]
    assert added(tmp_path, text, hours=1.0).hours == pytest.approx(1.0)


def test_a_file_that_is_no_log_stays_refused(tmp_path):
    with pytest.raises(LogRefused, match="the file is empty"):
        added(tmp_path, "")


@pytest.mark.parametrize(
    ("source", "name"), [("logs/My Run (3).csv", "my-run-3"), ("trainer_state.json", "trainer-state"), ("....", "")]
)
def test_a_run_is_named_after_its_file(source, name):
    assert name_of(source) == name
