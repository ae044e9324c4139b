"""neutrino-bench export: write results in the formats of other suites."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import click

from ..errors import UsageError
from .options import OutputPath, quiet_option
from .output import say


@click.command(epilog="\b\nExit status: 0 written; 2 usage; 70 internal error.")
@click.argument(
    "results",
    metavar="RESULT...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@click.option(
    "--flashinfer-trace",
    "target",
    type=OutputPath(),
    required=True,
    metavar="FILE",
    help="Write a line of flashinfer-bench's Trace JSONL for each case.",
)
@quiet_option
def export(results: tuple[Path, ...], target: Path, quiet: bool) -> int:
    """Write RESULTs in the format of another suite. A RESULT is a file of `grade --json`, or of `batch --results`.

    Cases whose verdict the format lacks are left out, and counted.
    """
    from ..ipc.json_text import json_line
    from ..report.flashinfer_trace import traces_of
    from ..report.stored_results import stored_results
    from .options import write_text

    lines: list[str] = []
    total = 0
    for path in results:
        moment = datetime.fromtimestamp(path.stat().st_mtime, timezone.utc)
        for name, result in stored_results(path):
            lines += [json_line(each).decode() for each in traces_of(result, name, moment.isoformat())]
            total += len(result.cases)
    if total == 0:
        raise UsageError(
            f"{', '.join(map(str, results))}: no case, so there is nothing to export; give results that have cases"
        )
    write_text(target, "".join(f"{line}\n" for line in lines))
    if not quiet:
        say(
            f"{target}: {len(lines)} traces; {total - len(lines)} cases have a verdict without a form in a Trace"
        )
    return 0
