"""neutrino-bench report: a page of an audit log."""

from __future__ import annotations

from pathlib import Path

import click

from .options import OutputPath, write_text
from .output import notify


@click.command(
    epilog="\b\nExamples:\n"
    "  neutrino-bench report run.audit.jsonl --html run.html\n"
    "\nA log that is cut short or altered is shown up to that place, and the exit status is 1."
)
@click.argument("path", metavar="LOG", type=click.Path(path_type=Path))
@click.option(
    "--html",
    type=OutputPath(),
    metavar="FILE",
    help="Write one HTML page that needs no network.",
)
def report(path: Path, html: Path | None) -> int:
    """Show the audit log LOG as a page: timeline, memory, kernels, calls, images and losses.

    Needs the extra `report`: pip install 'neutrino-bench[report]'.
    """
    from .. import exit_status
    from ..errors import UsageError
    from ..report.log_page import log_page
    from ..report.log_report import read_log_report
    from ..report.page import render

    if html is None:
        raise UsageError("the report has no output; give --html FILE")
    facts = read_log_report(path)
    write_text(html, render(log_page(facts)))
    if facts.problem:
        notify(f"error: {facts.problem}; {html} shows the lines before")
    return exit_status.WRONG if facts.problem else exit_status.PASS
