"""neutrino-bench grade: a verdict on a submission."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal, cast, get_args

import click

from .. import __version__
from ..compat.popcorn import write_popcorn
from ..grade.grade import grade as grade_submission
from ..grade.options import TIMEOUT_SECONDS, GradeOptions
from ..quarantine.contract import Convention
from ..replay.protocol import Cold
from .grade_progress import progress_on
from .grade_text import render
from .options import cuda_driver_option, flush_cache_option, pairs, size_of, write_text


@click.command(
    epilog="\b\nExit status: 0 pass; 1 wrong; 2 usage; 3 violation; 4 cannot be replayed; 5 did not converge;\n"
    "124 time-out; 70 anything else."
)
@click.argument("problem", metavar="PROBLEM")
@click.argument("submission", metavar="SUBMISSION", type=click.Path(path_type=Path))
@click.option(
    "--adapter",
    type=click.Choice(["auto", "problem", "gpumode", "kernelbench", "pygpubench"]),
    default="auto",
    show_default=True,
    help="Whose problem it is; auto tells by what is there.",
)
@click.option(
    "--adapter-option", "adapter_options", multiple=True, metavar="NAME=VALUE", help="What it wants to know."
)
@click.option(
    "--language",
    type=click.Choice(["python", "cuda", "ptx"]),
    help="Of the submission.  [default: by its suffix: .py, .cu, .ptx]",
)
@click.option("--entry", metavar="NAME", help="What is called.  [default: the problem's, mostly solution]")
@click.option(
    "--convention",
    type=click.Choice(get_args(Convention)),
    help="How it is called; see docs/grading.md.  [default: the problem's]",
)
@click.option(
    "--warm-up",
    type=click.IntRange(1, 1000),
    default=2,
    show_default=True,
    metavar="N",
    help="Calls of each case before two are recorded.",
)
@click.option(
    "--case", "cases", multiple=True, metavar="NAME", help="Grade this test case only; may be repeated."
)
@click.option(
    "--cold",
    type=click.Choice(get_args(Cold)),
    default="flush",
    show_default=True,
    help="How the caches are made cold before each sample; see `neutrino-bench replay --help`.",
)
@flush_cache_option
@click.option("--samples", type=int, metavar="N", help="Take N samples of each case, whatever they say.")
@click.option(
    "--until",
    metavar="ci=W|cv=W",
    help="When there are enough samples; see `neutrino-bench replay --help`.  [default: ci=0.0025]",
)
@click.option(
    "--sets",
    type=click.IntRange(2, 1024),
    default=8,
    show_default=True,
    metavar="K",
    help="Secret input sets a case.",
)
@click.option(
    "--one-use",
    type=click.IntRange(0, 256),
    default=12,
    show_default=True,
    metavar="N",
    help="Sets beside them that serve one sample each: who remembers answers is slower on those.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=1),
    default=TIMEOUT_SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="For all of it; exit with 124 after so long.",
)
@click.option(
    "--memory",
    metavar="SIZE",
    help="For the submission's processes, as 16G.  [default: half of this machine's]",
)
@click.option("--network", is_flag=True, help="Let the submission use the network.")
@click.option(
    "--require-sandbox",
    type=click.Choice(["full"]),
    help="Refuse to run the submission where a part of the quarantine is missing.",
)
@click.option(
    "--forbid-library",
    multiple=True,
    metavar="PATTERN",
    help="No kernel that is timed may have such a name, or come from such a file (libcublas*); may be repeated.",
)
@click.option(
    "--inline",
    is_flag=True,
    help="Time in the submission's own process, if it cannot be replayed: less trust.",
)
@click.option(
    "--reference-device",
    type=click.Choice(["auto", "cpu", "cuda"]),
    default="auto",
    show_default=True,
    help="Where the problem's references are computed.",
)
@click.option(
    "--keep",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Keep the captures and the audit log there.",
)
@click.option(
    "--json",
    "json_path",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="PATH",
    help="Write the result there as JSON; - is standard output.",
)
@click.option(
    "--popcorn",
    is_flag=True,
    help="Write GPU MODE's `key: value` lines to the descriptor POPCORN_FD too, and exit as its evals do: 0, 110-114.",
)
@cuda_driver_option
@click.option("--device", type=click.IntRange(min=0), default=0, show_default=True, metavar="N")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")
def grade(
    problem: str,
    submission: Path,
    adapter: str,
    adapter_options: tuple[str, ...],
    language: str | None,
    entry: str | None,
    convention: str | None,
    warm_up: int,
    cases: tuple[str, ...],
    cold: str,
    flush_cache: bool,
    samples: int | None,
    until: str | None,
    sets: int,
    one_use: int,
    timeout: float,
    memory: str | None,
    network: bool,
    require_sandbox: str | None,
    forbid_library: tuple[str, ...],
    inline: bool,
    reference_device: str,
    keep: Path | None,
    json_path: Path | None,
    popcorn: bool,
    driver: str,
    device: int,
    quiet: bool,
) -> int:
    """Grade SUBMISSION (a .py, .cu or .ptx file, or a folder) as an answer to PROBLEM (PATH or PATH:NAME).

    It is recorded in a confined process, replayed where none of its host code runs, on inputs that it never saw, and
    every output that is timed is compared with the problem's reference.
    """
    options = GradeOptions(
        adapter=adapter,
        adapter_options=pairs("--adapter-option", adapter_options),
        language=cast(Literal["python", "cuda", "ptx"] | None, language),
        entry=entry,
        convention=convention,
        warm_up=warm_up,
        cases=cases,
        driver=driver,
        device=device,
        cold=cast(Cold, cold),
        flush_cache=flush_cache,
        samples=samples,
        until=until,
        timeout=timeout,
        memory_bytes=size_of("--memory", memory) if memory is not None else 0,
        sets=sets,
        one_use=one_use,
        network=network,
        require_sandbox=require_sandbox is not None,
        forbid_library=forbid_library,
        inline=inline,
        reference_device=cast(Literal["auto", "cpu", "cuda"], reference_device),
        keep=keep,
    )
    with progress_on(sys.stderr, quiet) as progress:
        result = grade_submission(problem, submission, options, version=__version__, progress=progress)
    json_to_stdout = json_path is not None and str(json_path) == "-"
    if not quiet:
        render(result, sys.stderr if json_to_stdout else sys.stdout)
    if json_to_stdout:
        click.echo(result.to_json())
    elif json_path is not None:
        write_text(json_path, result.to_json() + "\n")
    if result.verdict != "pass":
        click.echo(f"neutrino-bench: {result.verdict}: {result.reason}", err=True)
    return write_popcorn(result) if popcorn else result.status
