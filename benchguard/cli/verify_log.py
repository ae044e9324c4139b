"""neutrino-bench verify-log: check the hash chain of an audit log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..ipc.text import joined
from .output import say

_LOSSES = {
    "dropped": "records dropped",
    "images_dropped": "images not kept",
    "rings_exhausted": "threads without a trace ring",
    "corrupt_rings": "trace rings with invalid records",
}
"""Counts of the end line."""


@click.command("verify-log")
@click.argument("path", metavar="LOG", type=click.Path(path_type=Path))
@click.option("--head", metavar="SHA256", help="Hash of the last line, as printed when the log was written.")
def verify_log(path: Path, head: str | None) -> int:
    """Check the hash chain of LOG: every line contains the hash of the previous line.

    Exits with 1 and names the first altered line. If all lines were rewritten, the chain is valid again: store the head
    that is printed after a run elsewhere, and pass it with --head.
    """
    from ..audit.log import LogError
    from .reading import lines_of

    lines, found = 0, ""
    first: dict[str, Any] = {}
    end: dict[str, Any] = {}
    for line, line_hash in lines_of(path):
        lines, found, first, end = lines + 1, line_hash, first or line, line
    if head is not None and head.lower() != found:
        raise LogError(
            f"{path}: the head is {found}, not {head}; the log was rewritten, or the head is of another log"
        )
    say(f"{path}: {lines} lines, chain valid, head {found}")
    say(f"{path}: {_losses(end)}")
    if choice := _choice(first):
        say(f"{path}: {choice}: {_count(end, 'calls_left_out'):,} successful calls have no line")
    return 0


def _choice(first: dict[str, Any]) -> str:
    """The options of the run that leave out calls, by the log's first line."""
    patterns = first.get("only_calls")
    words = [f"--calls {pattern}" for pattern in patterns] if isinstance(patterns, list) else []
    words += ["--no-lookups"] if first.get("no_lookups") is True else []
    return joined(" ".join(words))


def _count(end: dict[str, Any], name: str) -> int:
    value = end.get(name)
    return value if isinstance(value, int) else 0


def _losses(end: dict[str, Any]) -> str:
    """The parts that the log lacks, by its end line."""
    lost = [f"{text}: {_count(end, name)}" for name, text in _LOSSES.items() if _count(end, name)]
    lost += ["lines beyond the limit of its size"] if end.get("truncated") is True else []
    lost += ["processes that were still running"] if end.get("outlived") else []
    unobserved = end.get("unobserved")
    lost += (
        [f"processes without the shim: {len(unobserved)}"]
        if unobserved and isinstance(unobserved, list)
        else []
    )
    is_complete = end.get("complete") is True
    return ", ".join([("complete" if is_complete else "INCOMPLETE"), *lost])
