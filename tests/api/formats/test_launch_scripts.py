"""The first minute of launch files, in a shell whose programs stand in for git, pip, the driver and the training itself."""

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from api.cli.main import main
from api.formats.launch_files import launch_file
from api.reports.launch import LaunchSchema, launch_report

STAND_INS = {
    "git": 'echo "git $*" >> "$CALLS"; if [ "$1" = clone ]; then for last; do :; done; mkdir -p "$last/$FOLDER"; '
    'echo "echo write \\$*" > "$last/$FOLDER/write_imagenet.sh"; fi',
    "pip": 'echo "pip $*" >> "$CALLS"',
    "apt-get": 'echo "apt-get $*" >> "$CALLS"',
    "mim": 'echo "mim $*" >> "$CALLS"',
    "curl": 'echo "curl $*" >> "$CALLS"',
    "nvidia-smi": 'for card in $CARDS; do echo "GPU $card"; done',
}
TRAINS = (
    'echo "$(basename "$0") $*" >> "$CALLS"; '
    'case "$*" in *train*.py* | *run_net.py* | *launch.py*) printf "$LOG"; sleep "$LASTS" ;; esac'
)
CODES = {
    "torchvision-resnet50-90ep": ("0.757", "references/classification", "Test:  Acc@1 {:.3f} Acc@5 92.862", 100),
    "rsb-a3-resnet50-100ep": (
        "0.77",
        ".",
        "Test: [  48/48]  Time: 0.3 (0.4)  Loss: 0.9 (0.9)  Acc@1: 80.1 ({:7.3f})  Acc@5: 95.0 (94.0)",
        100,
    ),
    "timm-efficientnet-b0": (
        "0.77",
        ".",
        "Test: [  48/48]  Time: 0.3 (0.4)  Loss: 0.9 (0.9)  Acc@1: 80.1 ({:7.3f})  Acc@5: 95.0 (94.0)",
        100,
    ),
    "ffcv-rn50-40ep": (
        "0.765",
        ".",
        "=> Log: {{'current_lr': 0.0, 'top_1': {:.4f}, 'top_5': 0.93, 'val_time': 9.1}}",
        1,
    ),
    "torchvision-vit-b16-300ep": ("0.80", "references/classification", "Test: EMA Acc@1 {:.3f} Acc@5 95.1", 100),
    "mosaicml-mild-29ep": ("0.757", "blogs/resnet", "", 1),
    "mmpretrain-resnet50-100ep": (
        "0.76",
        ".",
        "11/27 09:40:44 - mmengine - INFO - Epoch(val) [1][32/32]    accuracy/top1: {:.4f}  accuracy/top5: 93.0000  time: 0.4",
        100,
    ),
    "pycls-resnet-50": (
        "0.76",
        ".",
        '[meters.py: 265]: json_stats: {{"_type": "test_epoch", "top1_err": {:.4f}, "top5_err": 7.0}}',
        100,
    ),
    "nvidia-pytorch-resnet50-a100x8-amp-90ep": (
        "0.76",
        "PyTorch/Classification/ConvNets",
        "DLL 2021-03-01 10:00:00.000000 - Epoch: 3 train.loss : 2.1 val.top1 : {:.2f} % val.top5 : 93.00 %",
        100,
    ),
}
NETWORKS = {"vit": "vit_b16", "efficientnet": "efficientnet_b0"}
EXPECTED = {
    "torchvision-resnet50-90ep": "train.py --data-path {data} --output-dir . --model resnet50 --epochs 90 --batch-size 32",
    "rsb-a3-resnet50-100ep": "--batch-size 256 --grad-accum-steps 1 --opt lamb --lr 0.008",
    "timm-efficientnet-b0": "--amp --lr .048 --workers ",
    "ffcv-rn50-40ep": "--resolution.start_ramp=29 --resolution.end_ramp=34 --training.batch_size=512 --lr.lr=1.7",
    "torchvision-vit-b16-300ep": "--model vit_b_16 --epochs 300 --batch-size 512 --opt adamw --lr 0.003",
    "mosaicml-mild-29ep": "-n 8 train.py -f recipes/resnet50_mild.yaml --scale_schedule_ratio 0.32",
    "mmpretrain-resnet50-100ep": "tools/train.py configs/resnet/resnet50_8xb32_in1k.py --launcher pytorch --work-dir . ",
    "pycls-resnet-50": "R-50-1x64d_dds_8gpu.yaml OUT_DIR . NUM_GPUS 8 TRAIN.BATCH_SIZE 256 OPTIM.BASE_LR 0.2",
    "nvidia-pytorch-resnet50-a100x8-amp-90ep": "--precision AMP --mode convergence --platform DGXA100 {data} --epochs 90",
}


