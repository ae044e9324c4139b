"""neutrino-bench findings: examine the timing windows of an observed program."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from .findings_text import failed, render
from .options import (
    OutputPath,
    check_distinct,
    fail_on_option,
    is_stdout,
    json_option,
    quiet_option,
    write_json,
    write_text,
)


@click.command("findings")
@click.argument("path", metavar="LOG", type=click.Path(path_type=Path))
@fail_on_option
@json_option
@click.option(
    "--sarif", "sarif_path", type=OutputPath(), metavar="PATH", help="Write the findings as SARIF 2.1.0."
)
@quiet_option
def findings(
    path: Path, fail_on: tuple[str, ...], json_path: Path | None, sarif_path: Path | None, quiet: bool
) -> int:
    """Examine the timing windows of LOG: did the events surround the work?

    A timing window is the work between two events whose elapsed time the program asked for. docs/findings.md explains
    each finding. Exits with 3 if there is a finding that --fail-on names.
    """
    from ..findings import Analysis
    from ..findings.sarif import sarif_document
    from .reading import lines_of

    check_distinct(json_path, path)
    check_distinct(sarif_path, path, json_path)
    analysis = Analysis()
    for _ in analysis.through(lines_of(path)):
        pass
    report = analysis.report()
    if sarif_path is not None:
        write_text(sarif_path, sarif_document(report, path) + "\n")
    write_json(json_path, report.to_json())
    if not quiet and not is_stdout(json_path):
        render(report, report.findings, path, sys.stdout)
    return failed(report, fail_on, sys.stderr)
