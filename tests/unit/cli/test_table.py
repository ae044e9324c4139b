"""Tables show every character of every cell, at every width."""

from __future__ import annotations

import io
import re

import pytest

from benchguard.cli.replay_text import _kernel_rows
from benchguard.cli.table import Column, console_for, table
from benchguard.replay.subject import KernelUse

LONG = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int, float*)"
COLUMNS = (Column("kernel", rest=True), Column("launches", right=True), Column("image"))
ROWS = [[LONG, "43043", "abcdef012345"], ["b", "4", "0123456789ab"]]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def printed(output: io.StringIO, width: int | None = None) -> list[str]:
    console = console_for(output)
    if width is not None:
        console.width = width
    console.print(table("kernels", COLUMNS, ROWS, console.width, output.isatty()))
    return output.getvalue().splitlines()


@pytest.mark.parametrize("columns", ["40", "80"])
def test_piped_table_has_one_line_per_row(monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    lines = printed(io.StringIO())
    assert len(lines) == 2 + 1 + len(ROWS)
    assert any(LONG in line and "43043" in line and "abcdef012345" in line for line in lines)


@pytest.mark.parametrize("width", [20, 50, 80, 400])
def test_table_on_terminal_wraps_without_loss(width: int) -> None:
    lines = printed(Terminal(), width)
    text = "\n".join(lines)
    assert "…" not in text
    assert all(word in text for word in ("43043", "abcdef012345", "launches", "0123456789ab"))
    names = "".join(line[: line.rfind("43043")] if "43043" in line else line for line in lines)
    assert LONG.replace(" ", "") in names.replace(" ", "")
    assert width < 50 or all(len(line) <= width for line in lines[1:])


def test_narrow_terminal_breaks_lines_between_facts() -> None:
    columns = (
        Column("kernel"),
        Column("host median", right=True),
        Column("host p99", right=True),
        Column("image"),
    )
    output = Terminal()
    console = console_for(output)
    console.width, console.no_color = 22, True
    console.print(
        table("kernels", columns, [("axpy", "6.81 us", "29.5 us", "d8")], console.width, terminal=True)
    )
    text = re.sub(r"\x1b\[[0-9;]*m", "", output.getvalue())
    lines = [line.rstrip() for line in text.splitlines()]
    assert lines == ["kernels", "axpy", "  host median 6.81 us", "  host p99 29.5 us", "  image d8"]


def test_replay_table_demangles_names() -> None:
    use = KernelUse("_Z5scalePf", "ab" * 32, (8, 1, 1), (128, 1, 1), 12, 0, 3, 1.0)

    class Result:
        kernels = (use,)

    assert _kernel_rows(Result())[0][0] == "scale(float*)"  # type: ignore[arg-type]
