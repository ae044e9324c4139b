"""The ring: records of threads arrive in order, and lost records are counted."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
HOOK = HERE.parents[2] / "hook"
SOURCES = [path for path in sorted((HOOK / "core").rglob("*.c")) if path.name != "filter.c"]


SHORT_WAIT = "-DNB_WAIT_NANOSECONDS=20000000u"


def build(folder: Path, sanitizer: str | None, *options: str) -> Path:
    program = folder / "ring_stress"
    flags = ["-std=gnu11", "-D_GNU_SOURCE", "-g", "-O2", f"-I{HOOK}", *options]
    if sanitizer is not None:
        flags += [f"-fsanitize={sanitizer}", "-fno-sanitize-recover"]
    sources = [str(HERE / "programs" / "ring_stress.c"), *map(str, SOURCES)]
    subprocess.run(["cc", *flags, *sources, "-pthread", "-ldl", "-o", str(program)], check=True)
    return program


def run(program: Path, *arguments: int) -> dict[str, int]:
    command = [str(program), *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return {name: int(value) for name, value in re.findall(r"(\w+) (\d+)", result.stdout)}


@pytest.mark.parametrize("sanitizer", [None, "address,undefined", "thread"])
def test_every_call_arrives_or_is_counted(tmp_path: Path, sanitizer: str | None) -> None:
    """Eight threads, twice, on rings far smaller than their output, with a fork in between."""
    counts = run(build(tmp_path, sanitizer, SHORT_WAIT), 8, 5000, 200)
    assert counts["disordered"] == counts["corrupt"] == 0
    assert counts["child"] == 1
    lost = counts["made"] - counts["arrived"] + counts["asked"] - counts["queries"]
    assert 0 <= lost <= counts["dropped"], "calls vanished without being counted"


def test_fast_supervisor_loses_no_record(tmp_path: Path) -> None:
    """A burst that fits the ring and is read at once arrives completely."""
    counts = run(build(tmp_path, None), 4, 500, 0)
    assert counts["arrived"] == counts["made"] == 9 * 500
    assert counts["dropped"] == 0


def test_equal_queries_become_one_record_with_their_number(tmp_path: Path) -> None:
    """Between calls and at the end of a thread, also of one that does not close its ring."""
    counts = run(build(tmp_path, None), 4, 500, 0)
    assert counts["queries"] == counts["asked"] == 9 * (500 // 4 * 6 + 1000)
    # A run of 2 or 3 has one such record, and so has the last of 1000; a clock record in between splits one.
    assert 9 * 251 <= counts["repeated"] <= 9 * 251 + 50


def test_slow_supervisor_loses_no_record(tmp_path: Path) -> None:
    """The supervisor sleeps for 100 ms between its reads, as on a busy machine: the threads wait for it."""
    counts = run(build(tmp_path, None), 2, 2000, 100_000)
    assert counts["arrived"] == counts["made"] == 5 * 2000
    assert counts["dropped"] == 0


def test_stopped_supervisor_costs_one_wait_per_ring(tmp_path: Path) -> None:
    """The supervisor pauses for a second: each thread waits once for a limited time, then drops and counts records."""
    counts = run(build(tmp_path, None, SHORT_WAIT), 2, 20000, 1_000_000)
    assert counts["dropped"] > 0
    lost = counts["made"] - counts["arrived"] + counts["asked"] - counts["queries"]
    assert lost <= counts["dropped"]


def test_session_wait_replaces_the_default(tmp_path: Path) -> None:
    """As in a quarantine: the threads wait for a supervisor that pauses for longer than their default."""
    counts = run(build(tmp_path, None, SHORT_WAIT), 2, 2000, 100_000, 60_000_000)
    assert counts["arrived"] == counts["made"] == 5 * 2000
    assert counts["dropped"] == 0
