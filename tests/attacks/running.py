"""Run a submission by the naive grader and by ours, and say whether an attack succeeded."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchguard.grade.outcome import RESTORED
from benchguard.toolchain.paths import NATIVE
from tests.attacks.catalogue import CONTROLS, HERE, HONEST, KIT, PROBLEMS, Attack

ROOT = HERE.parents[1]
FALSE_SHARE = 0.8
"""A pass with less than this share of the control's time has a false time."""

FAST_SHARE = 0.5
ATTEMPTS = 3
"""Number of consecutive false times that count as a false time: other work on the machine disturbs a single one."""

GRACE_SECONDS = 30
"""For a grade to say that its time is over."""

WAIT_SECONDS = 120
"""For the turns on the GPU of attacks that are graded at once."""

POISON = "neutrino_poison.pth"
LEFT_RUNNING = b"neutrino-left-running"
OF_THE_HOST = Path("/tmp/neutrino-of-the-host")

PYTHONPATH = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))


@dataclass(frozen=True)
class Naive:
    """`text` is what it said where it gave no result."""

    passed: bool
    time_us: float
    text: str = ""


@dataclass(frozen=True)
class Graded:
    """`time_us` is the median, `least_us` the least time; None without any. `whole` is the result document."""

    verdict: str
    reason: str
    time_us: float | None
    least_us: float | None
    status: int
    wall_s: float
    whole: dict[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Machine:
    """`driver` as --driver has it, `seconds` the most that one grade may take."""

    driver: str
    seconds: float = 90.0

    @property
    def is_sim(self) -> bool:
        return self.driver == "sim"

    def case(self, attack: Attack | None = None) -> str:
        if attack is None:
            return "small" if self.is_sim else "large"
        return attack.small if self.is_sim else attack.large

    def options(self, own: Sequence[str]) -> tuple[str, ...]:
        """Options that keep a grade with `own` options short.

        The CPU driver has no caches, and would take seconds to flush a GPU's. Inline timing always flushes.
        """
        if self.is_sim:
            cold = () if "--inline" in own else ("--cold", "none")
            return ("--samples", "14", *cold, "--timeout", f"{self.seconds:g}")
        return ("--samples", "100", "--timeout", f"{self.seconds:g}")

    def lacks(self, where: str) -> str:
        """The missing requirement of an attack, or ""."""
        if where == "both" or (where == "sim" and self.is_sim):
            return ""
        if self.is_sim or where == "sim":
            return "on a GPU only" if self.is_sim else "on the CPU driver only"
        return "torch is not here" if where == "torch" and find_spec("torch") is None else ""

    @property
    def environment(self) -> dict[str, str]:
        """For programs that open the driver by themselves."""
        values = {name: value for name, value in os.environ.items() if not name.startswith("NEUTRINO_")}
        values["PYTHONPATH"] = PYTHONPATH
        if self.is_sim:
            values["LD_LIBRARY_PATH"] = os.pathsep.join(
                [str(NATIVE / "sim"), *filter(None, [values.get("LD_LIBRARY_PATH")])]
            )
        return values


@contextmanager
def placed(path: Path) -> Iterator[Path]:
    """The folder of a submission: it and its kit, under names that the graders look for."""
    with tempfile.TemporaryDirectory(prefix="attack-") as name:
        folder = Path(name)
        for each in (
            "kit.py",
            "forge.py",
            "kernels.ptx",
            "largest.cuh",
            "means.cuh",
            "product_near.cuh",
            "few_values.cuh",
            "remember_in_heap.cuh",
        ):
            shutil.copy(KIT / each, folder)
        shutil.copy(path, folder / f"submission{path.suffix}")
        folder.chmod(0o755)
        yield folder


def naive(
    path: Path,
    problem: str,
    machine: Machine,
    case: str,
    options: Sequence[str] = (),
    grader: Path | None = None,
) -> Naive:
    with placed(path) as folder:
        command = [
            sys.executable, str(grader or HERE / "naive.py"), f"{PROBLEMS}:{problem}",
            str(folder / f"submission{path.suffix}"), "--case", case, *options,
        ]  # fmt: skip
        try:
            outcome = subprocess.run(
                command, env={**machine.environment, "TMPDIR": str(folder)}, cwd=folder, stdin=subprocess.DEVNULL,
                capture_output=True, timeout=machine.seconds, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Naive(False, 0.0, "time-out")
    for line in reversed(outcome.stdout.decode(errors="replace").splitlines()):
        try:
            output = json.loads(line)
            return Naive(bool(output["passed"]), float(output["time_us"]))
        except (ValueError, TypeError, KeyError):
            continue
    lines = outcome.stderr.decode(errors="replace").strip().splitlines()
    return Naive(False, 0.0, lines[-1] if lines else f"exit status {outcome.returncode}")


def grade(path: Path, problem: str, machine: Machine, case: str, options: Sequence[str] = ()) -> Graded:
    """By the command line, as a user does."""
    with placed(path) as folder, tempfile.TemporaryDirectory(prefix="attack-result-") as result:
        document = Path(result) / "result.json"
        command = [
            sys.executable, "-m", "benchguard", "grade", f"{PROBLEMS}:{problem}", str(folder),
            "--driver", machine.driver, "--case", case, *machine.options(options), *options,
            "--wait-for-gpu", str(WAIT_SECONDS), "--json", str(document), "-q",
        ]  # fmt: skip
        limit = machine.seconds + WAIT_SECONDS + GRACE_SECONDS
        began = time.monotonic()
        environment = {**os.environ, "PYTHONPATH": PYTHONPATH}
        try:
            outcome = subprocess.run(
                command, env=environment, capture_output=True, timeout=limit,
                check=False, stdin=subprocess.DEVNULL, cwd=ROOT,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Graded("hang", f"no result after {limit:g} s", None, None, -1, limit, {})
        wall = time.monotonic() - began
        if not document.is_file():
            decoded = outcome.stderr.decode(errors="replace").strip().splitlines()
            return Graded("none", decoded[-1] if decoded else "", None, None, outcome.returncode, wall, {})
        whole = json.loads(document.read_text())
    cases = whole["cases"]
    block = cases[-1]["time_us"] if cases else None
    median, least = (block["median"], block["min"]) if block else (None, None)
    return Graded(whole["verdict"], whole["reason"], median, least, outcome.returncode, wall, whole)


@cache
def control_naive(problem: str, machine: Machine, case: str) -> float:
    """Its least time of a few, since cheats have to be far below it."""
    items = [naive(HONEST / CONTROLS[problem], problem, machine, case) for _ in range(2)]
    assert all(each.passed for each in items), items
    return min(each.time_us for each in items)


@cache
def control(problem: str, machine: Machine, case: str, file: str = "") -> Graded:
    """Its grade, which has to be a pass. `file`: another honest submission than the problem's control."""
    outcome = grade(HONEST / (file or CONTROLS[problem]), problem, machine, case)
    assert outcome.verdict == "pass", outcome
    return outcome


def naive_of(attack: Attack, machine: Machine) -> tuple[Naive, str]:
    """The naive grader's result, and why the attack fails against it, or ""."""
    case = machine.case(attack)
    if attack.naive == "none":
        return Naive(False, 0.0), ""
    for _ in range(ATTEMPTS):
        outcome, failure = _tried(attack, machine, case)
        if not failure:
            break
    return outcome, failure


def _tried(attack: Attack, machine: Machine, case: str) -> tuple[Naive, str]:
    if attack.naive == "next":
        return _next(attack, machine, case)
    outcome = naive(attack.path, attack.problem, machine, case, attack.naive_options)
    if not outcome.passed:
        return outcome, f"the naive grader does not pass it: {outcome.text}"
    if attack.naive == "fast":
        true = control_naive(attack.problem, machine, case)
        if outcome.time_us >= FAST_SHARE * true:
            return (
                outcome,
                f"the naive grader takes {outcome.time_us:.0f} us for it, {true:.0f} for the control",
            )
    return outcome, ""


def _next(attack: Attack, machine: Machine, case: str) -> tuple[Naive, str]:
    """In a copy of the grader that the attack may alter."""
    with tempfile.TemporaryDirectory(prefix="attack-grader-") as name:
        grader = Path(shutil.copy(HERE / "naive.py", name))
        naive(attack.path, attack.problem, machine, case, grader=grader)
        after = naive(HONEST / "wrong.py", attack.problem, machine, case, grader=grader)
    return after, "" if after.passed else "the wrong control does not pass after it"


def hole_in(attack: Attack, machine: Machine, *, timed: bool = True) -> tuple[Graded, float | None, str]:
    """Our verdict on an attack, its time as a share of the control's, and why the verdict is wrong, or "".

    Without `timed` a pass needs no true time, so that the answer does not depend on what else the machine does.
    """
    before = _processes_left()
    with _host(attack) as altered:
        for attempt in range(ATTEMPTS):
            outcome, share, hole = _graded(attack, machine, timed=timed, fresh=attempt > 0)
            if not (hole and outcome.verdict == "pass" and attack.true_time):
                break
        if altered():
            hole = hole or "a file of the host was altered"
    left = _processes_left() - before
    if attack.check == "no processes" and left:
        hole = hole or f"processes are left: {sorted(left)}"
    if attack.check == "unrestored" and outcome.verdict == "pass" and _is_restored(outcome):
        hole = hole or "its memory counts as restored"
    if attack.check == "no files" and (files := _poisoned()):
        hole = hole or f"files were left: {files}"
    return outcome, share, hole


@contextmanager
def _host(attack: Attack) -> Iterator[Callable[[], bool]]:
    """A file of this user for the attack that alters it, and whether it was altered."""
    if attack.check != "host":
        yield lambda: False
        return
    OF_THE_HOST.touch()

    def facts() -> tuple[int, int]:
        return OF_THE_HOST.stat().st_mtime_ns, OF_THE_HOST.stat().st_mode

    began = facts()
    try:
        yield lambda: facts() != began
    finally:
        OF_THE_HOST.unlink(missing_ok=True)


def _graded(
    attack: Attack, machine: Machine, *, timed: bool, fresh: bool
) -> tuple[Graded, float | None, str]:
    case = machine.case(attack)
    outcome = grade(attack.path, attack.problem, machine, case, attack.options)
    if outcome.verdict in attack.verdicts:
        return outcome, None, ""
    if outcome.verdict != "pass":
        return outcome, None, f"{outcome.verdict} is not one of its verdicts: {outcome.reason}"
    if not attack.true_time:
        return outcome, None, "it passes"
    if not timed:
        return outcome, None, ""
    measured = control.__wrapped__ if fresh else control
    true = measured(attack.problem, machine, case, attack.control)
    share = share_of(outcome, true)
    return outcome, share, f"it passes with {share:.0%} of the control's time" if share < FALSE_SHARE else ""


def _is_restored(found: Graded) -> bool:
    states = {each["check"]: each["state"] for each in found.whole["cases"][-1]["evidence"]}
    return bool(states[RESTORED] == "held")


def share_of(found: Graded, true: Graded) -> float:
    """By the medians or the least times, what is more: on a machine with other work both vary."""
    assert true.time_us and found.time_us and true.least_us and found.least_us, (found, true)
    return max(found.time_us / true.time_us, found.least_us / true.least_us)


def _processes_left() -> set[int]:
    items = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if LEFT_RUNNING in path.read_bytes():
                items.add(int(path.parent.name))
        except OSError:
            continue
    return items


def _poisoned() -> list[str]:
    """Those that the attack left, which are taken away."""
    places = {
        *map(Path, sys.path),
        ROOT,
        ROOT / "benchguard",
        HERE,
        Path.home(),
        Path("/tmp"),
        Path("/var/tmp"),
    }
    items = [place / POISON for place in {*places, Path("/dev/shm")} if (place / POISON).is_file()]
    for each in items:
        each.unlink()
    return [str(each) for each in items]


__all__ = [
    "Graded",
    "Machine",
    "Naive",
    "control",
    "control_naive",
    "grade",
    "hole_in",
    "naive",
    "naive_of",
    "share_of",
]
