"""Logs as each tool writes them, recognised by their content alone."""

import gzip
import json
import struct
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from own_runs.logs.bounds import MOST_METRICS, MOST_VALUES
from own_runs.logs.log import LogRefused
from own_runs.logs.reading import read_log
from own_runs.logs.tensorboard import FOOTER_BYTES, HEADER

ROOT = Path(__file__).parents[3]

DAWNBENCH = "epoch\thours\ttop1Accuracy\ttop5Accuracy\n1\t0.25\t12.5\t30\n2\t0.5\t50.25\t75\n"
KERAS = "epoch,accuracy,loss,val_accuracy,val_loss\n0,0.31,3.1,0.4,2.5\n1,0.52,2.0,0.61,1.7\n"
LIGHTNING = "epoch,step,train_loss,val_acc\n0,99,2.5,\n0,199,,0.41\n1,399,,0.62\n"
TIMM = "epoch,train_loss,eval_loss,eval_top1,eval_top5,lr\n0,6.5,5.1,11.5,27.0,0.1\n1,5.2,4.0,31.25,55.5,0.1\n"
WANDB_CSV = """"Step","run-7 - val/acc","run-7 - val/acc__MIN","run-7 - val/acc__MAX"
"100","0.4","0.4","0.4"
"200","0.6","0.6","0.6"
"""
WANDB_LINES = (
    '{"_step": 0, "_runtime": 12.5, "val/acc": 0.4}\n{"_step": 1, "_runtime": 25, "val/acc": 0.6, "note": "x"}\n'
)
PLAIN = "epoch;minutes;accuracy\n1;30;0.4\n2.5;75;0.6\n"
TRAINER = json.dumps(
    {
        "train_batch_size": 32,
        "log_history": [
            {"epoch": 1.0, "step": 500, "loss": 2.5},
            {"epoch": 1.0, "step": 500, "eval_accuracy": 0.4, "eval_runtime": 3.5},
            {"epoch": 2.0, "step": 1000, "eval_accuracy": 0.6},
        ],
    }
)
MLPERF = "\n".join(
    "0: :::MLLOG " + json.dumps({"time_ms": 1_600_000_000_000 + ms, "key": key, "value": value, "metadata": more})
    for ms, key, value, more in [
        (0, "global_batch_size", 4096, {}),
        (5_000, "run_start", None, {}),
        (65_000, "eval_accuracy", 0.4, {"epoch_num": 4}),
        (125_000, "eval_accuracy", 0.6, {"epoch_num": 8}),
    ]
)  # fmt: skip
CIFAR = "epoch\thours\ttop1Accuracy\n1\t0.25\t12.5\n2\t0.5\t50.25\n"
ULTRALYTICS = """epoch,time,train/box_loss,metrics/mAP50-95(B)
1,30.5,1.7,0.11
2,60,1.5,0.21
"""
DEIT = "\n".join(
    json.dumps({"train_lr": 0.001, "test_loss": 3.5, "test_acc1": acc1, "epoch": epoch, "n_parameters": 7_000_000})
    for epoch, acc1 in enumerate((12.5, 50.25))
)  # fmt: skip
MLFLOW = "1700000000000 0.4 100\n1700000060000 0.6 200\n"
RUN = "5b243ae35bba46f98f80ce8f7d62d129"  # as MLflow 3 writes it of a model, with the name and the digest of a data set
OF_MODEL = MLFLOW.replace("\n", f" {RUN} my small set 987cd74d\n")


