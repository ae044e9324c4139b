"""The live probe `bounds` finds planted errors, and accepts memory of every kind, on the CPU driver."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.apis import Api, both_apis
from tests.integration.test_probe import Probe, Probed, probe

__all__ = ["probe"]  # a fixture

MEMORY = (
    "device",
    "pitch",
    "async",
    "managed",
    "host",
    "registered",
    "mapped",
    "variables",
    "graph",
    "while-freed",
)
LAUNCHES = {"cuda": 93, "hip": 55}
NOT_FAULTING = {
    "read": (10, "read of 4 bytes at {at}, 20 bytes behind allocation 1, 1000 bytes"),
    "write": (20, "write of 4 bytes at {at}, 0 bytes behind allocation 5, 1000 bytes"),
    "atomic": (30, "atomic of 4 bytes at {at}, 4 bytes before allocation 6, 1000 bytes"),
    "freed": (10, "read of 4 bytes at {at}, "),
    "freed-async": (10, "read of 4 bytes at {at}, "),
}
FAULTING = {
    "misaligned": (10, "read of 4 bytes at {at}, misaligned"),
    "shared": (40, "write of 4 bytes at {at}, behind the 128 bytes of shared memory"),
    "far": (20, "write of 4 bytes at {at}, "),
}
"""The driver ends these launches with an error: the map survives it."""


def findings(outcome: Probed) -> list[str]:
    return [each for each in outcome.stderr.splitlines() if each.startswith("result/")]


def addresses(outcome: Probed) -> list[str]:
    return [each.split()[1] for each in outcome.stdout.splitlines() if ": 0x" in each]


def check(found: str, address: str, line: int, said: str, outcome: Probed) -> None:
    (ptx,) = outcome.folder.glob("kernel/*/original.ptx")
    lines = ptx.read_text().splitlines()
    below = next(number for number, text in enumerate(lines, 1) if f".loc 1 {line} " in text) + 1
    where = f"reach, PTX line {below} (bounded.cu:{line}): "
    assert found.split(": ", 1)[1].startswith(where + said.format(at=address)), found
    assert found.endswith("; thread (5, 0, 0), block (1, 0, 0)")


@both_apis
def test_planted_errors_are_found_with_thread_and_line(program: Callable[[str], Path], probe: Probe) -> None:
    outcome = probe("bounds", [program("bounded"), *NOT_FAULTING])
    assert outcome.status == 0, outcome.stderr
    found, at = findings(outcome), addresses(outcome)
    assert len(found) == len(at) == len(NOT_FAULTING)
    for text, address, (line, said) in zip(found, at, NOT_FAULTING.values(), strict=True):
        check(text, address, line, said, outcome)
    assert "reach: 5 launches, 7 places, 5 violations" in outcome.stderr


@pytest.mark.parametrize("mode", FAULTING)
def test_error_that_ends_the_context_is_found(
    program: Callable[[str], Path], probe: Probe, mode: str
) -> None:
    outcome = probe("bounds", [program("bounded"), mode])
    assert re.search(rf"^{mode}: 7\d\d$", outcome.stdout, re.MULTILINE), outcome.stdout
    (found,), (address,) = findings(outcome), addresses(outcome)
    line, said = FAULTING[mode]
    check(found, address, line, said, outcome)


@both_apis
def test_memory_of_every_kind_is_within_bounds(
    program: Callable[[str], Path], probe: Probe, api: Api
) -> None:
    """Also memory that another stream's queued free has not reached, variables of the module and of others, and memory
    that a graph allocates again after the program freed it."""
    lacking = ("graph", "while-freed") if api.name == "hip" else ()  # calls that libcuda-over-hip.so lacks
    outcome = probe("bounds", [program("bounded"), *(each for each in MEMORY if each not in lacking)])
    assert outcome.status == 0, outcome.stderr
    assert findings(outcome) == []
    assert outcome.stderr.splitlines()[-1] == f"reach: {LAUNCHES[api.name]} launches, 7 places, no violation"


def test_allocations_beyond_the_table_leave_doubt(program: Callable[[str], Path], probe: Probe) -> None:
    """The access is within its allocation or not: the table has no row for it, and the report says so."""
    outcome = probe("bounds", [program("bounded"), "many"])
    (found,) = findings(outcome)
    assert ": could not tell: reach, PTX line " in found
    assert re.search(r"the table lacks 7,2\d\d of the process's allocations$", found)
