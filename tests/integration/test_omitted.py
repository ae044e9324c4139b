"""Calls that the user does not choose: the shim writes no record of them, counts them, and records failed ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from benchguard import read_log
from benchguard.audit.calls import UNLOADS
from benchguard.audit.choice import CallChoice
from benchguard.audit.log import LogWriter
from benchguard.audit.session import Session
from benchguard.audit.supervise import supervise
from benchguard.shim.interposer import Interposer, interposer_for
from tests.integration.support import Observe

pytestmark = pytest.mark.quick
Program = Callable[[str], Path]


@pytest.fixture(scope="module")
def interposer(native: Path) -> Interposer:  # noqa: ARG001 - built
    return interposer_for("sim")[0]


def calls_of(lines: list[dict[str, object]]) -> Counter[object]:
    return Counter(line["call"] for line in lines if line["kind"] == "call")


def test_shim_itself_omits_calls(interposer: Interposer, program: Program, tmp_path: Path) -> None:
    """The supervisor would write a line for each record here, so that a missing line had no record."""
    logs = []
    for name, choice in (("all", CallChoice()), ("some", CallChoice(("cuMemAlloc*",)))):
        log = LogWriter(tmp_path / name)
        session = Session(omitted=choice.omitted(interposer.surface.exports))
        run = supervise([str(program("mistakes"))], interposer, log, version="0", session=session)
        assert run.status == 0 and run.complete
        logs.append(list(read_log(log.path)))
    every, some = logs
    failed = calls_of([line for line in every if line.get("result")])
    allocations = Counter({name: n for name, n in calls_of(every).items() if "cuMemAlloc" in str(name)})
    assert failed and sum(failed.values()) < sum(calls_of(every).values()) / 2
    assert calls_of(some) == failed | allocations
    omitted = sum(calls_of(every).values()) - sum(calls_of(some).values())
    assert (every[-1]["calls_left_out"], some[-1]["calls_left_out"]) == (0, omitted)
    assert [line["kind"] for line in some].count("launch") == [line["kind"] for line in every].count("launch")


def test_calls_of_all_threads_and_processes_are_counted(observe: Observe, program: Program) -> None:
    for command in ([program("threads"), "8", "3"], [program("forks"), "before"]):
        every = observe(command)
        some = observe(command, "--calls", "cuInit")
        assert (every.status, some.status) == (0, 0)
        (all_calls,), (calls,) = every.of_kind("end"), some.of_kind("end")
        assert calls["calls"] + calls["calls_left_out"] == all_calls["calls"] > calls["calls"]
        assert some.launches == every.launches == some.driver_launches


def test_images_of_omitted_unloads_are_forgotten(interposer: Interposer) -> None:
    """The supervisor frees an image's memory by the record of its unload."""
    exports = interposer.surface.exports
    omitted = CallChoice(("cuInit",)).omitted(exports)
    assert len(omitted) == len(exports)
    names = {export.name for export in exports}
    kept = {export.name for export, is_omitted in zip(exports, omitted, strict=True) if not is_omitted}
    assert kept == {"cuInit", *UNLOADS} & names
    assert CallChoice().omitted(exports) == b""


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("cudaMalloc", "--calls cudaMalloc: the driver has no such call"),
        ("cuCtxGetFlags", "--calls cuCtxGetFlags: cuCtxGetFlags is passed through and never logged"),
        ("", "the driver has no such call"),
    ],
)
def test_pattern_without_effect_is_refused(observe: Observe, pattern: str, said: str) -> None:
    observed = observe(["true"], "--calls", "cuMem*", "--calls", pattern)
    assert observed.status == 2 and said in observed.stderr


@pytest.mark.parametrize(("at", "size"), [(1 << 62, 16), (4096, 1 << 20), ((1 << 64) - 8, 16)])
def test_invalid_table_omits_nothing(observe: Observe, program: Program, at: int, size: int) -> None:
    breaker = """
import mmap, os, struct, subprocess, sys
descriptor = int(os.environ["NEUTRINO_RING"].split(":")[0])
with mmap.mmap(descriptor, 4096) as header:
    struct.pack_into("<QQ", header, 128, int(sys.argv[1]), int(sys.argv[2]))
sys.exit(subprocess.run(sys.argv[3:], pass_fds=[descriptor]).returncode)
"""
    observed = observe(["python3", "-c", breaker, str(at), str(size), program("linked")])
    assert observed.status == 0
    assert "the list of omitted calls in the session memory is invalid" in observed.stderr
    (end,) = observed.of_kind("end")
    assert end["calls"] > 1 and end["calls_left_out"] == 0