def log_of(folder, content, name="log.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_log(path)


def curve(log, metric):
    return [(p.epochs, p.steps, p.seconds, p.values[metric]) for p in log.points if metric in p.values]


@pytest.mark.parametrize(
    ("content", "writer", "metric", "points"),
    [
        (DAWNBENCH, "DAWNBench", "top1Accuracy", [(1, None, 900, 0.125), (2, None, 1800, 0.5025)]),
        (CIFAR, "DAWNBench", "top1Accuracy", [(1, None, 900, 0.125), (2, None, 1800, 0.5025)]),
        (ULTRALYTICS, "Ultralytics", "metrics/mAP50-95(B)", [(1, None, 30.5, 0.11), (2, None, 60, 0.21)]),
        (DEIT, "DeiT", "test_acc1", [(1, None, None, 0.125), (2, None, None, 0.5025)]),
        (KERAS, "Keras", "val_accuracy", [(1, None, None, 0.4), (2, None, None, 0.61)]),
        (LIGHTNING, "Lightning", "val_acc", [(1, 199, None, 0.41), (2, 399, None, 0.62)]),
        (TIMM, "timm", "eval_top1", [(1, None, None, 0.115), (2, None, None, 0.3125)]),
        (WANDB_CSV, "a table", "val/acc", [(None, 100, None, 0.4), (None, 200, None, 0.6)]),
        (WANDB_LINES, "Weights & Biases", "val/acc", [(None, 0, 12.5, 0.4), (None, 1, 25, 0.6)]),
        (PLAIN, "a table", "accuracy", [(1, None, 1800, 0.4), (2.5, None, 4500, 0.6)]),
        (TRAINER, "transformers", "eval_accuracy", [(1, 500, None, 0.4), (2, 1000, None, 0.6)]),
        (MLPERF, "MLPerf", "accuracy", [(4, None, 60, 0.4), (8, None, 120, 0.6)]),
        (MLFLOW, "MLflow", "log.csv", [(None, 100, 0, 0.4), (None, 200, 60, 0.6)]),
        (OF_MODEL, "MLflow", "log.csv", [(None, 100, 0, 0.4), (None, 200, 60, 0.6)]),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 20 else "",
)
def test_every_tool_is_recognised_by_what_it_writes(tmp_path, content, writer, metric, points):
    log = log_of(tmp_path, content)
    assert log.written_by == writer
    assert curve(log, metric) == points


@pytest.mark.parametrize("metric", ["acc", "loss"])  # Keras has a loss beside the epoch, but no time
@pytest.mark.parametrize(
    ("first", "epochs"),
    [(20, [1, 2, 3]), (0, [0, 1, 2]), (2, [0, 1, 2])],
    ids=["a trained epoch", "an untrained network", "one evaluated for a while"],
)
def test_a_row_of_epoch_0_is_an_epoch_where_it_took_as_long_as_one(tmp_path, first, epochs, metric):
    rows = [f"{epoch},{first + 30 * epoch},0.{epoch + 1}" for epoch in range(3)]
    log = log_of(tmp_path, "\n".join([f"epoch,seconds,{metric}", *rows]))
    assert log.written_by == "a table"
    assert [point.epochs for point in log.points] == epochs
    assert ("counts epochs from 0" in log.notes[0]) == (epochs[0] == 1)


@pytest.mark.parametrize(
    ("text", "epochs", "told"),
    [
        ("epoch,acc\n0,0.4\n1,0.5\n", [1, 2], "counts epochs from 0"),
        ("epoch,acc\n0,0.4\n0.5,0.5\n", [0, 0.5], "the network before training"),
        ("epochs,step,val\n0,0,0.1\n1,50,0.4\n2,100,0.5\n", [0, 1, 2], "the network before training"),
        ('{"epoch": 0, "train_loss": 3}\n{"epoch": 1, "train_loss": 2}\n', [1, 2], "counts epochs from 0"),
        (
            '{"_step": 0, "_runtime": 1, "epoch": 0, "loss": 3}\n{"_step": 9, "_runtime": 60, "epoch": 0, "acc": 0.4}\n'
            '{"_step": 19, "_runtime": 120, "epoch": 1, "acc": 0.5}\n',
            [1, 1, 2],
            "counts epochs from 0",
        ),
    ],
    ids=["nothing tells", "parts of epochs", "no steps before", "lines", "rows within epochs"],
)
def test_how_epoch_0_is_read_is_said(tmp_path, text, epochs, told):
    log = log_of(tmp_path, text)
    assert [point.epochs for point in log.points] == epochs
    assert told in log.notes[-1]


@pytest.mark.parametrize(
    ("text", "metric", "points"),
    [
        (
            "epoch,train_loss,valid_loss,accuracy,time\n0,0.9,0.5,0.7,00:23\n1,0.5,0.4,0.8,00:22\n2,0.4,0.3,0.9,00:21\n",
            "accuracy",
            [(1, None, 23, 0.7), (2, None, 45, 0.8), (3, None, 66, 0.9)],
        ),
        (
            "epoch,elapsed,acc\n1,10:00,0.4\n2,20:01,0.5\n3,30:02,0.6\n",
            "acc",
            [(1, None, 600, 0.4), (2, None, 1201, 0.5), (3, None, 1802, 0.6)],
        ),
        (
            "EPOCH\tTIMESTAMP\tDEV_F1\n0\t23:30:00\t0.8\n1\t23:50:00\t0.85\n2\t00:10:00\t0.9\n",
            "DEV_F1",
            [(1, None, 0, 0.8), (2, None, 1200, 0.85), (3, None, 2400, 0.9)],
        ),
        (
            "timestamp,epoch,loss\n2024-05-01 10:00:00,1,3\n2024-05-01T10:30:00+00:00,2,2\n",
            "loss",
            [(1, None, 0, 3), (2, None, 1800, 2)],
        ),
        (
            "step,timestamp,val_acc\n100,1700000000000,0.4\n200,1700000060000,0.5\n",
            "val_acc",
            [(None, 100, 0, 0.4), (None, 200, 60, 0.5)],
        ),
        (
            '{"iteration": 19, "total_loss": 2.7, "time": 2.2, "data_time": 0.02}\n{"iteration": 39, "bbox/AP": 31.5}\n',
            "bbox/AP",
            [(None, 39, 39 * 2.2, 31.5)],
        ),
        (
            '{"mode": "train", "epoch": 1, "iter": 50, "loss": 2.5, "time": 0.5, "data_time": 0}\n'
            '{"mode": "val", "epoch": 1, "iter": 625, "bbox_mAP": 0.2}\n',
            "bbox_mAP",
            [(1, None, 25, 0.2)],
        ),
        (
            '{"loss": 2.5, "time": 0.5, "epoch": 1, "iter": 50, "step": 50}\n{"coco/bbox_mAP": 0.2, "step": 1}\n',
            "coco/bbox_mAP",
            [(1, None, None, 0.2)],
        ),
        (
            "     epoch,  train/box_loss, metrics/mAP_0.5\n         0,             0.1,             0.2\n"
            "         1,            0.09,             0.3\n",
            "metrics/mAP_0.5",
            [(1, None, None, 0.2), (2, None, None, 0.3)],
        ),
    ],
    ids=["fastai", "since the start", "flair", "dates", "milliseconds", "detectron2", "mmcv", "mmengine", "yolov5"],
)
def test_logs_of_other_tools(tmp_path, text, metric, points):
    assert curve(log_of(tmp_path, text), metric) == points


def mlperf(*entries):
    """A log of MLPerf's with these entries."""
    lines = [(0, "train_samples", 200, {}), (5_000, "run_start", None, {}), *entries]
    return "\n".join(
        ":::MLLOG " + json.dumps({"time_ms": ms, "key": key, "value": value, "metadata": more})
        for ms, key, value, more in lines
    )


class TestOtherBenchmarksOfMLPerf:
    """What they write in their own way: https://github.com/mlcommons/training_results_v3.1, read in November 2026."""

    def test_samples_seen_are_divided_by_those_of_the_training_set(self, tmp_path):
        entries = [(6_000 + n, "eval_accuracy", 0.1 * n, {"epoch_num": n * 2_000_000}) for n in (1, 2)]
        log = log_of(tmp_path, mlperf(*entries))
        assert [point.epochs for point in log.points] == [10_000, 20_000]
        assert "samples" in log.notes[0]

    def test_so_are_those_of_a_count_of_samples(self, tmp_path):
        entries = [(6_000 + n, "eval_accuracy", 0.1 * n, {"samples_count": 100 * n}) for n in (1, 2)]
        assert [point.epochs for point in log_of(tmp_path, mlperf(*entries)).points] == [0.5, 1]

    def test_samples_of_a_set_of_unknown_size_are_refused(self, tmp_path):
        text = mlperf((6_000, "eval_accuracy", 0.1, {"epoch_num": 2_000_000})).partition("\n")[2]
        with pytest.raises(LogRefused, match="no train_samples"):
            log_of(tmp_path, text)

    def test_an_evaluation_may_have_several_metrics(self, tmp_path):
        entry = (65_000, "eval_accuracy", {"BBOX": 0.2, "SEGM": 0.1}, {"epoch_num": 1})
        assert dict(log_of(tmp_path, mlperf(entry)).points[0].values) == {"BBOX": 0.2, "SEGM": 0.1}

    def test_an_evaluation_may_name_its_metric_and_step(self, tmp_path):
        entry = (65_000, "eval_accuracy", 135.5, {"step_num": 3000, "metric": "FID"})
        assert curve(log_of(tmp_path, mlperf(entry)), "FID") == [(None, 3000, 60, 135.5)]

    def test_an_evaluation_after_the_run_has_no_time(self, tmp_path):
        stopped = [(3_605_000, "run_stop", None, {}), (9_000_000, "eval_accuracy", 0.5, {"epoch_num": 2})]
        log = log_of(tmp_path, mlperf(*stopped))
        assert curve(log, "accuracy") == [(2, None, None, 0.5)]
        assert log.stated["hours"] == "1.0"

    def test_evaluations_at_one_epoch_are_placed_by_their_times(self, tmp_path):
        entries = [(5_000 + n * 1_000, "eval_accuracy", 0.1 * n, {"epoch_num": 1}) for n in (1, 2, 4)]
        log = log_of(tmp_path, mlperf(*entries))
        assert [point.epochs for point in log.points] == [0.25, 0.5, 1]

    @pytest.mark.parametrize(
        ("value", "values"),
        [("25.2", {"accuracy": 25.2}), ({"accuracy": {"BBOX": 0.2}}, {"BBOX": 0.2}), (0.3, {"accuracy": 0.3})],
    )
    def test_values_are_written_in_several_ways(self, tmp_path, value, values):
        log = log_of(tmp_path, mlperf((65_000, "eval_accuracy", value, {"epoch_num": 1})))
        assert dict(log.points[0].values) == values

    def test_the_size_of_the_training_set_may_be_a_list(self, tmp_path):
        text = mlperf((65_000, "eval_accuracy", 0.5, {"epoch_num": 1})).replace('"value": 200', '"value": [200]')
        assert log_of(tmp_path, text).stated["samples_per_epoch"] == "200"

    def test_lines_of_round_0_6(self, tmp_path):
        text = (
            ':::MLL 1560722679.000 run_start: {"value": null, "metadata": {"lineno": 320}}\n'
            ':::MLL 1560722739.500 eval_accuracy: {"value": 0.7, "metadata": {"epoch_num": 2}}\n'
        )
        assert curve(log_of(tmp_path, text), "accuracy") == [(2, None, 60.5, 0.7)]

    def test_signs_of_other_encodings_beside_it_do_no_harm(self, tmp_path):
        text = mlperf((65_000, "eval_accuracy", 0.5, {"epoch_num": 1})).encode() + b"\n\xe2\x96 progress\n"
        assert curve(log_of(tmp_path, text), "accuracy") == [(1, None, 60, 0.5)]


def test_what_the_file_states_of_the_run_is_kept(tmp_path):
    assert log_of(tmp_path, MLPERF).stated == {"batch_size": "4096"}
    assert log_of(tmp_path, TRAINER).stated == {"batch_size": "32"}


def event_file(folder, events=3, tag="val/acc"):
    """A file that TensorBoard's own writer wrote."""
    writer, now = EventFileWriter(str(folder)), time.time()
    for step in range(events):
        value = Summary.Value(tag=tag, simple_value=0.2 * step)
        writer.add_event(Event(wall_time=now + 60 * step, step=step * 100, summary=Summary(value=[value])))
    writer.close()
    (path,) = folder.glob("events*")
    return path


def test_event_files_of_tensorboard(tmp_path):
    log = read_log(event_file(tmp_path))
    assert log.written_by == "TensorBoard"
    assert [(steps, round(value, 6)) for _, steps, _, value in curve(log, "val/acc")] == [
        (0, 0),
        (100, 0.2),
        (200, 0.4),
    ]
    seconds = [point.seconds for point in log.points]
    assert seconds == pytest.approx([0, 60, 120], abs=5)


def write_events(path, events):
    """An event file of (wall time, step, {tag: value or bytes of a picture}), without checksums, which take long."""
    with path.open("wb") as file:

        def write(event):
            record = event.SerializeToString()
            file.write(HEADER.pack(len(record), 0) + record + bytes(FOOTER_BYTES))

        write(Event(wall_time=0, file_version="brain.Event:2"))
        for seconds, step, values in events:
            found = [
                Summary.Value(tag=tag, simple_value=value)
                if isinstance(value, float)
                else Summary.Value(tag=tag, image=Summary.Image(height=1, width=1, encoded_image_string=value))
                for tag, value in values.items()
            ]
            write(Event(wall_time=seconds, step=step, summary=Summary(value=found)))
    return path


def test_the_epoch_that_runs_stands_beside_each_value_of_its_step(tmp_path):
    events = [(10.0 * step, step, {name: value}) for step, epoch, acc in ((99, 0.0, 0.4), (199, 1.0, 0.6))
              for name, value in (("val_acc", acc), ("epoch", epoch))]  # fmt: skip
    log = read_log(write_events(tmp_path / "events.out.tfevents.1", events))
    assert [(point.epochs, round(point.values["val_acc"], 6)) for point in log.points] == [(1, 0.4), (2, 0.6)]
    assert "counts epochs from 0" in log.notes[-1]


def test_a_long_event_file_keeps_rare_metrics_whole(tmp_path):
    count = 3 * MOST_VALUES
    events = (
        (1.0 * n, n, {"loss": 1 / (1 + n)} | ({"acc": n / count} if n % 1000 == 0 else {})) for n in range(1, count + 1)
    )
    log = read_log(write_events(tmp_path / "events.out.tfevents.1", events))
    assert len(log.points) <= MOST_VALUES + 1
    assert [p.steps for p in log.points if "acc" in p.values] == list(range(1000, count + 1, 1000))
    assert log.points[-1].steps == count
    assert any(note.startswith("Of loss one in") for note in log.notes)


PEAK = """
import resource, sys
from pathlib import Path
from own_runs.logs import tensorboard
from google.protobuf.message import DecodeError
from tensorboard.compat.proto.event_pb2 import Event
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
before = peak()
log = tensorboard.read_tensorboard(Path(sys.argv[1]))
print(len(log.points), peak() - before)
"""


def test_an_event_file_of_200_mib_takes_little_memory(tmp_path):
    """Most of it pictures, as in event files of that size, and 150,000 scalars."""
    picture = bytes(2**20)
    events = (
        (1.0 * n, n, {"loss": 1.0 / n, "acc": n / 1e6} | ({"picture": picture} if n % 375 == 0 else {}))
        for n in range(1, 75_001)
    )
    path = write_events(tmp_path / "events.out.tfevents.1", events)
    assert path.stat().st_size > 200 * 2**20
    ran = subprocess.run([sys.executable, "-c", PEAK, path], capture_output=True, text=True, check=True, cwd=ROOT)
    points, taken = map(int, ran.stdout.split())
    assert points > 10_000
    assert taken < 64 * 2**20


def test_an_event_file_without_its_version_is_read(tmp_path):
    path = write_events(tmp_path / "events.out.tfevents.1", [(5.0, 1, {"acc": 0.4}), (9.0, 2, {"acc": 0.5})])
    content = path.read_bytes()
    length, _ = HEADER.unpack_from(content)
    path.write_bytes(content[HEADER.size + length + FOOTER_BYTES :])
    assert [(point.steps, point.seconds) for point in read_log(path).points] == [(1, 0), (2, 4)]


def test_a_record_that_is_no_event_is_refused(tmp_path):
    path = event_file(tmp_path)
    with path.open("ab") as file:
        file.write(struct.pack("<QI", 3, 0) + b"\xff\xff\xff" + bytes(4))
    with pytest.raises(LogRefused, match="this record is no event"):
        read_log(path)


def test_more_metrics_than_any_training_has_are_refused(tmp_path):
    events = [(1.0, 1, {f"m{n}": 0.5}) for n in range(MOST_METRICS + 1)]
    with pytest.raises(LogRefused, match="more than 2,000 metrics"):
        read_log(write_events(tmp_path / "events.out.tfevents.1", events))


def test_an_event_file_cut_off_in_the_middle_keeps_what_was_written(tmp_path):
    path = event_file(tmp_path)
    path.write_bytes(path.read_bytes()[:-7])
    assert len(read_log(path).points) == 2


def test_a_record_that_claims_to_be_huge_is_refused_unread(tmp_path):
    path = event_file(tmp_path)
    with path.open("ab") as file:
        file.write(struct.pack("<QI", 2**50, 0) + b"x")
    begun = time.process_time()
    with pytest.raises(LogRefused, match="a record of 1,125,899,906,842,624 bytes"):
        read_log(path)
    assert time.process_time() - begun < 1


def test_a_packed_log_is_unpacked_as_far_as_a_log_is_long(tmp_path):
    packed = gzip.compress(b"epoch,acc\n1,0.5\n2,0.6\n")
    log = log_of(tmp_path, packed, "log.csv.gz")
    assert curve(log, "acc") == [(1, None, None, 0.5), (2, None, None, 0.6)]
    for content, told in (
        (packed[:-9], "cannot be unpacked"),
        (gzip.compress(bytes(2**26 + 1)), "more than 4 MiB are packed"),
        (gzip.compress(packed), "unpack it and give the log inside"),
    ):
        with pytest.raises(LogRefused, match=told):
            log_of(tmp_path, content, "log.csv.gz")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "the file is empty"),
        (b"\xef\xbb\xbf \n", "the file is empty"),
        (b"PK\x03\x04abc", "a zip archive: unpack it"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\n", "a pointer of Git LFS: fetch the file itself"),
        (b"\x80\x04\x95abc", "a pickle, which may run any program"),
        (bytes(range(128, 256)), "no UTF-8 text"),
        ("a,b\x00\n", "binary content"),
        ("loss,val\n1,2\n", "name one epoch or step; there are loss, val"),
        ("epoch,acc,acc\n1,2,3\n", "the column acc stands there twice"),
        ("epoch,acc\none,0.5\n", "row 2, column epoch: must be a number; got one"),
        ("epoch,acc\n1,0.5\n-2,0.6\n", "row 3: epochs must be from 0 to 1,000,000; got -2"),
        ("epoch,acc\n1e9,0.5\n", "epochs must be from 0 to 1,000,000; got 1e+09"),
        ("epoch,hours,acc\n1,1e9,0.5\n", "seconds must be from 0 to"),
        ("epoch,acc\n1,0.5,7\n", "row 2: 3 cells, but 2 columns"),
        ("epoch,acc\n1,inf\n", "acc is infinite"),
        ("epoch,name\n1,abc\n", "no value of any metric"),
        ("epoch,acc\n" + "1,0.5\n" * 200_002, "more than 200,000 points"),
        ('{"version": "1.0", "author": "x"}', "no log_history, as trainer_state.json of transformers has; it has ver"),
        ('{"log_history": [1]}', "log_history[0]: must be an object"),
        ('{"log_history": [' + "[" * 100_000, "is not JSON"),
        (":::MLLOG {}", "line 1: not a line of MLPerf's log"),
        (MLPERF.replace("run_start", "run_begin"), "no run_start"),
        ("1700000000000 0.4 100\nx\n", "line 2: must be a time in milliseconds"),
    ],
    ids=range(23),
)  # fmt: skip
def test_what_cannot_be_read_is_refused_in_words(tmp_path, content, told):
    with pytest.raises(LogRefused) as refused:
        log_of(tmp_path, content)
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("rows", "column", "cell"),
    [
        ("1,1h,0.5\n2,2h,0.6x", "acc", "0.6x"),
        ("1,1h,0.5\n2,x2,0.6", "hours", "x2"),
        ('1,1h,0.5\n2,2h,"0,6"', "acc", "0,6"),
    ],
)
def test_a_cell_that_is_no_number_among_numbers_is_never_dropped(tmp_path, rows, column, cell):
    with pytest.raises(LogRefused, match=f"^row 3, column {column}: must be a number; got {cell}$"):
        log_of(tmp_path, f"epoch,hours,acc\n{rows}\n")


