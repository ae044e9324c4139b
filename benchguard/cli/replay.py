"""neutrino-bench replay: time a capture in a clean process."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from ..errors import BenchguardError, UsageError
from ..record.options import RecordOptions
from ..replay.options import ReplayOptions
from .inputs import input_option, inputs_of, name_and_file, number_of, range_key
from .options import (
    DRIVERS,
    Flag,
    OutputFolder,
    OutputPath,
    complete_driver,
    given_options,
    is_stdout,
    json_option,
    options_of,
    quiet_option,
    unwritable,
    write_json,
)
from .output import notify
from .recorded import capture_folder, check_replay, only_region, record_into
from .selection import SELECTION
from .timing import timing_options
from .trailing import TrailingCommand, trailing_words

if TYPE_CHECKING:
    from ..replay.result import ReplayResult

NAME = "capture"
"""Name of a command's capture in its folder."""


@click.command(
    cls=TrailingCommand,
    forms=("[OPTIONS] CAPTURE", "[OPTIONS] -- COMMAND..."),
    epilog="\b\nExit status: 0 pass; 1 memory differs from the captured memory (--verify, --strict);\n"
    "2 usage; 3 violation (--strict); 4 cannot be replayed; 5 did not converge; 8 unproven\n"
    "(--require-evidence); 65 a kernel or COMMAND failed; 70 internal error; 124 timeout.",
)
@click.argument("path", metavar="CAPTURE", required=False, type=click.Path(path_type=Path))
@timing_options(ReplayOptions)
@options_of(
    ReplayOptions,
    {
        "prime": "Do not hold the stream until a sample is queued: launch latency may be in the sample.",
        "verify": "Compare memory after one replay with the captured memory, byte for byte.",
        "samples": Flag("Take exactly N samples, even if the median has not converged.", "N"),
        "until": Flag(
            "Stop rule: half the 95 % interval of the median is at most W of the median (ci), or the coefficient of "
            "variation is at most W (cv). Sampling ends after 3200 samples or 30 s in any case; without W, after 0.5 s "
            "too, from the 100th sample on.  [default: ci=0.005]",
            "ci=W|cv=W",
        ),
        "strict": "Take the samples of a grade, for a capture that may come from an adversary: run the process in the "
        "sandbox of a submission, unmap memory that could help a later sample, fill outputs with a pattern, and check "
        "the outputs of every sample. With 10 or more input sets, use 8 to 12 once.",
        "require_sandbox": "Refuse a strict replay in a partial sandbox.",
        "require_evidence": "Exit with 8 if a check of a strict replay could not tell.",
        "warm_samples": Flag(
            "Take N more samples that find all captured memory in the cache, and show their median.", "N"
        ),
        "require_converged": "Exit with 5 if the median is not known as well as --until says.",
        "timeout": Flag(
            "Stop after this time, and exit with 124. COMMAND has no limit unless one is given.", "SECONDS"
        ),
        "wait_for_gpu": Flag(
            "Wait this long while grades or other replays use the GPU. The wait does not count for --timeout.",
            "SECONDS",
        ),
    },
)
@options_of(RecordOptions, SELECTION)
@click.option(
    "--keep",
    type=OutputFolder(),
    metavar="FOLDER",
    help="Keep the capture and the audit log of COMMAND in this folder.",
)
@json_option
@click.option("--raw", "raw_path", type=OutputPath(), metavar="PATH", help="Write every sample as CSV.")
@click.option(
    "--driver",
    default="auto",
    shell_complete=complete_driver(DRIVERS),
    metavar="auto|sim|hip|hip-sim|PATH",
    show_default=True,
    help="Driver to run on, of the vendor of the captured one: this machine's (auto; the CPU driver if it has none), "
    "the CPU driver (sim), or a driver library.",
)
@options_of(
    ReplayOptions,
    {
        "device": Flag("Ordinal of the device.", "N"),
        "seed": Flag("Seed of the order of input sets.  [default: random]", "N"),
    },
)
@input_option
@click.option(
    "--output",
    "outputs",
    multiple=True,
    metavar="NAME=FILE",
    help="Write a named range, or ADDRESS:BYTES, as the last sample left it, to a file.",
)
@options_of(ReplayOptions, {"ignore_refusals": "Replay even a capture that is marked as not replayable."})
@quiet_option
@click.pass_context
def replay(
    context: click.Context,
    /,
    path: Path | None,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    json_path: Path | None,
    raw_path: Path | None,
    launches: str | None,
    kernel: str | None,
    window: int | None,
    keep: Path | None,
    quiet: bool,
    **values: Any,
) -> int:
    """Replay CAPTURE many times in a clean process, and print how long its region takes.

    No host code of the captured program runs. Memory is restored before every sample. With `-- COMMAND`, run COMMAND
    first and capture its region, as `neutrino-bench record` does.
    """
    files = _outputs(outputs)
    options = ReplayOptions(keep_outputs="last" if files else "none", **values)
    sources = inputs_of(inputs)
    if options.seed is not None and not sources:
        raise UsageError("--seed orders the input sets, and no --input gives one; leave it out")
    command, given = trailing_words(context), given_options(context)
    if (path is None) == (command is None) or command == ():
        raise UsageError("replay takes a capture, or a command after `--`")
    if command is None and (unused := sorted(given & {*SELECTION, "keep"})):
        raise UsageError(
            f"--{unused[0]} is for a command that is recorded; give one after `--`, or leave it out"
        )

    def run(capture: Path) -> ReplayResult:
        from ..grade.strict_replay import replay as replay_capture
        from .replay_progress import progress_on

        with progress_on(sys.stderr, quiet) as progress:
            return replay_capture(
                capture, options, inputs=sources, outputs=list(files) if files else None, progress=progress
            )

    if command is None:
        assert path is not None
        result = run(path)
    else:
        recording = RecordOptions(
            launches=launches,
            kernel=kernel,
            window=window,
            driver=options.driver,
            timeout=options.timeout if "timeout" in given else None,
        )
        check_replay(options)
        with capture_folder(keep, [NAME], quiet) as folder:
            captures = record_into(
                folder, NAME, command, recording, quiet=quiet, to_stderr=is_stdout(json_path)
            )
            result = run(only_region(captures))
            folder.is_spare = result.verdict == "pass"
    _report(result, files, json_path, raw_path, quiet)
    return result.status


