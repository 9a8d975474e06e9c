"""A program in TypeScript, written against types generated from the document, compiles and is told what HTTP tells."""

import json
import shutil
import subprocess
from hashlib import blake2b
from pathlib import Path

import pytest

from tools.cluster.program import installed

SOURCES = Path(__file__).parent / "typescript"


def run(folder, *command):
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.fixture
def folder(request, tmp_path):
    """The program beside the packages that its lock file names, which are kept from one run of the tests to the next."""
    installed("npm", "npm")
    lock = blake2b((SOURCES / "package-lock.json").read_bytes(), digest_size=8).hexdigest()
    kept = request.config.cache.mkdir(f"typescript-{lock}")
    shutil.copytree(SOURCES, tmp_path, dirs_exist_ok=True)
    if not (kept / "node_modules").exists():
        run(tmp_path, "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
        shutil.rmtree(kept / "moving", ignore_errors=True)
        shutil.move(tmp_path / "node_modules", kept / "moving")  # which may be interrupted
        (kept / "moving").rename(kept / "node_modules")
    (tmp_path / "node_modules").symlink_to(kept / "node_modules")
    return tmp_path


@pytest.mark.timeout(600)
def test_a_typescript_client_compiles_and_asks(live, folder):
    (folder / "openapi.json").write_bytes(live.get("/openapi.json").content)
    run(folder, "node_modules/.bin/openapi-typescript", "openapi.json", "--output", "schema.ts")
    run(folder, "node_modules/.bin/tsc", "--project", ".")
    told = json.loads(run(folder, "node", "built/ask.js", live.url))
    question = "model=resnet50&target=0.757&as_of=2026-07-01&limit=3"
    cheapest = live.get(f"/cost?{question}&purchase=spot,on_demand&frontier=true").json()["estimates"][0]
    assert (told["billed"], told["machine"]) == (cheapest["billed_cost"], cheapest["instance_type"])
    assert told["header"] == live.get(f"/cost.csv?{question}").text.splitlines()[0]
    assert set(told["providers"]) <= {"aws", "gcp"}
    assert told["recipes"] == len(live.get("/models/resnet50").json()["recipes"])
    [good, bad] = told["rows"]
    assert (good[0], bool(good[1]), "nosuch" in bad[0]) == (None, True, True)
    assert (told["status"], told["complaint"]) == (
        400,
        ['must be a fraction above 0 and at most 1 or a percentage, such as 0.757 or 75.7%; got "757"'],
    )
