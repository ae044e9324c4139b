"""neutrino-bench import: read results in the formats of other suites."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from .. import exit_status
from ..errors import UsageError
from .options import FiniteRange, is_stdout, json_option, quiet_option, write_json
from .output import notify


@click.command(
    "import",
    epilog="\b\nExit status: 0 no own grade contradicts a Trace; 1 one does; 2 usage; 70 internal error.",
)
@click.argument(
    "traces",
    metavar="TRACES...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@click.option(
    "--result",
    "results",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Show own grades of this file of `grade --json` or `batch --results` beside the Traces; may be repeated.",
)
@click.option(
    "--solution",
    "solutions",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Find own grades of this Solution (JSON) by the content of its sources; may be repeated.  "
    "[default: by the submission's name]",
)
@click.option(
    "--within",
    type=FiniteRange(min=1),
    metavar="RATIO",
    help="A time that differs by more contradicts a Trace.  [default: times contradict nothing]",
)
@json_option
@quiet_option
def import_(
    traces: tuple[Path, ...],
    results: tuple[Path, ...],
    solutions: tuple[Path, ...],
    within: float | None,
    json_path: Path | None,
    quiet: bool,
) -> int:
    """Show the claims of TRACES, files of flashinfer-bench's Trace JSONL.

    An own grade belongs to a Trace if the problem has the name of its definition, the submission the name of its
    solution, with or without a suffix, or the sources of its Solution, and the test case its workload's id or axes.
    """
    from ..quarantine.submission import hash_of_contents
    from ..report.flashinfer_claims import is_confirmed, read_claims
    from ..report.flashinfer_solutions import read_solutions
    from ..report.stored_results import stored_results
    from .import_text import contradiction, render

    sources = read_solutions(solutions, hash_of_contents)
    found = read_claims(traces, (each for path in results for each in stored_results(path)), sources)
    if not found.claims and not found.workloads:
        raise UsageError(
            f"{', '.join(map(str, traces))}: no Trace; give files of flashinfer-bench's Trace JSONL that have lines"
        )
    if not quiet:
        render(found, sys.stderr if is_stdout(json_path) else sys.stdout)
    write_json(json_path, found.to_json())
    refuted = [each for each in found.claims if not is_confirmed(each, within)]
    for each in refuted:
        notify(f"not confirmed: {each.solution}, an answer to {each.definition}: {contradiction(each)}")
    return exit_status.WRONG if refuted else exit_status.PASS