def _report(
    result: ReplayResult,
    files: dict[str | tuple[int, int], Path],
    json_path: Path | None,
    raw_path: Path | None,
    quiet: bool,
) -> None:
    """Print the result, and write it to the files that the options name."""
    from .replay_text import render

    if not quiet:
        render(result, sys.stderr if is_stdout(json_path) else sys.stdout)
    write_json(json_path, result.to_json())
    if raw_path is not None:
        _write_samples(raw_path, result)
    for key, file in files.items():
        name = key if isinstance(key, str) else f"{key[0]:#x}"
        if name in result.outputs:
            _write(file, cast(bytes, result.outputs[name]))
    if result.verdict != "pass":
        notify(f"{result.verdict}: {result.reason}")


def _outputs(words: tuple[str, ...]) -> dict[str | tuple[int, int], Path]:
    paths: dict[str | tuple[int, int], Path] = {}
    for word in words:
        name, file = name_and_file("--output", word)
        if reason := unwritable(Path(file)):
            raise UsageError(f"--output {word}: {reason}")
        place, _, size = name.partition(":")
        key = range_key("--output", place)
        if isinstance(key, str):
            paths[name] = Path(file)
        else:
            paths[key, number_of("--output", size)] = Path(file)
    return paths


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise BenchguardError(f"cannot write {path}: {error.strerror}; name another file") from error


def _write_samples(path: Path, result: ReplayResult) -> None:
    names = ["n", "ended_ns", "device_us", "host_us", "restore_us", "clock_mhz", "input_set", "unprimed"]
    try:
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([*names, "throttled"])
            for n, row in enumerate(result.table):
                values = [getattr(row, name) for name in names[1:-1]]
                writer.writerow([n, *values, int(row.unprimed), "+".join(row.throttled)])
    except OSError as error:
        raise BenchguardError(f"cannot write {path}: {error.strerror}; name another file") from error
