"""Run fuzzing workers over a range of inputs and collect their findings."""

from __future__ import annotations

import os
import re
import signal
import struct
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

OUTCOMES = 16
"""The number of outcomes in target.h."""

_PROGRESS = struct.Struct(f"<{1 + OUTCOMES}Q")
_FRAME = re.compile(r"#\d+ 0x[0-9a-f]+ in (\S+) (?:\S*/)?((?:sim|benchguard|tests)/\S+)")
_HEADLINE = re.compile(r"(FINDING: .*|runtime error: .*|ERROR: \w+Sanitizer: \S+|hard rss limit.*)")

ENVIRONMENT = {
    # Allocations above 512 MiB fail, to exercise the out-of-memory paths.
    "ASAN_OPTIONS": "allocator_may_return_null=1:max_allocation_size_mb=512:quarantine_size_mb=8:"
    "detect_leaks=0:exitcode=99:hard_rss_limit_mb=3000:handle_abort=1",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:exitcode=99",
    "FUZZ_SILENT": "1",
}


@dataclass(frozen=True)
class Finding:
    number: int
    headline: str
    place: str
    """The innermost frame in our sources, with file and line."""
    report: str
    kind: tuple[str, str]
    """A key that findings with the same cause usually share."""
    file: Path | None
    """The kept input, for the first findings of each kind."""


@dataclass
class Worker:
    begin: int
    end: int
    progress: Path
    report: Path
    process: subprocess.Popen[bytes] | None = None

    def read(self) -> tuple[int, list[int]]:
        """The number of the current input, and the outcomes so far."""
        try:
            number, *outcomes = _PROGRESS.unpack(self.progress.read_bytes()[: _PROGRESS.size])
        except (OSError, struct.error):
            return self.begin, [0] * OUTCOMES
        return number, outcomes


@dataclass
class Campaign:
    program: Path
    corpus: list[Path]
    seed: int
    folder: Path
    seconds: int = 1
    same_kept: int = 3
    findings: list[Finding] = field(default_factory=list)
    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)

    def run(self, first: int, count: int, workers: int, show: Callable[[list[int], int], None]) -> list[int]:
        """Run all inputs from `first` on and count their outcomes."""
        self.folder.mkdir(parents=True, exist_ok=True)
        bounds = [first + count * i // workers for i in range(workers + 1)]
        team = [
            Worker(begin, end, self.folder / f".progress-{i}", self.folder / f".report-{i}")
            for i, (begin, end) in enumerate(pairwise(bounds))
            if begin < end
        ]
        for worker in team:
            worker.progress.unlink(missing_ok=True)
        try:
            for worker in team:
                self._start(worker, worker.begin)
            while sum(self._tend(worker) for worker in team):  # all of them, not only the first
                show(self._outcomes(team), len(self.findings))
                time.sleep(0.2)
            return self._outcomes(team)
        finally:
            for worker in team:
                if worker.process is not None and worker.process.poll() is None:
                    worker.process.kill()
                    worker.process.wait()
                worker.progress.unlink(missing_ok=True)
                worker.report.unlink(missing_ok=True)

    def make_input(self, number: int) -> bytes:
        command = self._command(str(number), "-", "-")
        return subprocess.run(command, capture_output=True, check=True).stdout

    def _command(self, *words: str) -> list[str]:
        return [str(self.program), str(self.seed), *words, *map(str, self.corpus)]

    def _environment(self) -> dict[str, str]:
        return {**os.environ, **ENVIRONMENT, "FUZZ_SECONDS": str(self.seconds)}

    def _start(self, worker: Worker, begin: int) -> None:
        if begin >= worker.end:
            worker.process = None
            return
        command = self._command(str(begin), str(worker.end - begin), str(worker.progress))
        with worker.report.open("wb") as report:
            worker.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=report, stderr=report, env=self._environment()
            )

    def _tend(self, worker: Worker) -> bool:
        """Restart a worker after a finding; returns whether inputs are left."""
        if worker.process is None:
            return False
        status = worker.process.poll()
        if status is None:
            return True
        if status == 0:
            worker.process = None
            return False
        if status == 2 or not worker.progress.exists():
            raise RuntimeError(
                worker.report.read_text(errors="replace").strip() or "the program did not start"
            )
        number, _ = worker.read()
        self._record(number, status, worker.report.read_text(errors="replace"))
        self._start(worker, number + 1)
        return worker.process is not None

    def _record(self, number: int, status: int, report: str) -> None:
        headline = _HEADLINE.search(report)
        what = headline[0] if headline else f"killed by {signal.Signals(-status).name}" if status < 0 else "?"
        frames = _FRAME.findall(report)
        place = next((f"{name} ({at})" for name, at in frames if not at.startswith("tests/")), "?")
        kind = (re.sub(r"0x[0-9a-f]+|\d+", "N", what), place)
        self.kinds[kind] += 1
        file = None
        if self.kinds[kind] <= self.same_kept:
            file = self.folder / f"{self.seed}-{number}"
            file.write_bytes(self.make_input(number))
            file.with_name(file.name + ".report").write_text(report)
        self.findings.append(Finding(number, what, place, report, kind, file))

    @staticmethod
    def _outcomes(team: list[Worker]) -> list[int]:
        return [sum(column) for column in zip(*(worker.read()[1] for worker in team), strict=True)]
