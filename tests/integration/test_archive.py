"""Bundles of a batch on the CPU driver."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

from benchguard.archive import open_bundle
from benchguard.archive.cut import SHARED_MIN
from benchguard.capture import Capture
from tests.conftest import ROOT
from tests.support.mixed import PROBLEM

KERNEL = ROOT / "examples" / "problems" / "submissions" / "vector_add" / "kernel.ptx"
SECONDS = 200


def neutrino(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchguard", *map(str, words)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False)


def test_batch_with_bundles_stores_shared_parts_once_and_each_capture_whole(
    tmp_path: Path, native: Path
) -> None:
    """The image of both captures is large, as a library's is."""
    assert (native / "sim").is_dir()
    noise = random.Random(0).randbytes(4 * SHARED_MIN).hex()
    source = f"{KERNEL.read_text()}\n// {noise}\n"
    (tmp_path / "a.ptx").write_text(source)
    (tmp_path / "broken.ptx").write_text("no code")
    results = tmp_path / "r.jsonl"
    batch = neutrino(
        "batch", "--problem", PROBLEM, "--driver", "sim", "--samples", 3, "--results", results,
        "--bundles", tmp_path / "archive", tmp_path / "a.ptx", tmp_path / "broken.ptx",
    )  # fmt: skip
    assert batch.returncode == 0, batch.stderr
    lines = {Path(line["id"]).stem: line for line in map(json.loads, results.read_text().splitlines())}
    assert {name: line["verdict"] for name, line in lines.items()} == {"a": "pass", "broken": "failed"}
    folder = tmp_path / "archive" / "bundles"
    assert {path.stem for path in folder.iterdir()} == {line["bundle"] for line in lines.values()}
    bundle = open_bundle(folder / f"{lines['a']['bundle']}.json")
    [case] = bundle.manifest.cases
    one, two = case.captures
    assert {part.sha256 for part in one} & {part.sha256 for part in two}
    for number, parts in enumerate(case.captures):
        bundle.write(parts, tmp_path / f"{number}.ncap")
    with Capture.open(tmp_path / "0.ncap") as first, Capture.open(tmp_path / "1.ncap") as second:
        assert lines["a"]["result"]["cases"][0]["capture"] in {first.name, second.name}
        assert first.check_blobs() and second.check_blobs()
    assert json.loads(bundle.read(bundle.manifest.result)) == lines["a"]["result"]
    assert open_bundle(folder / f"{lines['broken']['bundle']}.json").manifest.cases == ()
