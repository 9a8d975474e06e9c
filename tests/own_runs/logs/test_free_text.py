"""Lines that were made for people are read where they name an epoch or a step and values, in the forms that tools print.

The readers were tried on published logs: the first results of MLPerf's rounds 0.6 and 1.1 (mlcommons/training_results_v0.6
at f312518, v1.1 at ebe92f8: of 197 files 188 were read, 5 are empty, 4 refused in words), a log of each of 114 records of
modded-nanogpt (KellerJordan/modded-nanogpt at f411b3d3: all read), and 69 of DAWNBench (dawn-bench-entries at fb27b82: all read).
"""

import pytest

from own_runs.logs.log import LogRefused
from own_runs.logs.reading import read_text

PYTORCH_TUTORIAL = """Epoch 0/1
----------
train Loss: 0.6000 Acc: 0.7000
val Loss: 0.3000 Acc: 0.9000

Epoch 1/1
----------
train Loss: 0.4000 Acc: 0.8000
val Loss: 0.2000 Acc: 0.9300

Training complete in 1m 7s
Best val Acc: 0.930000
"""
MNIST = """Train Epoch: 1 [0/60000 (0%)]\tLoss: 2.300039
Train Epoch: 1 [59520/60000 (99%)]\tLoss: 0.11

Test set: Average loss: 0.0521, Accuracy: 9819/10000 (98%)

Train Epoch: 2 [0/60000 (0%)]\tLoss: 0.300039

Test set: Average loss: 0.0421, Accuracy: 9859/10000 (99%)
"""
KERAS = """Epoch 1/2
  10/1875 [..............................] - ETA: 5s - loss: 2.3 - accuracy: 0.1
1875/1875 [==============================] - 6s 3ms/step - loss: 0.25 - accuracy: 0.92 - val_loss: 0.14 - val_accuracy: 0.95
Epoch 2/2
1875/1875 [==============================] - 5s 3ms/step - loss: 0.11 - accuracy: 0.96 - val_loss: 0.09 - val_accuracy: 0.97
"""
KERAS_3 = """Epoch 1/1
\x1b[1m1875/1875\x1b[0m \x1b[32m━━━━\x1b[0m\x1b[37m\x1b[0m \x1b[1m4s\x1b[0m 2ms/step - accuracy: 0.86 - val_accuracy: 0.96
"""
LIGHTNING = (
    "Epoch 0: 100%|####| 938/938 [00:05<00:00, 170.21it/s, v_num=0, val_loss=0.08]\n"
    "Epoch 1:  40%|#   | 375/938 [00:02<00:03, 170.21it/s, v_num=0, val_loss=0.08]\r"
    "Epoch 1: 100%|####| 938/938 [00:05<00:00, 170.21it/s, v_num=0, val_loss=0.06]\n"
)
SWIN = """[2021-04-10 12:00:00 swin] (main.py 210): INFO Train: [0/300][0/1251]\teta 2:00:00 lr 0.000001\tloss 6.9 (6.9)
[2021-04-10 12:08:01 swin] (main.py 216): INFO EPOCH 0 training takes 0:08:01
[2021-04-10 12:08:41 swin] (main.py 260): INFO  * Acc@1 2.500 Acc@5 8.900
[2021-04-10 12:17:22 swin] (main.py 216): INFO EPOCH 1 training takes 0:08:01
[2021-04-10 12:18:02 swin] (main.py 260): INFO  * Acc@1 9.500 Acc@5 23.900
"""
MMENGINE = """2023/03/01 10:00:00 - mmengine - INFO - Epoch(train)   [1][ 100/5005]  lr: 1.0e-01  time: 0.31  loss: 6.9
2023/03/01 10:31:00 - mmengine - INFO - Epoch(val) [1][196/196]    accuracy/top1: 21.5  data_time: 0.1  time: 0.2
2023/03/01 11:02:00 - mmengine - INFO - Epoch(val) [2][196/196]    accuracy/top1: 35.5  data_time: 0.1  time: 0.2
"""
MEGATRON = """ [2025-08-01 07:00:00] iteration        1/    5000 | consumed samples:          128 | elapsed \
time per iteration (ms): 19138.8 | learning rate: 6.9E-08 \
| global batch size:   128 | lm loss: 1.043863E+01 | number of nan iterations:   0 |
 [2025-08-01 10:00:00] iteration     1000/    5000 | consumed samples:       128000 | lm loss: 3.43E+00 | loss scale: 1.0 |
------------------------------------------------------------
 validation loss at iteration 1000 | lm loss value: 3.411100E+00 | lm loss PPL: 3.029838E+01 |
"""
CLU = """I0601 23:50:00.000000 14000 logging_writer.py:48] [100] learning_rate=0.1, loss=6.9, steps_per_second=3.1
I0602 00:10:00.000000 14000 logging_writer.py:48] [1251] eval_accuracy=0.3, eval_loss=3.4
"""
ACCELERATE = "epoch 0: {'accuracy': 0.71, 'f1': 0.81}\nepoch 1: {'accuracy': 0.83, 'f1': 0.88}\n"
DEEPSPEED = (
    "***** Evaluating perplexity, Epoch 1/2 *****\nppl: 3.5\n***** Evaluating perplexity, Epoch 2/2 *****\nppl: 3.1\n"
)
OPEN_CLIP = """2023-05-01,10:00:00 | INFO | Start epoch 0
2023-05-01,10:00:10 | INFO | Train Epoch: 0 [    128/1000000 (0%)] Batch (t): 2.2, 58.1/s LR: 0.000001 Loss: 4.9 (4.9)
2023-05-01,10:30:00 | INFO | Eval Epoch: 1 imagenet-zeroshot-val-top1: 0.1012\tclip_val_loss: 1.1
2023-05-01,11:00:00 | INFO | Eval Epoch: 2 imagenet-zeroshot-val-top1: 0.2012\tclip_val_loss: 0.9
"""
ONES_OWN = (
    "[Epoch 1] train loss 2.31 | val loss 2.10 | acc 41%\n[Epoch 2] train loss 1.31 | val loss 1.10 | acc 51.5%\n"
)
PRINTED = {
    "pytorch-tutorial": (PYTORCH_TUTORIAL, "val Acc", [(1, None, None, 0.9), (2, None, None, 0.93)]),
    "mnist": (MNIST, "test Accuracy", [(1, None, None, 0.9819), (2, None, None, 0.9859)]),
    "keras": (KERAS, "val_accuracy", [(1, None, 6, 0.95), (2, None, 11, 0.97)]),
    "keras-3": (KERAS_3, "val_accuracy", [(1, None, 4, 0.96)]),
    "lightning": (LIGHTNING, "val_loss", [(1, None, 5, 0.08), (2, None, 10, 0.06)]),
    "swin": (SWIN, "top1", [(1, None, 521, 0.025), (2, None, 1082, 0.095)]),
    "mmengine": (MMENGINE, "val accuracy/top1", [(1, None, 1860, 21.5), (2, None, 3720, 35.5)]),
    "megatron": (MEGATRON, "validation lm loss value", [(None, 1000, 10_800, 3.4111)]),
    "clu": (CLU, "eval_accuracy", [(None, 1251, 1200, 0.3)]),
    "accelerate": (ACCELERATE, "accuracy", [(1, None, None, 0.71), (2, None, None, 0.83)]),
    "deepspeed": (DEEPSPEED, "ppl", [(1, None, None, 3.5), (2, None, None, 3.1)]),
    "open-clip": (OPEN_CLIP, "imagenet-zeroshot-val-top1", [(1, None, 1800, 0.1012), (2, None, 3600, 0.2012)]),
    "one's own": (ONES_OWN, "val acc", [(1, None, None, 0.41), (2, None, None, 0.515)]),
}  # fmt: skip


