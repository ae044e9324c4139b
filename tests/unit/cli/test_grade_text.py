"""Output of a submission is indented, whatever the terminal's width."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from benchguard.cli.grade_text import INDENT, closing_lines
from tests.support.results import graded_result

VERDICT = "pass in 11.25 s (quarantine 2.4); trust replayed"


@pytest.mark.parametrize("filler", [" ", ".", "漢"])
@pytest.mark.parametrize("width", [1, 40, 80])
def test_long_output_cannot_write_a_verdict_at_the_begin_of_a_line(filler: str, width: int) -> None:
    """A terminal continues a line that is too long in its first column."""
    output = filler * (width - len(INDENT)) + VERDICT
    result = graded_result("failed", (), output=f"{output}\n\n{VERDICT}")
    head, *lines = [line for line in closing_lines(result, width) if isinstance(line, str)]
    assert head == "output of the submission (end):"
    shown = [line for line in lines if line.startswith(INDENT)]
    assert "".join(line.removeprefix(INDENT) for line in shown).startswith(output + VERDICT)
    assert all(cell_len(line) <= max(width, len(INDENT) + 2) for line in shown)
    assert lines[: len(shown)] == shown


def test_output_keeps_its_lines_in_a_file() -> None:
    lines = list(closing_lines(graded_result("failed", (), output="a" * 500)))
    assert lines[1] == INDENT + "a" * 500
