"""neutrino-bench export: write results in the formats of other suites."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import click

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
    """Write RESULTs of `grade --json` in the format of another suite.

    Cases whose verdict the format lacks are left out, and counted.
    """
    from ..errors import UsageError
    from ..grade.result import read_result
    from ..ipc.json_text import UNREADABLE, json_line
    from ..ipc.text import one_line
    from ..report.flashinfer_trace import traces_of
    from .options import write_text

    lines: list[str] = []
    total = 0
    for path in results:
        try:
            result = read_result(path)
            moment = datetime.fromtimestamp(path.stat().st_mtime, timezone.utc)
        except OSError as error:
            raise UsageError(f"the result {path} cannot be read: {error.strerror}; check the path") from error
        except UNREADABLE as error:
            raise UsageError(
                f"{path} is not a result of `grade --json`: {one_line(str(error), 200)}"
            ) from error
        name = Path(result.submission.path).name or "submission"
        lines += [json_line(each).decode() for each in traces_of(result, name, moment.isoformat())]
        total += len(result.cases)
    write_text(target, "".join(f"{line}\n" for line in lines))
    if not quiet:
        say(
            f"{target}: {len(lines)} traces; {total - len(lines)} cases have a verdict without a form in a Trace"
        )
    return 0
