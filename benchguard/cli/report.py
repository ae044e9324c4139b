"""neutrino-bench report: an audit log as a page, a trace or tables; a result as a page."""

from __future__ import annotations

from pathlib import Path

import click

from .options import OutputFolder, OutputPath, check_distinct, write_text
from .output import notify, say


@click.command(
    epilog="\b\nExamples:\n"
    "  neutrino-bench report run.audit.jsonl --html run.html\n"
    "  neutrino-bench report result.json --html result.html\n"
    "  neutrino-bench report run.audit.jsonl --perfetto run.trace.json.gz\n"
    "  neutrino-bench report run.audit.jsonl --parquet tables/\n"
    "\nA log that is cut short or altered is shown up to that place, and the exit status is 1."
)
@click.argument("path", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--html", type=OutputPath(), metavar="FILE", help="Write one HTML page that needs no network.")
@click.option(
    "--result",
    "result_path",
    type=click.Path(path_type=Path),
    metavar="JSON",
    help="Log: also show this result of grade or compare on the page.",
)
@click.option(
    "--perfetto",
    type=OutputPath(),
    metavar="FILE",
    help="Write a trace for ui.perfetto.dev; compressed, if the name ends in .gz.",
)
@click.option(
    "--parquet",
    type=OutputFolder(),
    metavar="FOLDER",
    help="Write launches, calls, kernels and images as Parquet to this folder.",
)
@click.option(
    "--csv", "csv_folder", type=OutputFolder(), metavar="FOLDER", help="Write the same tables as CSV."
)
def report(
    path: Path,
    html: Path | None,
    result_path: Path | None,
    perfetto: Path | None,
    parquet: Path | None,
    csv_folder: Path | None,
) -> int:
    """Show FILE, an audit log or a result of grade or compare, as a page; a log also as a trace or as tables.

    --html needs the extra `report`: pip install 'neutrino-bench[report]'. --parquet needs the extra `parquet`.
    """
    from .. import exit_status
    from ..errors import UsageError

    if not (html or perfetto or parquet or csv_folder):
        raise UsageError("the report has no output; give --html, --perfetto, --parquet or --csv")
    if result_path is not None and html is None:
        raise UsageError("--result is shown on a page; give --html, too")
    check_distinct(html, path, result_path)
    check_distinct(perfetto, path, result_path, html)
    if not _is_log(path):
        if perfetto or parquet or csv_folder or result_path:
            raise UsageError(f"{path} is not an audit log; only --html shows a result")
        assert html is not None
        return _write_result_page(path, html)
    problem = ""
    if html is not None:
        problem = _write_page(path, html, result_path)
    if perfetto is not None:
        problem = _write_trace(path, perfetto)
    if parquet is not None or csv_folder is not None:
        problem = _write_tables(path, parquet, csv_folder)
    if problem:
        notify(f"error: {problem}; the report has the lines before")
    return exit_status.WRONG if problem else exit_status.PASS


def _is_log(path: Path) -> bool:
    """Whether a file begins as a log or cannot be read, which the log's reader reports; a result begins otherwise.

    A pipe's bytes can be read once, and are those of a log.
    """
    try:
        if not path.is_file():
            return True
        with path.open("rb") as file:
            head = file.read(64)
    except OSError:
        return True
    return not head.lstrip().startswith(b"{") or b'"kind"' in head


def _write_result_page(path: Path, html: Path) -> int:
    from ..report.page import render
    from ..report.result_page import read_result, result_page
    from .reading import busy

    with busy(f"rendering {html.name}"):
        write_text(html, render(result_page(read_result(path))))
    return 0


def _write_page(path: Path, html: Path, result_path: Path | None) -> str:
    from ..audit.typed_log import end_time
    from ..findings import Analysis
    from ..report.findings_section import findings
    from ..report.log_page import log_page
    from ..report.log_report import read_log_report
    from ..report.page import render
    from ..report.result_page import read_result, result_sections
    from .reading import busy, lines_of

    more = [] if result_path is None else result_sections(read_result(result_path), "result-")
    analysis = Analysis()
    with busy(f"finding the end of {path.name}"):  # a compact log is decompressed for it
        last_ns = end_time(path)
    facts = read_log_report(path, analysis.through(lines_of(path)), last_ns)
    with busy(f"rendering {html.name}"):
        write_text(html, render(log_page(facts, (findings(analysis, facts.problem), *more))))
    return facts.problem


def _write_trace(path: Path, perfetto: Path) -> str:
    from ..report.perfetto import write_trace
    from .reading import lines_of

    trace, problem = write_trace(path, perfetto, lines_of(path))
    say(f"{perfetto}: {trace.events:,} slices. {trace.times}")
    if trace.moved:
        notify(
            f"calls that overlapped the one before on their thread: {trace.moved:,}; they begin later in {perfetto}"
        )
    if trace.misplaced:
        notify(f"{trace.misplaced:,} lines have an impossible time and are not in {perfetto}")
    return problem


def _write_tables(path: Path, parquet: Path | None, csv_folder: Path | None) -> str:
    from ..report.export import CsvWriter, ParquetWriter, export
    from .reading import lines_of

    folders: list[tuple[type[CsvWriter] | type[ParquetWriter], Path]] = []
    folders += [(ParquetWriter, parquet)] if parquet is not None else []
    folders += [(CsvWriter, csv_folder)] if csv_folder is not None else []
    counts, problem = export(path, folders, lines_of(path))
    rows = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    for _, folder in folders:
        say(f"{folder}: {rows}")
    return problem
