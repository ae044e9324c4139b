"""Times of the forms of a kernel, from an audit log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchguard.audit.entries import Line
from benchguard.probe import benchmark
from tests.support import logs


@pytest.fixture
def compare(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Compare the launches of a log of these lines."""

    def run(*lines: Line) -> list[benchmark.Comparison]:
        def entries(_: Path) -> Iterator[Line]:
            return iter(lines)

        monkeypatch.setattr(benchmark, "LogEntries", entries)
        return benchmark.compare(Path("audit.jsonl"))

    return run


def timed(number: int, gpu_ns: int, early: bool = False, **fields: Any) -> tuple[Line, Line]:
    return (
        logs.launch(0, number=number, **fields),
        logs.launch_time(1, number=number, gpu_ns=gpu_ns, early=early),
    )


def test_forms_of_a_shape_are_compared_without_early_launches(compare: Any) -> None:
    [found] = compare(
        *timed(1, 10), *timed(2, 30), *timed(3, 900, early=True),
        *timed(4, 800, early=True, form="pruned"), *timed(5, 40, form="probed"),
    )  # fmt: skip
    assert found.original == benchmark.FormTimes(2, 20, 10, early=False)
    assert found.pruned == benchmark.FormTimes(1, 800, 800, early=True)
    assert found.slowdown == 40 / 800
    [line] = benchmark.lines([found])
    assert "pruned 800 ns (1 launch, with the wait for the launch)" in line and "0.05 times" in line


def test_shapes_are_apart_and_kernels_that_never_ran_with_probes_are_left_out(compare: Any) -> None:
    found = compare(
        *timed(1, 10), *timed(2, 20, form="probed"), *timed(3, 50, grid=(9, 1, 1)), *timed(4, 70, name="other"),
    )  # fmt: skip
    assert [(each.grid[0], each.slowdown) for each in found] == [(found[0].grid[0], 2.0), (9, None)]


def test_failed_launch_and_number_after_an_exec_count_once(compare: Any) -> None:
    failed = logs.launch(0, number=1, result=700, form="probed")
    [found] = compare(failed, *timed(1, 10, form="probed"), *timed(1, 30, form="probed"))
    assert found.probed == benchmark.FormTimes(2, 20, 10, early=False)
