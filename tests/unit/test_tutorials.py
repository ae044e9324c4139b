"""Every block of a tutorial is run by tests/integration/test_docs_commands.py, or says why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.shown_commands import Command, NotRun, Saved, lines_missing_from, steps_of

TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))


@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda path: path.stem)
def test_tutorial_blocks_are_run_saved_or_marked(tutorial: Path) -> None:
    steps = list(steps_of(tutorial.read_text()))
    assert any(isinstance(step, Command) for step in steps)
    assert all(len(step.reason) > 10 for step in steps if isinstance(step, NotRun))


def test_steps_are_read_in_order() -> None:
    page = (
        "<!-- file: a.py -->\n```python\nx = 1\n```\n\n```console\n$ run \\\n  a\nfirst\n…\n$ stop\n```\n"
        "<!-- not run: needs a GPU -->\n```console\n$ other\n```\n"
    )
    assert list(steps_of(page)) == [
        Saved("a.py", "x = 1\n"),
        Command("run   a", ("first", "…")),
        Command("stop", ()),
        NotRun("needs a GPU", "$ other\n"),
    ]


@pytest.mark.parametrize(
    "page",
    [
        "```\n$ run\n```\n",
        "```sh\nrun\n```\n",
        "```console\nrun\n```\n",
        "<!-- checked: x -->\n```console\n$ run\n```\n",
        "text ```console\n$ run\n```\n",
        "```console\n$ run\n",
    ],
)
def test_block_that_no_test_would_run_is_refused(page: str) -> None:
    with pytest.raises(ValueError, match="block"):
        list(steps_of(page))


def test_line_that_is_not_printed_is_found() -> None:
    printed = [
        "kernel | launches",
        "-------+---------",
        "saxpy  |       12",
        "done in 0.1 s",
        "exit status 3",
    ]
    assert list(lines_missing_from(["kernel | launches", "…", "saxpy |  3"], printed)) == []
    assert list(lines_missing_from(["saxpy | 3", "kernel | launches"], printed)) == ["kernel | launches"]
    assert list(lines_missing_from(["daxpy | 3"], printed)) == ["daxpy | 3"]
    assert list(lines_missing_from(["exit status 1"], printed)) == ["exit status 1"]
    assert list(lines_missing_from(["saxpy …", "… in 0.2 s"], printed)) == []
    assert list(lines_missing_from(["… in 0.2 h"], printed)) == ["… in 0.2 h"]
    assert list(lines_missing_from(["done in 99 us"], printed)) == []


def test_decimals_as_many_as_those_of_a_hash_are_a_number() -> None:
    assert list(lines_missing_from(["y is 1.5, not 0"], ["y is -0.000277099603, not 0"])) == []
    assert list(lines_missing_from(["image 000277099603"], ["image 6183800e1b52"])) == []
