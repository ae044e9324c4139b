"""Threads, forks, execs and every way to end: the log holds what the driver counted."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.apis import both_apis
from tests.integration.support import PROGRAMS, Observe

SCALE = ("scale", (4, 1, 1), (256, 1, 1))
Program = Callable[[str], Path]


@pytest.mark.quick
@both_apis
@pytest.mark.parametrize(("threads", "launches"), [(4, 5), (64, 3)])
def test_each_thread_has_its_own_ring(
    observe: Observe, program: Program, threads: int, launches: int
) -> None:
    """Each thread has a ring of its own and shows under its own number."""
    observed = observe([program("threads"), str(threads), str(launches)])
    assert observed.status == 0, observed.stderr
    assert observed.launches == observed.driver_launches == {SCALE: threads * launches}
    assert len({line["thread"] for line in observed.of_kind("launch")}) == threads


@both_apis
def test_child_forked_before_driver_use_is_logged(observe: Observe, program: Program) -> None:
    """Parent and child are two processes of one log."""
    observed = observe([program("forks"), "before"])
    assert observed.status == 0, observed.stderr
    assert observed.launches == observed.driver_launches == {SCALE: 5}
    assert len({line["process"] for line in observed.of_kind("launch")}) == 2


@pytest.mark.quick
@both_apis
def test_child_forked_after_driver_use_leaves_the_parents_ring_alone(
    observe: Observe, program: Program
) -> None:
    """The child is refused by the driver and does not write to its parent's ring."""
    observed = observe([program("forks"), "after"])
    assert observed.status == 0, observed.stderr
    assert observed.launches == observed.driver_launches == {SCALE: 4}
    assert len({line["process"] for line in observed.of_kind("launch")}) == 1


@pytest.mark.quick
@both_apis
def test_launches_before_and_after_exec_are_logged(observe: Observe, program: Program) -> None:
    """Launches before exec are kept, and launches of the new program are logged."""
    observed = observe([program("execs"), program("linked")])
    assert observed.status == 0, observed.stderr
    assert observed.launches == observed.driver_launches == {SCALE: 5}


@both_apis
@pytest.mark.parametrize(
    ("how", "status"),
    [
        ("return", 0),
        ("exit", 5),
        ("quick", 6),
        ("abort", 128 + signal.SIGABRT),
        ("kill", 128 + signal.SIGKILL),
    ],
)
def test_launches_are_logged_however_the_process_ends(
    observe: Observe, program: Program, how: str, status: int
) -> None:
    """exit, _exit, abort and SIGKILL: nothing waits for a destructor. The status is the program's."""
    observed = observe([program("ends"), how])
    assert observed.status == status, observed.stderr
    assert observed.launches == observed.driver_launches == {SCALE: 4}


@both_apis
def test_launches_are_logged_after_os_exit(observe: Observe, program: Program) -> None:
    """A Python program that runs launches in a child and leaves by os._exit."""
    code = (
        f"import os, subprocess; subprocess.run([{str(program('linked'))!r}, '2'], check=True); os._exit(7)"
    )
    observed = observe([sys.executable, "-c", code])
    assert observed.status == 7, observed.stderr
    assert observed.launches == observed.driver_launches == {SCALE: 2}


@both_apis
def test_errno_is_unchanged_by_the_shim(observe: Observe, program: Program) -> None:
    observed = observe([program("errno_kept")])
    assert observed.status == 0, observed.stderr


@both_apis
def test_program_that_closes_every_descriptor_is_logged(
    observe: Observe, program: Program, tmp_path: Path
) -> None:
    """The shim holds no descriptor that could become somebody else's file."""
    observed = observe([program("closes_all"), tmp_path / "own-file"])
    assert observed.status == 0, observed.stderr
    assert observed.launches == observed.driver_launches == {SCALE: 3}


@both_apis
def test_process_without_driver_calls_is_not_logged(observe: Observe) -> None:
    """The preloads are inherited by every child; most of them never need a driver."""
    observed = observe([sys.executable, "-c", "print('hello')"])
    assert (observed.status, observed.stdout.splitlines()[0]) == (0, "hello")
    assert not observed.of_kind("process")


@pytest.mark.parametrize(("how", "status"), [((), 0), (("kill",), 128 + signal.SIGKILL)])
def test_polling_program_is_logged_in_few_lines(
    observe: Observe, program: Program, how: tuple[str, ...], status: int
) -> None:
    """Equal queries become lines with their number, also where the process is killed while it asks."""
    observed = observe([program("polls"), "300000", *how])
    assert observed.status == status, observed.stderr
    queries = [line for line in observed.of_kind("call") if line["call"] == "cuEventQuery"]
    assert sum(line.get("repeats", 1) for line in queries) == int(observed.stdout.split()[0])
    assert not observed.of_kind("lost")
    assert {line["result"] for line in queries} == ({600} if how else {0, 600})
    # A line each tenth second of a loop that took the time from the first line to the last.
    ended = queries[-1]["time_ns"] + queries[-1]["duration_ns"]
    assert len(queries) < 10 + (ended - queries[0]["time_ns"]) // 20_000_000


def test_every_program_of_the_folder_is_used() -> None:
    """Every C program of this folder is used by a test."""
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("*.py"))
    names = [path.stem for path in PROGRAMS.glob("*.c")]
    assert not [name for name in names if f'"{name}' not in tests and f"{name}.c" not in tests]
