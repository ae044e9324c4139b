"""The time for which a thread waited for a processor."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchguard.replay import host_wait
from benchguard.replay.host_wait import SCHEDSTAT, waited_seconds


@pytest.mark.skipif(not SCHEDSTAT.is_file(), reason=f"this kernel has no {SCHEDSTAT}")
def test_waits_beside_a_program_on_the_same_processor_are_counted() -> None:
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    other = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        began = waited_seconds()
        while waited_seconds() - began < 0.05:
            pass
    finally:
        other.kill()
        other.wait()
        os.sched_setaffinity(0, allowed)


def test_kernel_that_counts_no_waits_gives_zero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for text in (None, "", "17", "1 x 3"):
        file = tmp_path / "schedstat"
        if text is not None:
            file.write_text(text)
        monkeypatch.setattr(host_wait, "SCHEDSTAT", file)
        assert waited_seconds() == 0.0
