"""The runner of cuda-samples, on a checkout of its own: programs in C that end as samples do."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

RUNNER = Path(__file__).parent / "cuda_samples.py"
LIST = """cmake_minimum_required(VERSION 3.20)
project({name} LANGUAGES C)
set(CMAKE_CUDA_ARCHITECTURES 75 80)
add_executable({name} main.c)
"""
PROGRAMS = {
    "good": ("return 0;", "right"),
    "lacking": ("return 2;", "waived"),
    "bad": ('puts("Test failed!"); return 1;', "wrong"),
    "endless": ("for (;;) {}", "too slow"),
    "refused": ('fputs("CPU driver: cuFrobnicate is not supported\\n", stderr); return 1;', "refused"),
    "broken": ("return nothing;", "not built"),
}

pytestmark = pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")


def make_checkout(folder: Path) -> Path:
    for name, (body, _) in PROGRAMS.items():
        sample = folder / "Samples" / "0_Introduction" / name
        sample.mkdir(parents=True)
        (sample / "CMakeLists.txt").write_text(LIST.format(name=name))
        (sample / "main.c").write_text(f"#include <stdio.h>\nint main(void)\n{{\n{body}\n}}\n")
    return folder


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, RUNNER, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.timeout(300)
def test_samples_are_sorted_by_outcome(native: Path, tmp_path: Path) -> None:
    assert native.is_dir()
    checkout, scratch, file = make_checkout(tmp_path / "checkout"), tmp_path / "scratch", tmp_path / "r.json"
    result = run(checkout, "--scratch", scratch, "--cpu", "3", "--json", file)
    rows = {row["name"]: row for row in json.loads(file.read_text())}
    assert {name: row["outcome"] for name, row in rows.items()} == {
        name: outcome for name, (_, outcome) in PROGRAMS.items()
    }
    assert result.returncode == 1
    assert result.stdout.splitlines()[-1] == "1 right, 1 waived, 1 too slow, 1 refused, 1 wrong, 1 not built"
    assert rows["bad"]["why"] == "Test failed!"
    assert "nothing" in rows["broken"]["why"]
    assert all(row["log_valid"] for name, row in rows.items() if name not in ("broken", "endless"))
    assert "75 80" in (checkout / "Samples/0_Introduction/good/CMakeLists.txt").read_text()
    assert run(checkout, "--scratch", scratch, "good").returncode == 0


def test_folder_without_samples_is_refused_in_one_line(tmp_path: Path) -> None:
    result = run(tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.splitlines() == [
        f"{tmp_path}: no Samples/*/*/CMakeLists.txt; name a copy of cuda-samples"
    ]
