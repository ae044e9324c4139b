"""The hash chain of an audit log: the last field of each line is the SHA-256 of the line before (docs/formats.md)."""

from __future__ import annotations

from .. import exit_status
from ..errors import BenchguardError

FIRST = "0" * 64
LINE_MAX = 1 << 22

CONTINUATION_ALONE = "the file continues another one; give the log's first file, without a number"

CONTINUED = b'{"kind":"continued"'
"""The beginning of the last line of a file that is continued in another one."""
CONTINUATION = b'{"kind":"part"'
"""The beginning of the first line of a file that continues another one."""
_PREVIOUS = b',"previous":"%s"}\n'
PREVIOUS_BYTES = len(_PREVIOUS % FIRST.encode())


class LogError(BenchguardError):
    """The log was altered or cut short, or is not an audit log."""

    status = exit_status.WRONG


def chained(line: bytes, previous: bytes) -> bytes:
    """The line of a log. `line` is one JSON object without its `previous`, the hash of the line before."""
    return line[:-1] + _PREVIOUS % previous


def unchained(line: bytes) -> bytes:
    """The object that `chained` was given."""
    return line[:-PREVIOUS_BYTES] + b"}"


def previous_of(line: bytes) -> str:
    """The hash of the line before, which a line has."""
    return line[-3 - len(FIRST) : -3].decode()


def ends_file(line: bytes) -> bool:
    """Whether no line of a file may follow."""
    return line.startswith((b'{"kind":"end"', CONTINUED))
