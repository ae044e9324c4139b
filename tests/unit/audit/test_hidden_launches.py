"""The summary counts launches and failed calls that its bounded tables have no row for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchguard.audit import tally
from benchguard.cli.observe_text import closing_lines
from tests.support.log_lines import Line, call, graph, graph_launch, launch, node, summary_of


def first_line(*lines: Line) -> str:
    return str(closing_lines(replace(summary_of(*lines), processes=1), Path("run.audit.jsonl"))[0])


def test_launches_behind_a_full_table_of_kernels_are_counted() -> None:
    decoys = [launch(f"decoy{number}", None, None) for number in range(tally.ROWS_MAX)]
    hidden = [launch("hidden", None, None)] * 5
    nodes = [node("hidden", None, [1, 1, 1], [1, 1, 1])] * 2
    found = summary_of(*decoys, *hidden, graph(1, nodes), graph_launch(1, kernels=2))
    assert len(found.kernels) == tally.ROWS_MAX and found.limits == [
        "only the first 4,096 kernels are listed"
    ]
    assert (found.launches, found.graph_launches) == (tally.ROWS_MAX + 5, 2)
    assert first_line(*decoys, *hidden).startswith("4101 launches of more than 4096 kernels")


def test_failed_calls_behind_long_names_of_kernels_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally, "CHARACTERS_MAX", 1000)
    found = summary_of(launch("x" * 900, None, None), call("cuMemAlloc" + "_" * 99, result=2))
    assert found.limits == ["some calls are not listed, because their names are too long"]
    assert found.failed_calls == 1


def test_launches_of_few_kernels_are_counted_as_before() -> None:
    """The honest control."""
    assert first_line(*[launch("honest", None, None)] * 3).startswith("3 launches of 1 kernel from")
