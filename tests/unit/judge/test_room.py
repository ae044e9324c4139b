"""Input sets are planned by the memory that other graders leave."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchguard.judge import room
from benchguard.judge.room import CrowdedError, Room
from benchguard.judge.troubles import trouble_of
from tests.conftest import ROOT

GIB = 1 << 30
OTHER = """
import sys
from pathlib import Path
from benchguard.ipc.claims import Claims
claims = Claims(Path(sys.argv[1]))
with claims.planning():
    claims.claim(6 << 30)
print(flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Room:
    monkeypatch.setattr(room, "machine_memory", lambda: (32 * GIB, 12 * GIB))
    monkeypatch.setattr(room, "WAIT_SECONDS", 0.0)
    joined = Room()
    joined.join(str(tmp_path))
    return joined


@pytest.fixture
def other(own: Room, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A grader that has claimed 6 GiB."""
    del own
    process = subprocess.Popen(
        [sys.executable, "-c", OTHER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    assert process.stdout is not None
    process.stdout.readline()
    yield process
    process.kill()
    process.communicate()


def test_memory_that_others_claimed_or_need_is_not_available(
    own: Room, other: subprocess.Popen[bytes]
) -> None:
    assert own.available() == 4 * GIB and own.unplanned() == 0
    other.kill()
    other.wait()
    assert own.available() == 12 * GIB


@pytest.mark.usefixtures("other")
def test_plan_that_others_leave_no_room_for_is_not_the_problems_fault(own: Room) -> None:
    text = r"need 5\.0 GiB, and 1 other graders left 4\.0 GiB; grade fewer"
    with pytest.raises(CrowdedError, match=text) as found, own.planning(5 * GIB):
        pass
    trouble = trouble_of(found.value, "case a")
    assert trouble.crowded and not trouble.usage
    with own.planning(4 * GIB):
        own.claim(4 * GIB)


def test_plan_waits_for_the_memory_of_others(
    own: Room, other: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(_: float) -> None:
        other.kill()
        other.wait()

    monkeypatch.setattr(room, "WAIT_SECONDS", 60.0)
    monkeypatch.setattr("time.sleep", end)
    with own.planning(5 * GIB):
        assert own.available() == 12 * GIB


def test_case_too_large_for_the_machine_does_not_wait(own: Room) -> None:
    with own.planning(17 * GIB):
        pass


def test_claim_shrinks_with_each_set_down_to_the_reserved_memory(own: Room, tmp_path: Path) -> None:
    def seen() -> int:
        """The claim as another process sees it."""
        code = "import sys; from pathlib import Path; from benchguard.ipc.claims import Claims; "
        code += "print(Claims(Path(sys.argv[1])).of_others())"
        found = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, capture_output=True, check=True
        )
        return int(found.stdout)

    with own.planning(0):
        own.reserve(GIB)
        own.claim(6 * GIB, 3)
    assert seen() == 6 * GIB
    own.filled()
    assert seen() == 4 * GIB
    for _ in range(3):
        own.filled()
    assert seen() == GIB
    own.reserve(0)
    assert seen() == 0
