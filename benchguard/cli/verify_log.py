"""neutrino-bench verify-log: check the hash chain of an audit log."""

from __future__ import annotations

from pathlib import Path

import click

from .output import say


@click.command("verify-log")
@click.argument("path", metavar="LOG", type=click.Path(path_type=Path))
@click.option("--head", metavar="SHA256", help="Hash of the last line, as printed when the log was written.")
def verify_log(path: Path, head: str | None) -> int:
    """Check the hash chain of LOG: every line contains the hash of the previous line.

    Exits with 1 and names the first altered line. If all lines were rewritten, the chain is valid again: store the head
    that is printed after a run elsewhere, and pass it with --head.
    """
    from ..audit import log as audit_log

    verified = audit_log.verify_log(path)
    if head is not None and head.lower() != verified.head:
        raise audit_log.LogError(
            f"{path}: the head is {verified.head}, not {head}; the log was rewritten, or the head is of another log"
        )
    say(f"{path}: {verified.lines} lines, chain valid, head {verified.head}")
    return 0
