"""Which tests run when: quick on every change, full in CI, nightly the slowest.

A folder has a tier; a test that is marked quick, full or nightly has that one instead. `python build.py test` runs the
quick tests, with --all the quick and the full ones, with --nightly the nightly ones.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

TIERS = {
    "quick": "runs on every change: needs no torch, numba or HIP",
    "full": "runs in CI: needs the extra test-full, or takes longer",
    "nightly": "runs once a day: proofs against the naive grader, sanitizers",
}
PLACES = {
    "attacks": "full",
    "clients": "full",
    "device": "full",
    "fuzz": "full",
    "integration": "full",
    "sanitize": "nightly",
    "unit/codegen/test_compile.py": "full",
    "unit/capture/test_pack.py": "full",
    "unit/hook/test_arena.py": "full",
    "unit/hook/test_region.py": "full",
    "unit/hook/test_ring.py": "full",
    "unit/inline/test_compare.py": "full",
    "unit/inline/test_kernels.py": "full",
    "unit/probe/test_live_bounds.py": "full",
    "unit/probe/test_memory.py": "full",
    "unit/ptx/test_lanes.py": "full",
    "unit/ptx/test_rounding.py": "full",
    "unit/replay/test_engine_hip.py": "full",
    "unit/replay/test_kernels_hip.py": "full",
    "unit/shim/test_build.py": "full",
    "unit/shim/test_driver.py": "full",
}
"""Tiers of folders and files below tests/; the others are quick."""

WHOLE_MACHINE = (
    "attacks/test_attacks.py::test_attack_gets_one_of_its_verdicts[07_poison]",
    "attacks/test_attacks.py::test_attack_gets_one_of_its_verdicts[29_left_running]",
    "attacks/test_attacks.py::test_attack_gets_one_of_its_verdicts[34_",
    "integration/test_quarantine",
    "integration/test_termination",
)
"""Tests that look at every process, control group or disk of the machine. They never run at the same time."""

WITHOUT_QUICK_TESTS = {"clients", "device", "fuzz", "sanitize"}
HERE = Path(__file__).parent


def pytest_configure(config: pytest.Config) -> None:
    for name, meaning in TIERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")
    config.addinivalue_line(
        "markers", "whole_machine: looks at every process, control group or disk; runs alone"
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Modules of the other tiers may import packages that the extra `test` does not install."""
    if config.option.markexpr != "quick" or collection_path.parent != HERE:
        return None
    return collection_path.name in WITHOUT_QUICK_TESTS or None


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark a test with its tier, before `-m` looks at the marks."""
    place = item.path.relative_to(HERE)
    folder = place.parts[0]
    named = {marker.name for marker in item.iter_markers()} & set(TIERS)
    if len(named) > 1:
        raise pytest.UsageError(f"{item.nodeid} is marked {' and '.join(sorted(named))}; keep one of them")
    if not named:
        item.add_marker(PLACES.get(str(place), PLACES.get(folder, "quick")))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config
) -> None:
    """Name the failed tests to `build.py test`, a line each. Not after a run that ended early, as with -x: a second
    run of its failed tests would say nothing about the tests that it left out."""
    is_complete = exitstatus == pytest.ExitCode.TESTS_FAILED and not config.option.maxfail
    if is_complete and (path := os.environ.get("NEUTRINO_FAILED_TESTS")):
        reports = [each for state in ("failed", "error") for each in terminalreporter.stats.get(state, ())]
        Path(path).write_text("".join(f"{name}\n" for name in dict.fromkeys(each.nodeid for each in reports)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Tests of one group run one after the other, in one process."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return group_of(nodeid)

    return Scheduling(config, log)


def group_of(nodeid: str) -> str:
    path = nodeid.partition("::")[0]
    if any(part in nodeid for part in WHOLE_MACHINE):
        return "whole machine"
    spread = path.startswith(("tests/attacks/", "tests/integration/"))
    return nodeid if spread else path  # tests of the other files share what their module prepares
