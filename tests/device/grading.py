"""Grade a pair in a process of its own, in bounded time."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchguard import exit_status
from benchguard.errors import BenchguardError
from benchguard.grade.result import GradeResult, read_result

from .own_answers import NoReferenceError, submission_of
from .pairs import Pair

ROOT = Path(__file__).resolve().parents[2]
OWN = ("submission: import", "submission: compile", "submission: warm-up")
"""Parts of a grade that count as the submission's own time."""
GRACE_SECONDS = 20.0
"""Time that a grade has after its own limit, before its processes are killed."""
TAIL_CHARACTERS = 600


@dataclass(frozen=True)
class Outcome:
    """`beyond_s`: wall time without the submission's own import, compilation and warm-up."""

    id: str
    form: str
    expected: str
    verdict: str
    reason: str
    good: bool
    wall_s: float = 0.0
    own_s: float = 0.0
    medians_us: dict[str, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    output: str = ""
    gpu: str = ""

    @property
    def beyond_s(self) -> float:
        return self.wall_s - self.own_s

    def row(self) -> dict[str, Any]:
        return {**asdict(self), "beyond_s": round(self.beyond_s, 3)}


def own_seconds(result: GradeResult) -> float:
    return sum(result.seconds.get(name, 0.0) for name in OWN)


def not_run(pair: Pair, reason: str) -> Outcome:
    return Outcome(pair.id, pair.form, pair.expected, "not run", reason, good=False)


def grade_pair(
    pair: Pair,
    folder: Path,
    scratch: Path,
    end: float | None = None,
    *,
    gpu: str = "",
    timeout: float = 120.0,
    wait: float = 600.0,
    driver: str = "auto",
) -> Outcome:
    """Grade a pair. `gpu` is a value of CUDA_VISIBLE_DEVICES, empty to leave it as it is.

    `wait` limits the seconds of its waits for a turn on the GPU, which do not count for `timeout`. The grade is killed
    at `end`, a time of the monotonic clock.
    """
    try:
        submission = submission_of(pair, folder, scratch)
    except (NoReferenceError, OSError) as error:
        return not_run(pair, str(error))
    document = scratch / f"{pair.id}.json"
    scratch.mkdir(parents=True, exist_ok=True)
    within = [] if "timeout" in pair.options else ["--timeout", f"{max(timeout, 1.0):.0f}"]
    command = [
        sys.executable, "-m", "benchguard", "grade", str(folder / pair.problem), str(submission),
        *pair.arguments(), *within, "--wait-for-gpu", f"{wait:.0f}", "--driver", driver, "--json", str(document),
        "--quiet",
    ]  # fmt: skip
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path}
    if gpu:
        environment["CUDA_VISIBLE_DEVICES"] = gpu
    began = time.monotonic()
    seconds = float(pair.options.get("timeout", timeout)) + wait
    limit = seconds if end is None else min(seconds, end - began)
    status, text = run_bounded(command, environment, limit + GRACE_SECONDS)
    return _outcome(pair, gpu, document, status, text, time.monotonic() - began)


def _outcome(pair: Pair, gpu: str, document: Path, status: int, text: str, wall: float) -> Outcome:
    wall = round(wall, 3)
    try:
        result = read_result(document)
    except (OSError, ValueError, BenchguardError):
        ended = status in (exit_status.INTERNAL, exit_status.TIMEOUT, -signal.SIGKILL)
        verdict = "error" if ended else "refused"
        reason = next((line for line in reversed(text.splitlines()) if line.strip()), f"exit status {status}")
        return Outcome(
            pair.id,
            pair.form,
            pair.expected,
            verdict,
            reason,
            good=verdict == pair.expected and pair.why in reason,
            wall_s=wall,
            output=text[-TAIL_CHARACTERS:],
            gpu=gpu,
        )
    passed = result.verdict == "pass"
    return Outcome(
        pair.id,
        pair.form,
        pair.expected,
        result.verdict,
        result.reason,
        good=result.verdict == pair.expected and pair.why in result.reason,
        wall_s=wall,
        own_s=round(own_seconds(result), 3),
        medians_us={each.name: each.time_us.median for each in result.cases if each.time_us is not None},
        seconds={name: round(took, 3) for name, took in result.seconds.items()},
        notes=() if passed else result.notes,
        output="" if passed else result.output[-TAIL_CHARACTERS:],
        gpu=gpu,
    )


def run_bounded(
    command: list[str], environment: dict[str, str], limit: float, folder: Path = ROOT
) -> tuple[int, str]:
    """The exit status, and what the command wrote. After `limit` seconds: SIGTERM, then SIGKILL to its group."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        env=environment, cwd=folder, start_new_session=True, text=True, errors="replace",
    ) as process:  # fmt: skip
        try:
            text, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            process.terminate()
            try:
                text, _ = process.communicate(timeout=5)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                text, _ = process.communicate()
            return -signal.SIGKILL, f"{text}\nkilled after {limit:.0f} s"
        return process.returncode, text
