"""A strict replay searches the images of its capture, as a grade's reader does."""

from __future__ import annotations

from pathlib import Path

import pytest

import benchguard
from benchguard.grade.outcome import RESTORED
from tests.unit.grade.test_unrestored import HEAP, KERNEL
from tests.unit.replay.engine_captures import ARENA, one_kernel

pytestmark = pytest.mark.full

HIDDEN = "/* } */ .global .align 4 .u32 kept; /* { */"


def replayed(tmp_path: Path, head: str, body: str, **options: bool) -> benchguard.ReplayResult:
    content = ARENA.to_bytes(8, "little")
    path = one_kernel(tmp_path / "x.ncap", KERNEL.format(head=head, body=body), "keep", content)
    return benchguard.replay(path, driver="sim", cold="none", samples=10, strict=True, **options)


@pytest.mark.parametrize(
    ("head", "body", "state", "verdict"),
    [
        (HEAP, "", "could not tell", "unproven"),
        ("", HIDDEN, "could not tell", "unproven"),
        ("", "", "held", "pass"),
    ],
    ids=["heap", "variable of a function", "control"],
)
def test_memory_that_is_not_restored_is_no_proof(
    tmp_path: Path, head: str, body: str, state: str, verdict: str
) -> None:
    result = replayed(tmp_path, head, body)
    assert result.verdict == verdict
    assert {each.check: each.state for each in result.evidence}[RESTORED] == state


@pytest.mark.parametrize(("ignore", "verdict"), [(False, "unreplayable"), (True, "pass")])
def test_code_that_launches_graphs_does_not_run(tmp_path: Path, ignore: bool, verdict: str) -> None:
    result = replayed(tmp_path, "// cudaGraphLaunch", "", ignore_refusals=ignore)
    assert result.verdict == verdict
    assert ("launches graphs from the device" in result.reason) == (not ignore)
