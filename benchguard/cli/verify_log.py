"""neutrino-bench verify-log: check the hash chain of an audit log."""

from __future__ import annotations

from pathlib import Path

import click

from ..audit import log as audit_log


@click.command("verify-log")
@click.argument("path", metavar="LOG", type=click.Path(path_type=Path))
@click.option(
    "--head", metavar="SHA256", help="The hash of the last line, as it was printed when the log was made."
)
def verify_log(path: Path, head: str | None) -> int:
    """Check that LOG is as it was written: every line carries the hash of the one before it.

    A log that was rewritten as a whole has a chain that fits again: keep the head that was printed after the run
    somewhere else, and give it with --head. Exits with 1 and names the first line that does not fit.
    """
    verified = audit_log.verify_log(path)
    if head is not None and head.lower() != verified.head:
        raise audit_log.LogError(
            f"{path}: its head is {verified.head}, not {head}; the log was rewritten, or the head is another log's"
        )
    click.echo(f"{path}: {verified.lines} lines, the chain is whole, head {verified.head}")
    return 0
