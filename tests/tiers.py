"""Which tests run when: quick on every change, full in CI, nightly the slowest.

A folder has a tier; a test that is marked quick, full or nightly has that one instead. `python build.py test` runs the
quick tests, with --all the quick and the full ones, with --nightly the nightly ones.
"""

from __future__ import annotations

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
    "unit/hook/test_arena.py": "full",
    "unit/hook/test_ring.py": "full",
    "unit/inline/test_compare.py": "full",
    "unit/inline/test_kernels.py": "full",
    "unit/ptx/test_lanes.py": "full",
    "unit/replay/test_engine_hip.py": "full",
    "unit/replay/test_kernels_hip.py": "full",
    "unit/shim/test_build.py": "full",
}
"""Tiers of folders and files below tests/; the others are quick."""

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


@pytest.hookimpl(tryfirst=True)  # before pytest deselects by -m, and before xdist groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        place = item.path.relative_to(HERE)
        folder = place.parts[0]
        named = {marker.name for marker in item.iter_markers()} & set(TIERS)
        if len(named) > 1:
            raise pytest.UsageError(
                f"{item.nodeid} is marked {' and '.join(sorted(named))}; keep one of them"
            )
        if not named:
            item.add_marker(PLACES.get(str(place), PLACES.get(folder, "quick")))
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(_group(item, folder)))


def _group(item: pytest.Item, folder: str) -> str:
    """Tests of a group run one after the other, in one process."""
    if item.get_closest_marker("whole_machine"):
        return "whole machine"
    if folder in ("attacks", "integration"):  # long ones, spread one by one
        return item.nodeid
    return str(item.path)  # they share what their module prepares