def test_a_header_of_very_many_columns_takes_no_longer_than_it_has(tmp_path):
    begun = time.process_time()
    log_of(tmp_path, "epoch," + ",".join(f"c{n}" for n in range(100_000)) + "\n1,0.5\n")
    assert time.process_time() - begun < 5


def test_missing_values_are_left_out(tmp_path):
    log = log_of(tmp_path, "epoch,acc,loss\n1,nan,2\n2,0.5,\n")
    assert [dict(point.values) for point in log.points] == [{"loss": 2}, {"acc": 0.5}]


@given(st.binary(max_size=400))
def test_no_file_ends_in_anything_but_a_log_or_a_message(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("any") / "file"
    path.write_bytes(content)
    try:
        log = read_log(path)
    except LogRefused:
        return
    assert log.points


SEEDS = [
    DAWNBENCH,
    CIFAR,
    ULTRALYTICS,
    DEIT,
    KERAS,
    LIGHTNING,
    TIMM,
    WANDB_CSV,
    WANDB_LINES,
    PLAIN,
    TRAINER,
    MLPERF,
    MLFLOW,
]


@given(st.sampled_from(SEEDS), st.integers(0, 400), st.integers(0, 20), st.text(max_size=12))
def test_nor_does_a_damaged_one(tmp_path_factory, whole, at, cut, put):
    path = tmp_path_factory.mktemp("damaged") / "file"
    path.write_text(whole[:at] + put + whole[at + cut :], encoding="utf-8", errors="surrogatepass")
    try:
        log = read_log(path)
    except LogRefused:
        return
    assert log.points


@pytest.mark.parametrize("other", [OF_MODEL.replace("small", "large"), OF_MODEL.replace(RUN, RUN[::-1]), MLFLOW])
def test_values_of_several_runs_or_data_sets_are_no_curve(tmp_path, other):
    with pytest.raises(LogRefused, match="line 3: is of another run or data set than the first"):
        log_of(tmp_path, OF_MODEL + other, "loss")


def test_mlflows_database_is_refused_with_what_to_write(tmp_path):
    with pytest.raises(LogRefused, match="write the metric as CSV, with columns step, timestamp and its name"):
        log_of(tmp_path, b"SQLite format 3\0" + bytes(100), "mlflow.db")


EVIL = "acc\n\x1b]0;owned\x07\u202esetup: |"
NAMED = "acc ]0;owned setup: |"


@pytest.mark.parametrize(
    "text",
    [
        f'epoch,hours,"{EVIL}"\n1,1,0.5\n',
        "\n".join(json.dumps({"_step": step, EVIL: 0.5}) for step in (1, 2)),
        json.dumps({"log_history": [{"epoch": 1.0, "step": 1, EVIL: 0.5}]}),
        MLPERF.replace("0.4", json.dumps({EVIL: 0.4})).replace("0.6", "null"),
    ],
    ids=("table", "json-lines", "trainer", "mlperf"),
)
def test_the_name_of_a_metric_is_a_line(tmp_path, text):
    (file := tmp_path / "log").write_text(text)
    assert read_log(file).metrics()[0] in (NAMED, "acc setup: |")


def test_so_it_is_where_it_is_a_tag_or_the_name_of_a_file(tmp_path):
    assert read_log(event_file(tmp_path, tag=EVIL)).metrics() == (NAMED,)
    (file := tmp_path / "acc\x1b[31m\n").write_text("1700000000000 0.5 1\n1700000060000 0.6 2\n")
    assert read_log(file).metrics() == ("acc [31m",)


def test_the_name_of_a_metric_has_an_end(tmp_path):
    (file := tmp_path / "log.csv").write_text(f"epoch,hours,{'a' * 5000}\n1,1,0.5\n")
    assert read_log(file).metrics() == ("a" * 100,)


class TestBenchmarksOfMLPerf:
    """A log of MLPerf names its benchmark, and so its network, data set and direction."""

    @staticmethod
    def stated(tmp_path, benchmark, samples, *, year=2023):
        start = datetime(year, 5, 1, tzinfo=UTC).timestamp() * 1000
        entries = [
            (0, "submission_benchmark", benchmark, {}),
            *([(0, "train_samples", samples, {})] if samples else []),
            (0, "run_start", None, {}),
            (60_000, "eval_accuracy", 0.3, {"epoch_num": 1}),
        ]
        text = "\n".join(
            ":::MLLOG " + json.dumps({"time_ms": start + ms, "key": key, "value": value, "metadata": more})
            for ms, key, value, more in entries
        )
        log = log_of(tmp_path, text)
        return log.stated, log.notes

    @pytest.mark.parametrize(
        ("benchmark", "samples", "year", "model", "size", "better"),
        [
            ("resnet", 1_281_167, 2021, "resnet50", "1281167", "higher"),
            ("ssd", 117_266, 2020, "ssd", "117266", "higher"),
            ("ssd", 1_170_301, 2022, "retinanet", "1170301", "higher"),
            ("retinanet", 3_617, 2023, "retinanet", "1170301", "higher"),  # steps of batch 324
            ("unet3d", None, 2023, "unet3d", "168", "higher"),
            ("llama2_70b_lora", 3_901, 2024, "llama2-70b-lora", "3901", "lower"),
            ("bert", 156_725_653, 2023, "bert-large", "156725653", "higher"),
        ],
    )
    def test_it_knows_what_it_is(self, tmp_path, benchmark, samples, year, model, size, better):
        stated, notes = self.stated(tmp_path, benchmark, samples, year=year)
        assert (stated["model"], stated["samples_per_epoch"], stated["better"]) == (model, size, better)
        assert bool(notes) == (str(samples) not in (size, "None"))

    @pytest.mark.parametrize("benchmark", [
        "maskrcnn", "dlrm", "dlrm_dcnv2", "rnnt", "gpt3", "llama31_8b", "llama31_405b", "stable_diffusion", "flux1", "gnn",
        "rgat", "minigo", "ncf", "gnmt", "transformer",
    ])  # fmt: skip
    def test_every_benchmark_is_known(self, tmp_path, benchmark):
        assert self.stated(tmp_path, benchmark, None)[0]["dataset"]

    def test_one_of_another_name_keeps_what_it_says(self, tmp_path):
        stated, notes = self.stated(tmp_path, "new_one", 4_000)
        assert (stated, notes) == ({"model": "new_one", "samples_per_epoch": "4000"}, ())
