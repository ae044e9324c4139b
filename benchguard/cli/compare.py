"""neutrino-bench compare: find out which of two submissions, captures or commands is faster."""

from __future__ import annotations

import dataclasses
import shlex
import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .. import exit_status
from ..errors import UsageError
from ..grade.options import (
    BLOCKS,
    BLOCKS_MIN,
    COMPARE_SAMPLES,
    SIM_BLOCKS,
    SIM_SAMPLES,
    GradeOptions,
)
from ..record.options import RecordOptions
from ..replay.options import TIMEOUT_SECONDS, ReplayOptions
from .inputs import input_option, inputs_of
from .options import (
    Flag,
    OutputFolder,
    check_output,
    driver_option,
    given_options,
    is_stdout,
    json_option,
    options_of,
    quiet_option,
    write_json,
)
from .output import notify
from .recorded import capture_folder, check_replay, record_into
from .selection import SELECTION, selection_of_each, selections
from .timing import timing_options
from .trailing import TrailingCommand, trailing_words

if TYPE_CHECKING:
    from ..grade.captures_result import CaptureComparison
    from ..grade.compare import CompareResult

VERSUS = "--vs"
_OF_PROBLEMS = dict.fromkeys(("adapter", "adapter_options", "cases"), "a problem")
_OF_CAPTURES = dict.fromkeys(
    ("rotating_count", "verify", "strict", "inputs"), "captures and commands, and no problem"
)
_OF_COMMANDS = dict.fromkeys(SELECTION, "commands that are recorded")
_OF_WORK = {"keep": "a problem, or commands that are recorded"}


_SOURCES = frozenset({".py", ".cu", ".hip", ".ptx"})
"""Files of problems and submissions."""


@click.command(
    cls=TrailingCommand,
    forms=(
        "[OPTIONS] PROBLEM A B",
        "[OPTIONS] A.ncap B.ncap",
        f"[OPTIONS] -- COMMAND_A {VERSUS} COMMAND_B",
        "[OPTIONS] A.ncap -- COMMAND_B",
    ),
    epilog="\b\nExit status: 0 compared; 6 slower, with --fail-on slower; 7 unsure, with --fail-on unsure; that of\n"
    "`neutrino-bench grade` or `replay` if A or B does not pass; 65 if a command fails.",
)
@click.argument("paths", nargs=-1, type=click.Path())
@options_of(
    GradeOptions,
    {
        "adapter": "Problem format (auto: detect).",
        "adapter_options": Flag(
            "Set an option of the problem format; may be repeated.", "NAME=VALUE", name="adapter-option"
        ),
        "cases": Flag(
            "Compare only this test case; may be repeated.  [default: all; the smallest on the CPU driver]",
            "NAME",
            name="case",
        ),
    },
)
@selection_of_each
@click.option(
    "--keep",
    type=OutputFolder(),
    metavar="FOLDER",
    help="Keep the captures and the audit logs in this folder.",
)
@click.option(
    "--blocks",
    type=click.IntRange(min=BLOCKS_MIN),
    default=None,
    metavar="N",
    help=f"Most ABBA blocks; fewer if the result is clear.  [default: {BLOCKS}; {SIM_BLOCKS} on the CPU driver]",
)
@timing_options(ReplayOptions)
@options_of(
    ReplayOptions,
    {
        "samples": Flag(
            f"Samples per replay.  [default: {COMPARE_SAMPLES}; {SIM_SAMPLES} on the CPU driver]", "N"
        ),
        "verify": "First replay each capture once, and compare memory with the captured memory, byte for byte.",
        "strict": "Replay captures that may come from an adversary: in the sandbox of a submission, and check the "
        "outputs of every sample.",
    },
)
@input_option
@options_of(
    GradeOptions,
    {
        "timeout": Flag(
            "Stop a grade, a replay or a command after this time.  [default: a suite's time for a ranked submission, "
            f"or 300; a replay of a capture: {TIMEOUT_SECONDS:.0f}; a command: none]",
            "SECONDS",
        ),
        "wait_for_gpu": Flag(
            "Wait this long for each turn on the GPU while grades or other replays use it. The wait does not count "
            "for --timeout.",
            "SECONDS",
        ),
        "require_sandbox": "Refuse to run a submission or a strict replay in a partial sandbox.",
        "require_evidence": "Exit with 8 if a check of the time of a submission or of a strict replay could not tell.",
    },
)
@click.option(
    "--fail-on",
    type=click.Choice(["slower", "unsure"]),
    help="Exit with 6 if B is slower; with `unsure`, also exit with 7 if the result is UNSURE.",
)
@json_option
@driver_option
@options_of(ReplayOptions, {"device": Flag("Ordinal of the device to time on.", "N")})
@quiet_option
@click.pass_context
def compare(
    context: click.Context,
    /,
    paths: tuple[str, ...],
    blocks: int | None,
    fail_on: str | None,
    json_path: Path | None,
    quiet: bool,
    **values: Any,
) -> int:
    """Time A and B in turn: is B FASTER, SLOWER, the SAME, or UNSURE?

    A and B are submissions to PROBLEM, which are graded first; or captures of `neutrino-bench record`; or commands,
    which are run and captured first. Replays run in blocks A B B A, so that drift cancels, each in a new process.
    Submissions run on the same secret inputs, and every output is judged. Captures run on their own memory, or on
    --input; without --strict, both must be honest.
    """
    words, given = trailing_words(context), given_options(context)
    result: CompareResult | CaptureComparison
    if len(paths) == 3 and words is None:
        check_output(json_path, *paths[1:])
        _refuse(given, {**_OF_CAPTURES, **_OF_COMMANDS})
        result = _compare_submissions(paths, blocks, quiet, values)
    elif len(paths) == 2 and words is None:
        _check_captures(paths)
        _refuse(given, {**_OF_PROBLEMS, **_OF_COMMANDS, **_OF_WORK})
        captures = [[Path(path)] for path in paths]
        result = _compare_captures(captures, paths, blocks, quiet, values)
    elif words is not None and len(paths) < 2:
        _refuse(given, _OF_PROBLEMS)
        result = _compare_commands(paths, words, blocks, quiet, is_stdout(json_path), given, values)
    else:
        raise UsageError(
            f"compare takes PROBLEM A B, two captures, or commands after `--`; {len(paths)} paths are given"
        )
    from ..grade.compare import CompareResult
    from .compare_text import render, render_captures

    if not quiet:
        output = sys.stderr if is_stdout(json_path) else sys.stdout
        render(result, output) if isinstance(result, CompareResult) else render_captures(result, output)
    write_json(json_path, result.to_json())
    if result.call is None:
        notify(result.reason)
        return result.status
    if fail_on is not None and result.call == "SLOWER":
        return exit_status.SLOWER
    return exit_status.UNSURE if fail_on == "unsure" and result.call == "UNSURE" else exit_status.PASS


