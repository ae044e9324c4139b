"""Text from other processes, from exceptions and from submissions, made fit for one line of output."""

from __future__ import annotations

import re
import signal
import traceback
from collections.abc import Callable

LINE_MAX = 600
LAST_LINE_MAX = 300

_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)
"""Characters without width that str.isprintable accepts: Default_Ignorable_Code_Point of Unicode's
DerivedCoreProperties.txt, without the format characters, which str.isprintable rejects."""


def is_visible(text: str) -> bool:
    """Whether every character is drawn as itself: no control, format, surrogate or zero-width character."""
    return text.isprintable() and not _INVISIBLE.search(text)


def printable(text: str, keep: str = "") -> str:
    """Escape every character that is not drawn as itself, except those in `keep`.

    The text may come from a submission: it must not move the terminal's cursor, reorder or hide other text, and it
    must be encodable as UTF-8.
    """
    if is_visible(text):
        return text
    return "".join(
        each if is_visible(each) or each in keep else each.encode("unicode_escape").decode() for each in text
    )


def encodable(text: str) -> str:
    """The text with U+FFFD for each half of a surrogate pair, which no encoding can write."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def joined(text: str) -> str:
    """All lines as one escaped line."""
    return printable(" ".join(text.splitlines()))


def one_line(text: str, limit: int = LINE_MAX) -> str:
    """Join all lines, escape control characters, and cut out the middle of a longer text.

    Messages name the action first and the place last, so both ends are kept.
    """
    line = printable(" ".join(text.split()))
    if len(line) <= limit:
        return line
    half = (limit - 3) // 2
    return f"{line[: limit - 3 - half]} … {line[-half:]}"


def place_of(error: BaseException, is_own: Callable[[str], bool]) -> str:
    """FILE:LINE of the innermost frame whose file name satisfies `is_own`; empty without one.

    A syntax error has no frame in the file that it is in: its own file and line are used.
    """
    if isinstance(error, SyntaxError) and error.filename and error.lineno and is_own(error.filename):
        return f"{error.filename}:{error.lineno}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if is_own(frame.filename)]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""


def describe_exit(status: int, last_words: str = "") -> str:
    """How a process ended. `status` is Popen's: negative for a signal."""
    ended = f"exit status {status}" if status >= 0 else f"killed by {_signal_name(-status)}"
    return f"{ended}; last output: {last_words}" if last_words else ended


def last_line(output: str) -> str:
    """The last line that is not blank, escaped and cut."""
    lines = [line for line in map(str.strip, output.splitlines()) if line]
    return printable(lines[-1])[:LAST_LINE_MAX] if lines else ""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
