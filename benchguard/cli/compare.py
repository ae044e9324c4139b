"""neutrino-bench compare: which of two submissions is faster."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal, TextIO, cast, get_args

import click
from rich.text import Text

from .. import __version__
from ..grade.compare import BLOCKS, SAMPLES, CompareResult
from ..grade.compare import compare as compare_submissions
from ..grade.options import TIMEOUT_SECONDS, GradeOptions
from ..replay.protocol import Cold
from .grade_progress import progress_on
from .options import cuda_driver_option, flush_cache_option, write_text
from .replay_text import us
from .table import Column, console_for, printable, table

STATUS_SLOWER = 6


@click.command(
    epilog="\b\nExit status: 0 compared; 6 slower, with --fail-on slower; 7 unsure, with --fail-on unsure;\n"
    "what `neutrino-bench grade` has if one of the two does not pass."
)
@click.argument("problem", metavar="PROBLEM")
@click.argument("first", metavar="A", type=click.Path(path_type=Path))
@click.argument("second", metavar="B", type=click.Path(path_type=Path))
@click.option(
    "--adapter", default="auto", show_default=True, metavar="NAME", help="As `neutrino-bench grade` has it."
)
@click.option(
    "--case", "cases", multiple=True, metavar="NAME", help="Compare this test case only; may be repeated."
)
@click.option(
    "--blocks",
    type=click.IntRange(min=3),
    default=BLOCKS,
    show_default=True,
    metavar="N",
    help="A B B A so often.",
)
@click.option(
    "--samples",
    type=click.IntRange(min=1),
    default=SAMPLES,
    show_default=True,
    metavar="N",
    help="Of each replay.",
)
@click.option(
    "--cold",
    type=click.Choice(get_args(Cold)),
    default="flush",
    show_default=True,
    help="How the caches are made cold before each sample.",
)
@flush_cache_option
@click.option(
    "--fail-on",
    type=click.Choice(["slower", "unsure"]),
    help="Exit with 6 if B is slower; with unsure, with 7 too if that is not known.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=1),
    default=TIMEOUT_SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="For each of the two grades, and for each replay.",
)
@click.option(
    "--json",
    "json_path",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="PATH",
    help="Write the result there as JSON; - is standard output.",
)
@cuda_driver_option
@click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")
def compare(
    problem: str,
    first: Path,
    second: Path,
    adapter: str,
    cases: tuple[str, ...],
    blocks: int,
    samples: int,
    cold: str,
    flush_cache: bool,
    fail_on: str | None,
    timeout: float,
    json_path: Path | None,
    driver: str,
    quiet: bool,
) -> int:
    """Grade submissions A and B to PROBLEM, then time them in turn: is B FASTER, SLOWER, the SAME, or UNSURE?

    Replays are taken in blocks A B B A, so that drift cancels; each is a process of its own, and all see the same
    secret inputs.
    """
    options = GradeOptions(
        adapter=adapter,
        cases=cases,
        samples=samples,
        cold=cast(Cold, cold),
        flush_cache=flush_cache,
        timeout=timeout,
        driver=driver,
    )
    with progress_on(sys.stderr, quiet) as progress:
        result = compare_submissions(
            problem, first, second, options, version=__version__, blocks=blocks, progress=progress
        )
    json_to_stdout = json_path is not None and str(json_path) == "-"
    if not quiet:
        _render(result, sys.stderr if json_to_stdout else sys.stdout)
    if json_to_stdout:
        click.echo(result.to_json())
    elif json_path is not None:
        write_text(json_path, result.to_json() + "\n")
    if result.call is None:
        click.echo(f"neutrino-bench: {result.reason}", err=True)
        return result.b.status
    return _status(cast(Literal["slower", "unsure"] | None, fail_on), result)


def _status(fail_on: Literal["slower", "unsure"] | None, result: CompareResult) -> int:
    if fail_on is not None and result.call == "SLOWER":
        return STATUS_SLOWER
    return STATUS_SLOWER + 1 if fail_on == "unsure" and result.call == "UNSURE" else 0


_COLUMNS = (
    Column("case", rest=True),
    Column("B is"),
    Column("B / A", right=True),
    Column("95 % interval"),
    Column("A, us", right=True),
    Column("B, us", right=True),
    Column("A/A floor", right=True),
)


def _render(result: CompareResult, output: TextIO) -> None:
    console, terminal = console_for(output), output.isatty()
    rows = [
        [
            printable(case.name),
            case.call,
            f"{case.ratio:.4f}",
            f"{case.ratio95[0]:.4f} to {case.ratio95[1]:.4f}",
            us(case.median_a_us),
            us(case.median_b_us),
            f"{case.floor:.2%}",
        ]
        for case in result.cases
    ]
    if rows:
        title = f"{printable(result.a.submission.path)} (A) and {printable(result.b.submission.path)} (B)"
        console.print(table(title, _COLUMNS, rows, console.width, terminal))
        console.print(Text(f"B is {result.call}; compared in {result.wall_s:.1f} s"), soft_wrap=True)
