"""Text from untrusted processes becomes one printable line; places and exits are named."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from benchguard.ipc.text import describe_exit, last_line, one_line, place_of, printable

HERE = str(Path(__file__))


def raised(error: Exception) -> Exception:
    try:
        raise error
    except Exception as exception:
        return exception


def test_printable_plain_text_unchanged() -> None:
    assert printable("plain λ <T>") == "plain λ <T>"


def test_printable_control_characters_escaped() -> None:
    assert printable("a\x1b]0;t\x07\r\n\u202eb") == "a\\x1b]0;t\\x07\\r\\n\\u202eb"
    assert printable("a\r\n\tb", "\n\t") == "a\\r\n\tb"


def test_printable_surrogate_escaped_to_valid_utf8() -> None:
    assert printable("\ud800").encode() == b"\\ud800"


def test_joining_lines_escapes_control_characters() -> None:
    assert one_line("  a\n\tb \x1b[2J ") == "a b \\x1b[2J"


def test_long_line_keeps_both_ends() -> None:
    result = one_line("begin" + "x" * 1000 + "end", 50)
    assert len(result) == 50 and result.startswith("begin") and result.endswith("end")


def test_place_of_innermost_own_frame() -> None:
    line = raised.__code__.co_firstlineno + 2
    assert place_of(raised(KeyError("k")), lambda file: file == HERE) == f"{HERE}:{line}"


def test_place_of_no_own_frame_empty() -> None:
    assert place_of(raised(KeyError("k")), lambda _: False) == ""


def test_place_of_syntax_error_its_own_line() -> None:
    with pytest.raises(SyntaxError) as excinfo:
        compile("a = 1\nb = (", "/p/x.py", "exec")
    assert place_of(excinfo.value, lambda file: file == "/p/x.py") == "/p/x.py:2"


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (0, "exit status 0"),
        (7, "exit status 7"),
        (-signal.SIGKILL, "killed by SIGKILL"),
        (-77, "killed by signal 77"),
    ],
)
def test_describe_exit_names_status_or_signal(status: int, expected: str) -> None:
    assert describe_exit(status) == expected
    assert describe_exit(status, "bye") == f"{expected}; last output: bye"


def test_last_line_skips_blank_lines_and_escapes() -> None:
    assert last_line("one\n\x1btwo\n\n  \n") == "\\x1btwo"
    assert last_line("\n") == ""
