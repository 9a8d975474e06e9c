"""Whatever a file holds, reading it ends soon, with a log or with one sentence."""

import gzip
import json
import struct
import time
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, example, given, settings, target
from hypothesis import strategies as st
from msgspec.structs import replace
from support.sampled import WHOLE

from own_runs.adding import Facts, read_run
from own_runs.logs.bounds import MOST_LINES
from own_runs.logs.log import LogRefused
from own_runs.logs.reading import read_log, read_text
from own_runs.logs.tensorboard import FOOTER_BYTES, HEADER

NOW = datetime(2026, 10, 1, tzinfo=UTC)
SOON_S, SLOW_S = 2.0, 6.0
MADE_TO_HANG = "step 1/2 | loss 1.0 1.0 ms 1 tok/s\nstep 1/2 | loss " + "1" * 230
SEEDS = (
    "epoch,loss,val_acc,timestamp\n1,0.5,0.6,2026-01-01T00:00:00\n2,0.4,0.7,2026-01-01T00:01:00\n",
    "Epoch 1/2\n10/10 - 3s 1ms/step - loss: 0.5 - val_acc: 0.6\nEpoch 2/2\n10/10 - 3s 1ms/step - loss: 0.4 - val_acc: 0.7\n",
    json.dumps({"log_history": [{"epoch": 1.0, "step": 5, "eval_loss": 0.5}, {"epoch": 2.0, "train_runtime": 9}]}),
    '{"_step": 1, "_timestamp": 1700000000, "loss": 0.5}\n{"_step": 2, "_timestamp": 1700000009, "loss": 0.4}\n',
    ':::MLLOG {"time_ms": 1, "key": "run_start"}\n:::MLLOG {"time_ms": 9, "key": "eval_accuracy", "value": 0.5, '
    '"metadata": {"epoch_num": 1}}\n:::MLLOG {"time_ms": 1, "key": "global_batch_size", "value": 64}\n',
    "1700000000000 0.5 1\n1700000009000 0.4 2\n",
    "{'loss': 0.5, 'epoch': 1.0}\n{'train_runtime': 9.0, 'epoch': 2.0}\n",
    'json_stats: {"_type": "test_epoch", "epoch": "1/2", "time_epoch": 9, "top1_err": 40, "top5_err": 20}\n',
    "2026-01-01 00:00:00 step:  1  loss:  5.0  tps: 10\n2026-01-01 00:01:00 step:  2  loss:  4.0  tps: 10\n",
    "01/01 00:00:00 - x\n01/01 00:01:00 - Epoch(val) [1][9/9]    accuracy/top1: 50.0  accuracy/top5: 70.0\n",
    "Step 1 | loss:5.0 lr:0.1\nStep 2 | loss:4.0 lr:0.1\n",
)
ODD = (
    "1e999",
    "-1",
    "9" * 5000,
    "nan",
    "inf",
    "",
    "[]",
    "{}",
    "null",
    "2026-13-45",
    "2026-02-3",
    "\0",
    "1e-999",
    "true",
    '"',
)


@pytest.mark.parametrize("text", [MADE_TO_HANG, f"{MADE_TO_HANG} ms {'1' * 7000}\n" * 40])
def test_a_log_made_to_hang_is_read_at_once(text: str) -> None:
    begun = time.process_time()
    assert {point.values["train_loss"] for point in read_text(text.encode(), "run.log").points} == {1.0}
    assert time.process_time() - begun < SOON_S


def events(*records: bytes) -> bytes:
    return b"".join(HEADER.pack(len(record), 0) + record + bytes(FOOTER_BYTES) for record in records)


def test_a_tensor_that_claims_millions_of_values_is_not_expanded(tmp_path) -> None:
    from tensorboard.compat.proto.event_pb2 import Event

    claims = Event(wall_time=1, step=1)
    value = claims.summary.value.add(tag="loss")
    value.metadata.plugin_data.plugin_name = "scalars"
    value.tensor.dtype = 1
    value.tensor.tensor_shape.dim.add(size=300_000_000)
    value.tensor.float_val.append(0.5)
    path = tmp_path / "events.out.tfevents.1"
    path.write_bytes(events(Event(file_version="brain.Event:2").SerializeToString(), claims.SerializeToString()))
    begun = time.process_time()
    with pytest.raises(LogRefused, match="no value of any metric"):
        read_log(path)
    assert time.process_time() - begun < SOON_S


@pytest.mark.parametrize("line", [b"\n", b"epoch 1: loss=1\n"])
def test_a_small_file_of_millions_of_lines_is_refused_unread(tmp_path, line: bytes) -> None:
    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress(line * 8_000_000))
    begun = time.process_time()
    with pytest.raises(LogRefused, match="are packed in it"):
        read_log(path)
    with pytest.raises(LogRefused, match=f"at most {MOST_LINES:,} are read"):
        read_text(line * (MOST_LINES + 1), "run.log")
    assert time.process_time() - begun < SOON_S


