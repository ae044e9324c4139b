"""Raw captures of an honest submission, and of submissions that record more than they should."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from benchguard.audit.drain import Drain
from benchguard.capture import Capture
from benchguard.problem.spec import CaseSpec
from benchguard.quarantine.contract import Batch, Cases, Quarantined
from benchguard.quarantine.probe import features
from benchguard.quarantine.quarantine import quarantine
from benchguard.quarantine.submission import submission_of
from benchguard.replay.replay import replay
from benchguard.shim.interposer import interposer_for
from tests.integration.quarantined import Case, saxpy, saxpy_case
from tests.integration.quarantining import HEAD, confined
from tests.support.case_source import Given

NUMBA = """
from numba import cuda

@cuda.jit
def kernel(x, z, y, n):
    i = cuda.grid(1)
    if i < n:
        y[i] = 2 * x[i] + z[i]

def solution(x, z, y, n):
    kernel[(n + 127) // 128, 128](x, z, y, n)
"""
# As benchguard.region does it, whose word the recorder takes.
REGION = """
import ctypes
shim = ctypes.CDLL(None)
def again(name, z, y):
    cuda = ctypes.CDLL("libcuda.so.1")
    assert shim.neutrino_region_begin(name) == 0
    places = [ctypes.c_uint64(array.__cuda_array_interface__["data"][0]) for array in (y, z)]
    assert cuda.cuMemcpyDtoDAsync_v2(*places, ctypes.c_size_t(64), None) == 0
    assert shim.neutrino_region_end() == 0
calls = 0
def solution(x, z, y, n):
    global calls
    calls += 1
    if calls == 1:
        again(NAME, z, y)
"""


@pytest.fixture
def case(native: Path) -> Case:
    assert (native / "sim").is_dir()
    return saxpy_case()


def call(folder: Path, text: str, case: Case, cases: int = 1) -> tuple[Quarantined, list[tuple[str, int]]]:
    path = folder / "submission.py"
    path.write_text(text)
    interposer, _, _ = interposer_for("sim")
    messages: list[tuple[str, int]] = []
    specs: tuple[CaseSpec, ...] = (case.spec,) * cases
    outcome = quarantine(
        submission_of(path, None, None, "arguments"),
        Given(Cases(specs), Batch(0, (case.layout,) * cases, (0,) * cases), case.bytes),
        interposer=interposer,
        folder=folder,
        timeout=240,
        memory_bytes=4 << 30,
        warm_up=2,  # the submissions count their calls
        progress=lambda phase, number: messages.append((phase, number)),
    )
    return outcome, messages


def test_each_case_has_two_regions(tmp_path: Path, case: Case) -> None:
    pytest.importorskip("numba_cuda", reason="comes with the extra examples")
    outcome, messages = call(tmp_path, NUMBA, case, cases=2)
    assert (outcome.trouble, outcome.broke, outcome.status) == ("", None, 0), outcome
    assert [entry for entry in messages if entry[0] == "record"] == [("record", 0), ("record", 1)]
    assert set(outcome.seconds) >= {"import", "warm-up", "record", "call 0", "call 1"}
    assert outcome.audit.complete and outcome.audit.dropped == 0 and outcome.audit.records > 10
    assert len(outcome.captures) == 2
    fresh = case.sets[2]
    for index, pair in enumerate(outcome.captures):
        for number, path in enumerate(pair):
            with Capture.open(path) as capture:
                assert capture.meta["region"] == f"{index}/{number}"
            arguments = {name: array.tobytes() for name, array in fresh.items()}
            result = replay(path, inputs=arguments, outputs=["y"], driver="sim", samples=2)
            assert result.outputs["y"] == saxpy(fresh), result.reason


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (b"0/0", "3 regions were recorded, 2 were asked for"),
        (b"7/0", "3 regions were recorded"),
        (b"0/0x", "3 regions were recorded"),
    ],
)
def test_submissions_own_region_is_refused(tmp_path: Path, case: Case, name: bytes, why: str) -> None:
    outcome, _ = call(tmp_path, f"NAME = {name!r}\n{REGION}", case)
    assert why in outcome.trouble and outcome.captures == (), outcome


@pytest.mark.parametrize(
    ("name", "why"),
    [(b"0/1", "region 0/1 was recorded in the place of 0/0"), (b"0/0x", "an unrequested region")],
)
def test_replaced_region_is_refused(tmp_path: Path, case: Case, name: bytes, why: str) -> None:
    """It takes the first one's raw capture away, so that the number is right."""
    text = (
        REGION
        + """
    if calls == 3:
        global first
        folder = os.environ["NEUTRINO_CAPTURE"]
        first = min(os.listdir(folder))
    if calls == 4:
        os.unlink(os.environ["NEUTRINO_CAPTURE"] + "/" + sorted(os.listdir(os.environ["NEUTRINO_CAPTURE"]))[1])
"""
    )
    outcome, _ = call(tmp_path, f"import os\nNAME = {name!r}\n{text}", case)
    assert why in outcome.trouble and outcome.captures == (), outcome


def test_failing_submission_reports_its_error(tmp_path: Path, case: Case) -> None:
    outcome, _ = call(tmp_path, "def solution(*_):\n    return 1 / 0", case)
    assert outcome.broke is not None and outcome.broke.phase == "warm-up"
    assert "ZeroDivisionError" in outcome.broke.text
    assert outcome.captures == () and outcome.trouble == "" and not outcome.timed_out


def test_doctor_reports_the_sandbox_features_of_a_quarantine(tmp_path: Path, case: Case) -> None:
    outcome, _ = call(tmp_path, "def solution(*_): pass", case)

    def which(by_name: dict[str, str]) -> list[str]:
        return [name for name, why in by_name.items() if why == "on"]

    assert which(features()) == which(outcome.confinement)


def test_stalled_supervisor_loses_no_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The supervisor stalls for longer than the 2 s that the shim waits outside a quarantine."""
    calls = 40_000  # about 2 MiB of records for a ring of 1 MiB
    take_all, stalls = Drain.take_all, [2.5]

    def stall(self: Drain, beyond_backlog: bool = False) -> bool:
        if self._words[self._session.ring_at(0) // 8] and stalls:  # the first ring has records
            time.sleep(stalls.pop())
        return take_all(self, beyond_backlog)

    monkeypatch.setattr(Drain, "take_all", stall)
    program = f"cuda = ctypes.CDLL('libcuda.so.1')\nfor _ in range({calls}):\n"
    result = confined(tmp_path, HEAD + program + "    cuda.cuStreamSynchronize(None)\n")
    assert not stalls and result.trouble == ""
    assert result.audit.complete and result.audit.dropped == 0 and result.audit.records >= calls
