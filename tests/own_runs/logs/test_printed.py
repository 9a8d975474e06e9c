"""What scripts print is read as they meant it: in the forms of their own print statements, with small figures."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from own_runs.adding import Facts, RunRefused, read_run
from own_runs.logs.reading import read_text

IMAGENET = """=> creating model 'resnet18'
Epoch: [0][   1/5005]\tTime 30.000 (30.000)\tLoss 7.0e+00 (7.0e+00)\tAcc@1   0.00 (  0.00)\tAcc@5   0.78 (  0.78)
Epoch: [0][5001/5005]\tTime  0.200 (  0.250)\tLoss 4.0e+00 (5.3e+00)\tAcc@1  20.00 ( 11.00)\tAcc@5  39.00 ( 25.00)
Test: [  1/196]\tTime  4.000 ( 4.000)\tLoss 3.1e+00 (3.1e+00)\tAcc@1  35.00 ( 35.00)\tAcc@5  61.00 ( 61.00)
Test: [191/196]\tTime  0.100 (  0.500)\tLoss 3.1e+00 (3.2e+00)\tAcc@1  31.00 ( 30.00)\tAcc@5  61.00 ( 56.00)
 *   Acc@1 30.500 Acc@5 56.250
Epoch: [1][5001/5005]\tTime  0.200 (  0.200)\tLoss 3.0e+00 (3.3e+00)\tAcc@1  40.00 ( 31.00)\tAcc@5  59.00 ( 55.00)
Test: [191/196]\tTime  0.100 (  0.500)\tLoss 2.5e+00 (2.6e+00)\tAcc@1  41.00 ( 42.00)\tAcc@5  71.00 ( 68.00)
 *   Acc@1 42.000 Acc@5 68.000
