"""Text from outside reaches a terminal and JSON escaped; honest text is shown unchanged."""

from __future__ import annotations

import ast
import io
import os
import threading
from pathlib import Path

import pytest

from benchguard.cli.options import write_text
from benchguard.cli.output import notify_on, print_document, say
from benchguard.cli.table import Column, console_for, print_lines, table
from benchguard.errors import BenchguardError
from benchguard.ipc.json_text import json_document
from tests.conftest import ROOT

HOSTILE = "\x1b]0;t\x07\r\nneutrino-bench: pass\x9b2K\u202e\u2066\u200b\ufe0f\x7f"
HONEST = "größe_日本<λ> Ünïcode/é e\u0301 ελ"
PRINTING = {"echo", "secho", "print", "write"}
CLI = ROOT / "benchguard" / "cli"


def assert_harmless(text: str) -> None:
    for line in text.split("\n"):
        assert line.isprintable() and "\ufe0f" not in line, ascii(line)


def test_line_with_control_characters_is_one_escaped_line(capsys: pytest.CaptureFixture[str]) -> None:
    say(HOSTILE)
    shown = capsys.readouterr().out
    assert shown == "\\x1b]0;t\\x07 neutrino-bench: pass\\x9b2K\\u202e\\u2066\\u200b\\ufe0f\\x7f\n"
    stream = io.StringIO()
    notify_on(stream, HOSTILE)
    assert_harmless(stream.getvalue())
    assert stream.getvalue().count("\n") == 1


def test_honest_text_printed_unchanged(capsys: pytest.CaptureFixture[str]) -> None:
    say(HONEST)
    print_document("one\n\ttwo é\n")
    assert capsys.readouterr().out == f"{HONEST}\none\n\ttwo é\n"


@pytest.mark.parametrize("terminal", [False, True])
def test_table_cells_title_and_lines_escaped(terminal: bool) -> None:
    stream = io.StringIO()
    console = console_for(stream)
    rows = [[HOSTILE, "1"], [HONEST, "2"]]
    console.print(table(f"[red]{HOSTILE}", (Column("kernel"), Column("n")), rows, 400, terminal))
    print_lines(console, [HOSTILE, HONEST])
    assert_harmless(stream.getvalue())
    assert "[red]" in stream.getvalue() and stream.getvalue().count(HONEST) == 2


def test_json_escapes_keep_the_content() -> None:
    import json

    text = json_document({HOSTILE: [HOSTILE, HONEST]})
    assert_harmless(text)
    assert HONEST in text and json.loads(text) == {HOSTILE: [HOSTILE, HONEST]}


def calls_that_print(path: Path) -> list[str]:
    """Calls in a module of `print`, `click.echo`, and of a stream's `write`, as LINE: TEXT."""
    results = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            if name in PRINTING:
                results.append(f"{node.lineno}: {ast.unparse(node)}")
    return results


def test_commands_print_through_the_escaping_functions_only() -> None:
    """console.print takes a table; streams.py prints its own text when the output is closed; help is click's."""
    allowed = (
        "console.print(table(",
        "file.write(",
        "print(f'neutrino-bench: error: cannot write to standard output",
    )
    by_name = {
        f"{path.name}:{call}"
        for path in sorted(CLI.glob("*.py"))
        if path.name not in ("output.py", "table.py")
        for call in calls_that_print(path)
        if not call.partition(": ")[2].startswith(allowed) and "get_help()" not in call
    }
    assert not by_name


def test_call_that_prints_is_found(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text("import click, sys\nclick.echo(1)\nprint(2)\nsys.stdout.write('3')\nsay(4)\n")
    assert [each.partition(":")[0] for each in calls_that_print(module)] == ["2", "3", "4"]


def test_pipe_without_a_reader_is_an_error_and_no_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BenchguardError, match=r"cannot write .*pipe: No such device or address"):
        write_text(tmp_path / "pipe", "text")


def test_pipe_with_a_reader_gets_the_whole_text(tmp_path: Path) -> None:
    """The text is larger than a pipe."""
    text, read = "0123456789" * 100_000, []
    os.mkfifo(tmp_path / "pipe")
    descriptor = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(descriptor, True)
    thread = threading.Thread(target=write_text, args=[tmp_path / "pipe", text])
    thread.start()
    while len(b"".join(read)) < len(text):
        read.append(os.read(descriptor, 1 << 16))
    thread.join()
    os.close(descriptor)
    assert b"".join(read) == text.encode()