@pytest.fixture
def started(service, tmp_path):
    """Runs the script of a recipe's launch file for 8 A100 at AWS, and tells how it ended."""
    catalogue = service.catalogue()
    for name, body in STAND_INS.items():
        _program(tmp_path / name, body)
    for name in ("torchrun", "python", "composer"):
        _program(tmp_path / name, TRAINS)

    def start(recipe, to, top1, **changed):
        model = next((model for word, model in NETWORKS.items() if word in recipe), "resnet50")
        target, folder, line, full = CODES[recipe]
        given = {"model": model, "target": target, "recipe": recipe, "to": to, "provider": "aws", "training": "record"}
        given |= {"instance_type": "p4d.24xlarge", "nodes": "1"}
        values, _ = service.parse(LaunchSchema(), {name: [value] for name, value in given.items()}, catalogue)
        shown = [1 - value for value in top1] if "top1_err" in line else top1
        log = "\n".join(line.format(value * full) for value in shown)
        return run_file(launch_file(launch_report(service, catalogue, values)), folder, log, **changed)

    def run_file(text, folder, log, *, cards=8, data=True, lasts=30, **changed):
        settings = yaml.safe_load(text)
        env = settings.get("envs") or dict(each.split("=", 1) for each in settings["env"])
        for split in ("train", "val") if data else ():
            (tmp_path / "data" / split).mkdir(parents=True, exist_ok=True)
        environment = {
            **env,
            "DATA": str(tmp_path / "data"),
            "PATH": f"{tmp_path}:{os.environ['PATH']}",
            "CALLS": str(tmp_path / "calls"),
            "FOLDER": folder,
            "CARDS": " ".join(str(card) for card in range(cards)),
            "LOG": log.replace("%", "%%") + "\n",
            "LASTS": str(lasts),
            **changed,
        }
        script = settings.get("run") or settings["commands"][0]
        ran = subprocess.run(
            ["bash", "-c", script],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        calls = tmp_path / "calls"
        return ran, calls.read_text() if calls.exists() else ""

    start.file = run_file
    return start


def _program(path: Path, body: str) -> None:
    path.write_text(f"#!/bin/bash\n{body}\n")
    path.chmod(0o755)


@pytest.mark.parametrize("recipe", [name for name in CODES if not name.startswith("mosaicml")])
def test_a_run_is_fetched_trained_and_stopped_at_its_target(started, tmp_path, recipe):
    ran, calls = started(recipe, "skypilot", (0.1, 0.7, 0.85))
    assert ran.returncode == 0, ran.stderr
    assert f"costcalc: reached {float(CODES[recipe][0]):g} with {15 if 'pycls' in recipe else ''}" in ran.stdout
    assert "git clone --quiet --filter=blob:none https://github.com/" in calls
    assert EXPECTED[recipe].format(data=tmp_path / "data") in calls


def test_a_schedule_that_ends_at_its_target_ends_by_itself(started):
    ran, calls = started("mosaicml-mild-29ep", "dstack", (), lasts=0)
    assert ran.returncode == 0, ran.stderr
    assert EXPECTED["mosaicml-mild-29ep"] in calls
    assert calls.index("curl") < calls.index("python create_ffcv_datasets.py") < calls.index("composer -n")


def test_a_run_that_ends_as_it_reaches_its_target_has_reached_it(started):
    ran, _ = started("torchvision-resnet50-90ep", "dstack", (0.85,), lasts=0)
    assert (ran.returncode, "costcalc: reached 0.757" in ran.stdout) == (0, True), ran.stderr


def test_a_run_below_its_target_is_stopped_at_the_limit(started):
    ran, _ = started("torchvision-resnet50-90ep", "dstack", (0.1, 0.7), LIMIT_SECONDS="1")
    assert ran.returncode == 124
    assert "stopped after 1 s, before the target" in ran.stderr


def test_a_run_that_fails_says_so(started):
    ran, _ = started("torchvision-resnet50-90ep", "skypilot", (0.1,), lasts="no number")
    assert ran.returncode not in (0, 124)


@pytest.mark.parametrize(
    ("change", "told"), [({"data": False}, "has no folders train and val"), ({"cards": 4}, "fewer than 8 accelerators")]
)
def test_what_is_missing_on_the_machine_stops_it_before_anything_is_fetched(started, change, told):
    ran, calls = started("rsb-a3-resnet50-100ep", "skypilot", (0.8,), **change)
    assert (ran.returncode, calls) == (1, "")
    assert told in ran.stderr


@pytest.mark.parametrize(
    ("recipe", "written"),
    [("torchvision-resnet50-90ep", "checkpoint.pth"), ("rsb-a3-resnet50-100ep", "run/last.pth.tar")],
)
def test_a_run_that_was_taken_back_goes_on_from_its_checkpoint(started, tmp_path, recipe, written):
    kept = tmp_path / "kept" / recipe / written
    kept.parent.mkdir(parents=True)
    (tmp_path / "kept" / recipe / "seconds").write_text("1000000000")
    kept.touch()
    ran, calls = started(recipe, "dstack", (0.1,), CHECKPOINTS=str(tmp_path / "kept"))
    assert f"--resume {kept}" in calls
    assert ran.returncode == 124, "the time before counts: none is left"


def test_the_run_after_one_that_ended_starts_anew(started, tmp_path):
    kept = tmp_path / "kept" / "torchvision-resnet50-90ep"
    ran, _ = started("torchvision-resnet50-90ep", "skypilot", (0.85,), CHECKPOINTS=str(tmp_path / "kept"))
    assert "costcalc: reached 0.757" in ran.stdout
    assert (kept / "ended").exists()
    (kept / "checkpoint.pth").touch()
    _, calls = started("torchvision-resnet50-90ep", "skypilot", (0.85,), CHECKPOINTS=str(tmp_path / "kept"))
    assert f"--output-dir {kept}-2 " in calls
    assert "--resume" not in calls


def test_without_a_checkpoint_it_starts_anew(started, tmp_path):
    _, calls = started("torchvision-resnet50-90ep", "skypilot", (0.85,), CHECKPOINTS=str(tmp_path / "kept"))
    assert f"--output-dir {tmp_path}/kept/torchvision-resnet50-90ep --model resnet50" in calls
    assert "--resume" not in calls


class TestFromLaunchToComparison:
    """The commands in a launch file's comments lead from its start to what was predicted beside what it took."""

    EPOCHS = 88
    LINES = """Epoch: [{n}]  [   0/5005]  eta: 0:06:30  lr: 0.1  img/s: 3400.0  loss: 2.0 (2.0)  time: 0.07  data: 0.01
Epoch: [{n}] Total time: 0:06:30
Test:  Total time: 0:00:30
Test:  Acc@1 {top1:.3f} Acc@5 92.862
"""

    @pytest.fixture
    def commands(self, started, tmp_path, filled_url, monkeypatch):
        """Runs the launch file, writes what the launcher's log would show, and gives each command of its comments."""
        monkeypatch.setenv("COSTCALC_DATABASE_URL", filled_url)
        asked = ("resnet50", "0.757", "--to", "skypilot", "--recipe", "torchvision-resnet50-90ep", "--max-cost", "400")
        machine = ("--provider", "aws", "--instance-type", "p4d.24xlarge")
        text = CliRunner().invoke(main, ["launch", *asked, *machine]).stdout
        values = (76 * (1 - 0.95**n) if n < self.EPOCHS else 75.9 for n in range(1, self.EPOCHS + 1))
        log = "".join(self.LINES.format(n=n, top1=top1) for n, top1 in enumerate(values))
        ran, _ = started.file(text, "references/classification", log, lasts=30)
        assert "costcalc: reached 0.757 with 75.900" in ran.stdout, ran.stderr
        shown = "".join(f"(resnet50-0757, pid=42) {line}\n" for line in ran.stdout.splitlines())
        monkeypatch.chdir(tmp_path)
        (tmp_path / "resnet50-0757.log").write_text(shown)
        return [shlex.split(one) for one in re.findall(r"(?<=costcalc )(?:watch|recipes) [^,\n]+", text)]

    def test_each_is_run_as_it_stands(self, commands):
        watch, add, compare = commands
        watched = CliRunner().invoke(main, [*watch, "--once"])
        assert watched.exit_code == 0, watched.output
        assert "88 of 90 epochs in 10.27 h, top1 0.759: $" in watched.stdout
        added = CliRunner().invoke(main, add)
        assert added.exit_code == 0, added.output
        compared = CliRunner().invoke(main, compare)
        assert compared.exit_code == 0, compared.output
        assert "10.27" in compared.stdout