MADE_TO_BE_SLOW = {
    "epochs to and fro": "epoch,seconds,loss\n" + "".join(f"{2 + n // 2 + n % 2 * 9},{n},1\n" for n in range(20_000)),
    "epochs of two steps": "epoch,step,seconds,loss\n" + "".join(f"{n // 2},{n},{n},1\n" for n in range(20_000)),
    "many rows of an epoch": "epoch,seconds,loss\n" + "".join(f"1,{n},1\n" for n in range(20_000)),
    "many names of times": "\n".join(f'{{"epoch": {n}, "loss": 1, "time_{n}_s": 1}}' for n in range(20_000)),
    "many names": "epoch," + ",".join(f"val_loss{n}" for n in range(1_900)) + "\n" + f"1{',1' * 1_900}\n" * 100,
    "dated lines": "2026-01-01 00:00:00 epoch 1 loss=1\n" * 10_000,
    "runs": "".join(f"Epoch {n % 3} loss=1 time: 1.{n % 7}s\n" for n in range(12_000)),
    "bars": "".join(f"Epoch 1: 100%|#| 9/9 [00:0{n % 9}<00:00, 1it/s, loss=1]\n" for n in range(8_000)),
}


@pytest.mark.parametrize("name", MADE_TO_BE_SLOW)
def test_a_log_made_to_be_slow_takes_seconds(tmp_path, name: str) -> None:
    """Each has up to half a MiB; before their work was bounded, some took minutes."""
    (path := tmp_path / "run.log").write_text(MADE_TO_BE_SLOW[name])
    facts = Facts("mine", dataset="mine", accelerator="V100", batch_size=8, samples_per_epoch=80)
    begun = time.process_time()
    with suppress(LogRefused):
        read_run(path, facts, NOW)
    assert time.process_time() - begun < SLOW_S


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A log of one of the kinds, with odd figures in place of some, cut or with other bytes in between."""
    text = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 3))):
        begin = draw(st.integers(0, len(text)))
        end = min(begin + draw(st.integers(0, 12)), len(text))
        text = text[:begin] + draw(st.sampled_from(ODD) | st.text(max_size=8)) + text[end:]
    return text.encode("utf-8", "surrogatepass")


@example(b"epoch,loss\n1,1e999\n")
@example(b"epoch,loss\n" + b"1" * 5000 + b",1\n")
@example(b"2026-01-01 00:00:00 step:  1  loss:  5.0  tps: 10\n2026-02-31 00:01:00 step:  2  loss:  4.0  tps: 10\n")
@example(b"Epoch " + b"9" * 5000 + b": val_acc=0.7\n")
@example(b'{"log_history": [{"epoch": 1' + b"0" * 5000 + b', "loss": 1}]}')
@example(b':::MLLOG {"time_ms": 1, "key": "run_start"}\n:::MLLOG {"time_ms": 9, "key": "global_batch_size", "value": "1e999"}\n'
         b':::MLLOG {"time_ms": 9, "key": "eval_accuracy", "value": 0.5, "metadata": {"epoch_num": 1}}\n')  # fmt: skip
@settings(
    max_examples=5000 if WHOLE else 150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(damaged())
def test_a_damaged_log_is_read_or_refused_in_a_sentence(tmp_path_factory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged.log"
    path.write_bytes(content)
    facts = Facts("mine", dataset="mine", accelerator="V100", batch_size=8, samples_per_epoch=80, hours=1.0)
    begun = time.process_time()
    for metric in (None, "loss"):
        with suppress(LogRefused):
            read_run(path, replace(facts, metric=metric), NOW)
    seconds = time.process_time() - begun
    target(seconds)
    assert seconds < SOON_S


@settings(max_examples=5000 if WHOLE else 100, deadline=None)
@given(st.binary(max_size=64), st.integers(0, 60), st.integers(0, 2))
def test_a_damaged_event_file_is_read_or_refused_in_a_sentence(
    tmp_path_factory, more: bytes, at: int, size: int
) -> None:
    from tensorboard.compat.proto.event_pb2 import Event

    event = Event(wall_time=1, step=1)
    event.summary.value.add(tag="loss", simple_value=0.5)
    record = event.SerializeToString()
    record = record[:at] + more + record[at + size :]
    path = tmp_path_factory.getbasetemp() / "events.out.tfevents.1"
    path.write_bytes(
        events(Event(file_version="brain.Event:2").SerializeToString(), record) + struct.pack("<Q", 3) + more
    )
    with suppress(LogRefused):
        read_log(path)