@pytest.mark.parametrize("tool", PRINTED)
def test_what_a_tool_prints_is_read(tool):
    text, metric, expected = PRINTED[tool]
    log = read_text(text.encode(), "run.log")
    assert "Read as free text" in log.notes[0]
    found = [(p.epochs, p.steps, p.seconds, p.values[metric]) for p in log.points if metric in p.values]
    assert found == [tuple(pytest.approx(each) if each is not None else None for each in row) for row in expected]


@pytest.mark.parametrize(
    ("text", "hours", "seconds"),
    [
        ("Epoch 1/2\nloss: 0.5\nTraining time: 31.5s\nEpoch 2/2\nloss: 0.4\nTraining time: 30.5s\n", None, 62),
        (
            "Epoch 1/2\nloss: 0.5\nEpoch 2/2\nloss: 0.4\nTotal training time: 1h 2m 3s\nBest loss: 0.4\n",
            3723 / 3600,
            None,
        ),
        ("Epoch 1: loss=0.5 (took 1m 5s)\nEpoch 2: loss=0.4 (took 1m 6s)\n", None, 131),
        ("100%|##| 9/9 [00:09<00:00]\nstep 10 loss 1.5\n100%|##| 9/9 [00:09<00:00]\nstep 20 loss 1.2\n", None, None),
    ],
)
def test_a_time_is_of_its_epoch_or_of_all_of_them(text, hours, seconds):
    log = read_text(text.encode(), "run.log")
    assert log.stated.get("hours") == (None if hours is None else str(hours))
    assert log.points[-1].seconds == (None if seconds is None else pytest.approx(seconds))


def test_what_stands_beside_is_no_metric():
    log = read_text(MEGATRON.encode(), "run.log")
    assert log.metrics() == ("lm loss", "validation lm loss value", "validation lm loss PPL")
    assert log.stated == {"batch_size": "128"}


@pytest.mark.parametrize("text", ["Hello world\nversion=3\n", "In epoch 3 we saw profits: 5\n", "epoch 3\nloss\n"])
def test_prose_is_no_log(text):
    with pytest.raises(LogRefused, match="no line names an epoch or a step, and a value beside it"):
        read_text(text.encode(), "letter.txt")


def test_a_decimal_comma_is_no_thousands() -> None:
    log = read_text(b"Epoch 1: val_acc: 0,71, val_loss: 1,234\nEpoch 2: val_acc: 0,725, val_loss: 71,5\n", "mine.log")
    assert [tuple(point.values.values()) for point in log.points] == [(0.71, 1234.0), (0.725, 71.5)]


@pytest.mark.parametrize("line", ["epoch " + " " * 3900, "1/1 " * 900, "9" * 3900])
def test_a_line_made_to_be_slow_is_not(line: str) -> None:
    """Before gaps were bounded, one such line took minutes."""
    log = read_text(f"{line}\n".encode() * 20 + b"Epoch 1: val_acc=0.1", "slow.log")
    assert [point.values for point in log.points] == [{"val_acc": 0.1}]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (':::MLLOG {"time_ms": 1e30, "key": "run_start"}', "no date"),
        (':::MLL 1.5 run_start: {"value": null, "metadata": [1]}', "line 1: not a line of MLPerf's log"),
    ],
)
def test_a_log_of_mlperf_with_impossible_values_is_refused(lines: str, said: str) -> None:
    with pytest.raises(LogRefused, match=said):
        read_text(lines.encode(), "mlperf.log")