def _refuse(given: set[str], options: dict[str, str]) -> None:
    """Raises UsageError for a given option that these inputs cannot use."""
    for name, subject in options.items():
        if name in given:
            words = {"adapter_options": "adapter-option", "cases": "case", "inputs": "input"}
            word = words.get(name, name.replace("_", "-"))
            raise UsageError(f"--{word} is for {subject}; leave it out")


def _compare_submissions(
    paths: Sequence[str], blocks: int | None, quiet: bool, values: dict[str, Any]
) -> CompareResult:
    problem, first, second = paths
    options = GradeOptions(**_fields(GradeOptions, values))
    from ..grade.compare import compare as compare_submissions
    from .grade_progress import progress_on

    with progress_on(sys.stderr, quiet) as progress:
        return compare_submissions(problem, first, second, options, blocks=blocks, progress=progress)


def _compare_commands(
    paths: Sequence[str],
    words: Sequence[str],
    blocks: int | None,
    quiet: bool,
    to_stderr: bool,
    given: set[str],
    values: dict[str, Any],
) -> CaptureComparison:
    """Record the commands, and compare their captures; the first of two captures may be there already."""
    from ..capture import Capture

    commands = [list(part) for is_mark, part in groupby(words, VERSUS.__eq__) if not is_mark]
    if len(commands) + len(paths) != 2 or words.count(VERSUS) != len(commands) - 1:
        raise UsageError(
            f"compare takes `-- COMMAND_A {VERSUS} COMMAND_B`, or `A.ncap -- COMMAND_B`; {len(commands)} commands and "
            f"{len(paths)} captures are given"
        )
    check_replay(_replay_options(values))
    for path in paths:
        with Capture.open(path):
            pass
    chosen = selections({name: values[name] for name in SELECTION}, len(commands))
    timeout = values["timeout"] if "timeout" in given else None
    recordings = [RecordOptions(**each, driver=values["driver"], timeout=timeout) for each in chosen]
    names = "ab"[len(paths) :]
    with capture_folder(values["keep"], names, quiet) as folder:
        captures = [[Path(path)] for path in paths]
        for name, command, recording in zip(names, commands, recordings, strict=True):
            captures.append(record_into(folder, name, command, recording, quiet=quiet, to_stderr=to_stderr))
        labels = [*paths, *map(shlex.join, commands)]
        result = _compare_captures(captures, labels, blocks, quiet, values)
        folder.is_spare = result.call is not None
    return result


def _check_captures(paths: Sequence[str]) -> None:
    """Raises UsageError for a problem or a submission: one path of PROBLEM A B is missing."""
    for path in paths:
        suffix = Path(path.partition(":")[0]).suffix
        if suffix in _SOURCES:
            raise UsageError(
                f"{path} is not a capture; to compare submissions, give PROBLEM A B: {len(paths)} paths are given"
            )


def _compare_captures(
    captures: Sequence[Sequence[Path]],
    labels: Sequence[str],
    blocks: int | None,
    quiet: bool,
    values: dict[str, Any],
) -> CaptureComparison:
    options = _replay_options(values)
    from ..grade.compare_captures import compare_captures
    from .grade_progress import progress_on

    a, b = captures
    with progress_on(sys.stderr, quiet) as progress:
        return compare_captures(
            a,
            b,
            options,
            inputs=inputs_of(values["inputs"]),
            blocks=blocks,
            labels=(labels[0], labels[1]),
            progress=progress,
        )


def _replay_options(values: dict[str, Any]) -> ReplayOptions:
    fields = _fields(ReplayOptions, values)
    return ReplayOptions(**{**fields, "timeout": fields["timeout"] or TIMEOUT_SECONDS})


def _fields(kind: type[Any], values: dict[str, Any]) -> dict[str, Any]:
    """The values that are fields of this options dataclass."""
    return {each.name: values[each.name] for each in dataclasses.fields(kind) if each.name in values}
