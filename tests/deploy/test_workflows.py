"""GitHub's workflows name what there is: the commands of this repository, its Python, and actions by their commits."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WORKFLOWS = {file.stem: file.read_text() for file in (ROOT / ".github" / "workflows").glob("*.yml")}


def steps(name):
    return [step for job in yaml.safe_load(WORKFLOWS[name])["jobs"].values() for step in job.get("steps", ())]


def commands(name):
    return [step["run"] for step in steps(name) if "run" in step]


@pytest.mark.parametrize("name", WORKFLOWS)
def test_actions_of_others_are_named_by_their_commits(name):
    for line in re.findall(r"uses: (?!\./)(.*)", WORKFLOWS[name]):
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), line


@pytest.mark.parametrize("name", WORKFLOWS)
def test_they_run_the_python_of_the_project_and_targets_that_there_are(name):
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    least = PROJECT["requires-python"].removeprefix(">=")
    assert {step["with"]["python-version"] for step in steps(name) if "setup-python" in step.get("uses", "")} <= {least}
    assert set(re.findall(r"make ([a-z]+)", "\n".join(commands(name)))) <= targets


def test_what_is_pushed_is_tested_as_the_project_tests_itself():
    [job] = yaml.safe_load(WORKFLOWS["tests"])["jobs"].values()
    assert ".ci/run" in commands("tests")
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert job["container"] == f"python:{PROJECT['requires-python'].removeprefix('>=')}-bookworm"
    release = yaml.safe_load(WORKFLOWS["release"])["jobs"]
    assert (release["tests"]["uses"], release["build"]["needs"]) == ("./.github/workflows/tests.yml", "tests")


@pytest.mark.parametrize(
    ("tag", "status"), [(f"v{PROJECT['version']}", 0), ("v9.9.9", 1), (PROJECT["version"] + "1", 1)]
)
def test_a_tag_of_another_version_releases_nothing(tag, status):
    [check] = [command for command in commands("release") if command.startswith("grep")]
    ended = subprocess.run(["bash", "-ec", check], cwd=ROOT, env={**os.environ, "GITHUB_REF_NAME": tag}, check=False)
    assert ended.returncode == status


def test_a_release_has_the_image_by_its_digest_what_it_is_made_of_and_who_made_all_of_it():
    jobs = yaml.safe_load(WORKFLOWS["release"])["jobs"]
    *_, packed = jobs["build"]["steps"]
    *_, of_files, of_image, publish = jobs["release"]["steps"]
    assert publish["run"].startswith('gh release create "$GITHUB_REF_NAME"')
    assert publish["run"].split()[-3:] == ["dist/*", "build/sbom.json", "build/image.txt"]
    assert packed["with"]["path"].split() == ["dist", "build/sbom.json", "build/image.tar"]
    assert all("attest-build-provenance" in each["uses"] for each in (of_files, of_image))
    assert of_files["with"]["subject-path"].split() == ["dist/*", "build/sbom.json"]
    assert of_image["with"]["subject-digest"] == "${{ steps.image.outputs.digest }}"


def test_what_runs_the_code_of_others_may_publish_nothing_and_the_other_way_round():
    jobs = yaml.safe_load(WORKFLOWS["release"])["jobs"]
    assert "permissions" not in jobs["build"]
    assert jobs["release"]["needs"] == "build"
    run = " ".join(step.get("run", step.get("uses", "")) for step in jobs["release"]["steps"])
    assert not re.search(r"pip|make|python|checkout|docker (build|run)", run)


DOCKER = """
case "$1 $2" in
    "image inspect") echo "$NAME@sha256:0123" ;;
    *) echo "$*" >> told ;;
esac
"""


def test_the_image_is_pushed_by_the_version_and_named_by_its_digest(tmp_path):
    [push] = [command for command in commands("release") if "docker push" in command]
    (tmp_path / "build").mkdir()
    (tmp_path / "docker").write_text(f"#!/bin/sh\n{DOCKER}")
    (tmp_path / "docker").chmod(0o755)
    output = tmp_path / "output"
    github = {
        "GITHUB_REPOSITORY": "Org/CostCalc",
        "GITHUB_REF_NAME": "v1.2.3",
        "GITHUB_ACTOR": "me",
        "GITHUB_OUTPUT": str(output),
    }
    name = "ghcr.io/org/costcalc"
    environment = {
        **os.environ,
        **github,
        "GH_TOKEN": "secret",
        "NAME": name,
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
    }
    subprocess.run(["bash", "-ec", push], cwd=tmp_path, env=environment, check=True, timeout=60)
    assert f"push {name}:1.2.3" in (told := (tmp_path / "told").read_text())
    assert "secret" not in told
    assert (tmp_path / "build" / "image.txt").read_text() == f"{name}@sha256:0123\n"
    assert output.read_text() == f"name={name}\ndigest=sha256:0123\n"


APT_GET = """
until [ -s told ] || [ $ENSUREPIP = 1 ]; do sleep 0.1; done  # what is beside it comes first
echo "apt-get $1" >> told
[ "$1" != install ] || exit $INSTALLED
"""
STUBS = {
    "apt-get": APT_GET,
    "python3": 'case "$*" in *ensurepip*) exit $ENSUREPIP ;; *uv) exit 1 ;; esac',
    "make": 'echo "make $1" >> told',
}


@pytest.mark.parametrize(
    ("installed", "ensurepip", "order"),
    [
        (0, 0, ["make --jobs", "apt-get update", "apt-get install", "make test"]),
        (0, 1, ["apt-get update", "apt-get install", "make --jobs", "make test"]),
        (1, 0, ["make --jobs", "apt-get update", "apt-get install"]),
    ],
    ids=["beside the environments", "which need it", "failed"],
)
def test_packages_are_installed_before_the_tests_begin(tmp_path, installed, ensurepip, order):
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci")
    for name, script in STUBS.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    for name in ("dirname", "ls", "sh", "sleep"):
        (tmp_path / name).symlink_to(shutil.which(name))
    stubbed = {"PATH": str(tmp_path), "INSTALLED": str(installed), "ENSUREPIP": str(ensurepip)}
    ended = subprocess.run([tmp_path / ".ci" / "run"], env=stubbed, check=False, timeout=240)
    told = (tmp_path / "told").read_text().splitlines()
    assert (ended.returncode, told) == (installed, order)
