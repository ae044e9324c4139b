"""neutrino-bench batch on the CPU driver: killed half way, started again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.conftest import ROOT
from tests.support.mixed import KINDS, OPTIONS, PROBLEM, mixed

ORDER = ("honest", "wrong", "broken", "crashes", "launched", "cheats", "hangs")


def words(folder: Path) -> list[str]:
    return [
        *(sys.executable, "-m", "benchguard", "batch", "--problem", f"add={PROBLEM}", "--driver", "sim"),
        *("--samples", str(OPTIONS["samples"]), "--timeout", "25", "--forbid-library", "cublas*"),
        *("--results", str(folder / "r.jsonl"), str(folder / "s.jsonl")),
    ]


def lines_of(path: Path) -> list[dict[str, object]]:
    """The whole lines."""
    text = path.read_bytes() if path.exists() else b""
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith(b"\n")]


def test_killed_batch_goes_on_and_grades_nothing_twice(tmp_path: Path, native: Path) -> None:
    assert (native / "sim").is_dir()
    rows = [
        {"id": name, "problem": "add", "source": each.source, "language": each.language}
        for name, each in mixed(len(ORDER)).items()
    ]
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    results = tmp_path / "r.jsonl"
    temporary = tmp_path / "temporary"
    temporary.mkdir(mode=0o1777)
    batch = subprocess.Popen(
        words(tmp_path),
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        until = time.monotonic() + 200
        while len(lines_of(results)) < 3 and time.monotonic() < until and batch.poll() is None:
            time.sleep(0.05)
    finally:
        os.kill(batch.pid, signal.SIGKILL)
        batch.wait()
    first = results.read_bytes()
    until = time.monotonic() + 60
    while any(temporary.iterdir()) and time.monotonic() < until:
        time.sleep(0.05)
    assert [*temporary.iterdir()] == []
    assert 3 <= len(lines_of(results)) < len(rows)
    with results.open("ab") as file:
        file.write(b'{"schema":"neutrino-ben')  # the next line, torn
    again = subprocess.run(
        words(tmp_path), cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert again.returncode == 0, again.stderr
    assert "removed a torn line of 23 bytes" in again.stderr
    assert results.read_bytes().startswith(first)
    found = lines_of(results)
    assert sorted(str(each["id"]) for each in found) == sorted(str(row["id"]) for row in rows)
    assert {str(each["id"]).partition("-")[0]: each["verdict"] for each in found} == {
        kind: verdict for kind, (verdict, _) in KINDS.items()
    }
    third = subprocess.run(words(tmp_path), cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert third.returncode == 0 and "7 had a result before" in third.stdout
    assert len(lines_of(results)) == len(rows)