"""
VISION = """Epoch: [0]  [   0/5005]  eta: 1:02:03  lr: 0.1  img/s: 300.0  loss: 7.0 (7.0)  acc1: 0.0 (0.0)  time: 0.7  data: 0.3
Epoch: [0] Total time: 0:20:00
Test:   [  0/196]  eta: 0:01:00  loss: 5.1 (5.1)  acc1: 9.0 (9.0)  acc5: 30.0 (30.0)  time: 0.3  data: 0.2  max mem: 7000
Test:  Total time: 0:01:00
Test:  Acc@1 20.500 Acc@5 45.250
Epoch: [1]  [5000/5005]  eta: 0:00:01  lr: 0.1  img/s: 300.0  loss: 4.0 (4.0)  acc1: 0.0 (0.0)  time: 0.7  data: 0.3
Epoch: [1] Total time: 1 day, 0:20:00
Test:  Acc@1 30.000 Acc@5 55.000
Test: EMA Acc@1 10.000 Acc@5 15.000
"""
CONVNEXT = """Epoch: [0]  [   0/312]  eta: 0:10:00  lr: 0.000000  loss: 6.9 (6.9)  time: 1.0  data: 0.5  max mem: 9000
Epoch: [0] Total time: 0:10:00 (1.9200 s / it)
Test: Total time: 0:00:30 (0.2000 s / it)
* Acc@1 12.500 Acc@5 30.000 loss 5.100
"""
TIMM = """Train: 0 [   0/1250 (  0%)]  Loss: 6.95 (6.95)  Time: 9.000s,  113.78/s  (9.000s,  113.78/s)  LR: 1.0e-04
Train: 0 [1249/1250 (100%)]  Loss: 6.10 (6.50)  Time: 0.400s, 2560.00/s  (0.500s, 2048.00/s)  LR: 1.0e-04  Data: 0.1 (0.1)
Test: [   0/49]  Time: 4.000 (4.000)  Loss:   5.1 ( 5.1)  Acc@1:  15.000 ( 15.000)  Acc@5:  30.000 ( 30.000)
Test: [  49/49]  Time: 0.100 (0.200)  Loss:   5.2 ( 5.2)  Acc@1:  25.000 ( 21.500)  Acc@5:  50.000 ( 41.000)
Test (EMA): [  49/49]  Time: 0.100 (0.200)  Loss:   6.9 ( 6.9)  Acc@1:   0.100 (  0.200)  Acc@5:   0.500 (  0.600)
*** Best metric: 21.5 (epoch 0)
"""
FFCV = """ep=0, iter=311, shape=(512, 3, 160, 160), lrs=['0.850', '0.850']: 100%|██████████| 312/312
=> Log: {'current_lr': 0.849, 'top_1': 0.1525, 'top_5': 0.3512, 'val_time': 9.1, 'train_loss': 5.9, 'epoch': 0}
=> Log: {'current_lr': 1.699, 'top_1': 0.3125, 'top_5': 0.5512, 'val_time': 5.1, 'train_loss': 4.1, 'epoch': 1}
"""
NANO = """tokens per iteration will be: 491,520
step 0: train loss 10.9886, val loss 10.9898
iter 0: loss 10.9861, time 25000.00ms, mfu -100.00%
iter 10: loss 9.7, time 250.00ms, mfu 40.10%
iter 20: loss 9.1, time 250.00ms, mfu 40.10%
step 1000: train loss 4.1, val loss 4.2
iter 1000: loss 4.0, time 250.00ms, mfu 40.10%
"""
MODDED = """s:0 import os
step:0/1770 val_loss:10.8258 train_time:0ms step_avg:nanms
step:1/1770 train_time:140ms step_avg:140.00ms
step:125/1770 val_loss:4.3500 train_time:17500ms step_avg:140.00ms
step:1770/1770 val_loss:3.2790 train_time:247.800s step_avg:140.00ms
"""
LLMC = """| max_sequence_length T   | 1024                                               |
val loss 11.009910
step    1/19560 | loss 11.009903 (+nanz)| norm 15.3800 (+nanz)| lr 8.57e-07 | 2000.00 ms | 50.1% bf16 MFU | 262144 tok/s
step    2/19560 | loss 10.959953 (+nanz)| norm 15.4000 (+nanz)| lr 1.71e-06 | 1000.00 ms | 50.1% bf16 MFU | 524288 tok/s
val loss 10.500000
"""
TUNE = """Step 1 | loss:1.5839 lr:2e-05 peak_memory_active:14.2 tokens_per_second_per_gpu:312.3
Step 2 | loss:1.25 lr:2e-05 peak_memory_active:14.2 tokens_per_second_per_gpu:312.3
"""
TITAN = """2025-03-05 10:20:00,000 - root - INFO - Starting job: Llama 3 8B training
2025-03-05 10:20:30,500 - root - INFO - \x1b[31mstep:  1  \x1b[32mloss: 12.2254  \x1b[33mgrad_norm: 1.0  \x1b[34mtps: 1,512
2025-03-05 10:21:00,000 - root - INFO - \x1b[31mstep: 10  \x1b[32mloss: 10.5  \x1b[33mgrad_norm: 2.0  \x1b[34mtps: 6,512
"""
TRAINER = """  2%|▏         | 500/25000 [01:40]\r{'loss': 1.5, 'learning_rate': 4.9e-05, 'epoch': 0.5}
{'eval_loss': 0.9, 'eval_accuracy': 0.71, 'eval_runtime': 12.5, 'eval_samples_per_second': 80.0, 'epoch': 1.0}
{'eval_loss': '0.7', 'eval_accuracy': '0.80', 'eval_runtime': '12.5', 'epoch': '2.0'}
{'train_runtime': 7200.0, 'train_samples_per_second': 69.4, 'train_steps_per_second': 2.1, 'train_loss': 1.1, 'epoch': 2.0}
"""
PYCLS = """[meters.py: 177]: json_stats: {"_type": "train_epoch", "epoch": "1/100", "time_epoch": 1500.0, "top1_err": 90.1}
[meters.py: 265]: json_stats: {"_type": "test_epoch", "epoch": "1/100", "time_epoch": 60.0, "top1_err": 80.0, "top5_err": 60.0}
"""
MMPRETRAIN = """12/31 23:59:00 - mmengine - INFO - Epoch(train)   [1][4/4]  lr: 9.7656e-02  time: 8.1888  loss: 6.9388
01/01 00:00:30 - mmengine - INFO - Epoch(val) [1][32/32]    accuracy/top1: 45.1000  accuracy/top5: 70.5000  time: 1.6643
"""
NVIDIA = """DLL 2021-03-01 10:00:00.000000 - PARAMETER data : /imagenet  batch_size : 256
DLL 2021-03-01 10:30:00.000000 - Epoch: 0 Iteration: 20  val.top1 : 20.00 % val.top5 : 40.00 %
DLL 2021-03-01 11:00:00.500000 - Epoch: 0 train.loss : 4.5  val.top1 : 30.25 % val.top5 : 55.00 % val.loss : 3.1
"""
PRINTED = {
    "pytorch/examples": (IMAGENET, "top1", [(1, 5005, 1251.25 + 98, 0.305), (2, 10010, 1251.25 + 98 + 1001 + 98, 0.42)]),
    "torchvision": (VISION, "top1", [(1, 5005, 1260, 0.205), (2, 10010, 88_860, 0.3)]),
    "timm": (TIMM, "top1", [(1, 1250, 635, 0.215)]),
    "pycls": (PYCLS, "top1", [(1, None, 1560, 0.2)]),
    "MMPretrain": (MMPRETRAIN, "top1", [(1, None, 90, 0.451)]),
    "NVIDIA's examples": (NVIDIA, "top1", [(1, None, 3600, 0.3025)]),
    "FFCV": (FFCV, "top1", [(1, None, None, 0.1525), (2, None, None, 0.3125)]),
    "nanoGPT": (NANO, "val_loss", [(None, 0, 0, 10.9898), (None, 1000, 250, 4.2)]),
    "modded-nanogpt": (MODDED, "val_loss", [(None, 0, 0, 10.8258), (None, 125, 17.5, 4.35), (None, 1770, 247.8, 3.279)]),
    "llm.c": (LLMC, "val_loss", [(None, 0, 0, 11.00991), (None, 2, 3, 10.5)]),
    "torchtune": (TUNE, "loss", [(None, 1, None, 1.5839), (None, 2, None, 1.25)]),
    "torchtitan": (TITAN, "loss", [(None, 1, 30.5, 12.2254), (None, 10, 60, 10.5)]),
    "transformers": (TRAINER, "eval_accuracy", [(1, None, None, 0.71), (2, None, None, 0.8)]),
}  # fmt: skip


@pytest.mark.parametrize("script", PRINTED)
def test_what_a_script_prints_is_read(script):
    text, metric, expected = PRINTED[script]
    log = read_text(text.encode(), "run.log")
    assert log.written_by == script
    found = [
        (point.epochs, point.steps, point.seconds, point.values[metric])
        for point in log.points
        if metric in point.values
    ]
    assert found == [tuple(pytest.approx(each) if each is not None else None for each in row) for row in expected]


BEFORE_EACH_LINE = (
    "2026-11-27T09:12:30.123456789Z ",
    "2026-11-27T09:12:30.123456789Z stdout F ",
    "train-1  | ",
    "Nov 27 09:12:30 gpu01 python3[4242]: ",
    "INFO:root:",
    "[2026-11-27 09:12:30,123][root][INFO] - ",
    "2026-11-27 09:12:30,123 INFO __main__: ",
    "[rank0]: ",
    "[1,0]<stdout>:",
    "0: ",
    "(RayTrainWorker pid=123, ip=10.0.0.1) ",
    "\x1b[2K\x1b[1;32m",
)


def told(content):
    return [(point.epochs, point.steps, point.seconds, point.values) for point in read_text(content, "run.log").points]


@pytest.mark.parametrize(
    "script", [name for name in PRINTED if name != "torchtitan"]
)  # read by the moments before its lines
def test_what_stands_round_the_lines_of_a_script_changes_nothing(script):
    text = PRINTED[script][0]
    plain, lines = told(text.encode()), text.split("\n")
    for before in BEFORE_EACH_LINE:
        assert told("".join(f"{before}{line}\n" for line in lines).encode()) == plain, before
    of_two = "".join(f"[rank{rank}]: {line}\n" for line in lines if "\r" not in line for rank in (0, 1))
    assert told(of_two.encode()) == told("\n".join(line for line in lines if "\r" not in line).encode())
    for content in (text.encode("utf-16"), text.replace("\n", "\r\n").encode(), bytes(64) + text.encode()):
        assert told(content) == plain
    assert told(b"\xff\n" + text.encode()) == plain


def test_the_file_that_llm_c_writes_beside_has_no_times():
    log = read_text(b"s:0 tel:11.0092\ns:0 trl:11.0091 lr:0.000001 norm:15.37\ns:250 tel:6.1710\n", "main.log")
    assert [(p.steps, p.values["val_loss"]) for p in log.points if "val_loss" in p.values] == [
        (0, 11.0092),
        (250, 6.171),
    ]


def added(tmp_path, text, **facts):
    path = Path(tmp_path, "run.log")
    path.write_text(text)
    return read_run(path, Facts(name="run", accelerator="V100", **facts), datetime(2026, 11, 26, tzinfo=UTC))


def test_the_script_of_imagenet_needs_only_the_batch(tmp_path):
    run = added(tmp_path, IMAGENET, batch_size=256)
    assert (run.dataset, run.metric, run.samples_per_epoch) == ("imagenet", "top1", 1_281_167)
    assert run.samples_per_second == pytest.approx(2 * 1_281_167 / 2448.25)


def test_the_only_accuracy_of_validation_is_the_metric(tmp_path):
    run = added(tmp_path, TRAINER, dataset="mine", batch_size=8, samples_per_epoch=1000)
    assert (run.metric, run.hours) == ("eval_accuracy", 2.0)


@pytest.mark.parametrize("names", ["accuracy_top-1,accuracy_top-5", "accuracy/top1,accuracy/top5", "val_acc1,val_top1"])
def test_of_several_accuracies_the_first_guess_counts(tmp_path, names):
    given = {"dataset": "mine", "hours": 1, "batch_size": 8, "samples_per_epoch": 80}
    run = added(tmp_path, f"epoch,loss,{names}\n1,2,0.3,0.5\n2,1,0.4,0.6\n", **given)
    assert "1" in run.metric
    assert "top" in run.metric


def test_several_losses_are_asked_about_and_rates_of_learning_are_not(tmp_path):
    with pytest.raises(RunRefused) as refused:
        added(tmp_path, "epoch,lr,val_loss,val_nll\n1,0.1,2,3\n2,0.1,1,2\n", dataset="mine", hours=1)
    assert refused.value.errors["metric"] == "missing: the log has val_loss, val_nll"


def test_the_only_value_of_validation_counts(tmp_path):
    text = "epoch,lr,val_loss,train_loss\n1,0.1,2,3\n2,0.1,1,2\n"
    given = {"dataset": "mine", "hours": 1, "batch_size": 8, "samples_per_epoch": 80}
    assert added(tmp_path, text, **given).metric == "val_loss"


def test_scripts_that_took_over_its_logger_are_read_as_torchvisions():
    (point,) = read_text(CONVNEXT.encode(), "log.txt").points
    assert (point.epochs, point.steps, point.seconds, point.values["top1"]) == (1, 312, 630, 0.125)


def test_timm_tells_its_batch_and_the_accuracy_of_averaged_weights():
    log = read_text(TIMM.encode(), "log.txt")
    assert (log.stated["batch_size"], log.points[-1].values["top1_ema"]) == ("1024", 0.002)


REAL = Path(__file__).parent / "printed"
"""What the programs themselves printed on small data on a processor in November 2026: pytorch/examples@77f55b9 (imagenet),
huggingface/pytorch-image-models@aa4b585 (train.py) and karpathy/nanoGPT@3adf61e (train.py); and on one H200, on made-up pictures,
stopped at its target by the launch file: the references of torchvision 0.21, 27 November 2026."""


@pytest.mark.parametrize(
    ("name", "batch", "samples", "metric", "values", "hours"),
    [
        ("pytorch-examples", 8, 32, "top1", [(1, 0.5), (2, 0.5)], 0.03),
        ("timm", 8, 32, "top1", [(1, 1.0)], 0.0086),
        ("torchvision-h200", 256, 16_000, "top1", [(1, 0.0015)], 0.01306),
        ("nanogpt", None, 2048, "val_loss", [(2.5, 10.8262), (5, 10.8251)], 0.0239),
    ],
)
def test_logs_of_the_programs_themselves(tmp_path, name, batch, samples, metric, values, hours):
    given = Facts("mine", dataset="toy", accelerator="V100", batch_size=batch, samples_per_epoch=samples)
    run = read_run(REAL / f"{name}.log", given, datetime(2026, 11, 20, tzinfo=UTC))
    assert run.metric == metric
    assert [(point.epochs, point.value) for point in run.curve] == [pytest.approx(each, rel=1e-3) for each in values]
    assert run.hours == pytest.approx(hours, rel=0.05)
