"""neutrino-bench replay: time a capture in a clean process."""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from pathlib import Path
from typing import Literal, cast, get_args

import click

from ..errors import BenchguardError, UsageError
from ..replay.buffers import Source
from ..replay.caches import ROTATING_MAX
from ..replay.options import TIMEOUT_SECONDS
from ..replay.protocol import Cold
from ..replay.replay import replay as replay_capture
from ..replay.result import ReplayResult
from .options import DRIVERS, complete_driver, flush_cache_option
from .replay_progress import progress_on
from .replay_text import render


@click.command(
    epilog="\b\nExit status: 0 pass; 1 memory is not as recorded (--verify); 2 usage; 4 cannot be replayed;\n"
    "5 did not converge; 124 time-out; 70 anything else."
)
@click.argument("path", metavar="CAPTURE", type=click.Path(path_type=Path))
@click.option(
    "--cold",
    type=click.Choice(get_args(Cold)),
    help="How the caches are made cold: other memory behind the same addresses; written and read over; copies in "
    "turn; not at all; written over only, which is biased.  [default: flush]",
)
@click.option(
    "--icache",
    type=click.Choice(["warm", "cold"]),
    default="warm",
    show_default=True,
    help="Whether code is in the instruction cache: copies of it are run in turn, or one.",
)
@flush_cache_option
@click.option(
    "--rotating-count",
    type=click.IntRange(1, ROTATING_MAX),
    metavar="N",
    help="--cold rotate, with the state and N - 1 copies of it, of 2 GiB together at most; 1 is no rotation. Without N "
    "as many as it takes for five times the L2 cache.",
)
@click.option("--no-prime", is_flag=True, help="Do not hold the queue until a sample is in it whole.")
@click.option(
    "--verify", is_flag=True, help="Compare memory after one replay with the recorded, byte for byte."
)
@click.option("--samples", type=int, metavar="N", help="Take N samples, whatever they say.")
@click.option(
    "--until",
    metavar="ci=W|cv=W",
    help="When there are enough samples: half the 95 % interval of the median is at most W of it, at two doublings; "
    "or the coefficient of variation is at most W.  [default: ci=0.0025]",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=TIMEOUT_SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="For all of it; exit with 124 after so long.",
)
@click.option(
    "--json",
    "json_path",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="PATH",
    help="Write the result there as JSON; - is standard output.",
)
@click.option(
    "--raw",
    "raw_path",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="PATH",
    help="Write every sample there as CSV.",
)
@click.option(
    "--driver",
    default="auto",
    shell_complete=complete_driver(DRIVERS),
    metavar="auto|sim|hip|hip-sim|PATH",
    show_default=True,
    help="A driver of the vendor that it was recorded with: this machine's (the CPU driver if it has none), the CPU "
    "driver, or a library.",
)
@click.option("--device", type=click.IntRange(min=0), default=0, show_default=True, metavar="N")
@click.option("--seed", type=int, metavar="N", help="Of the order of input sets.  [default: a random one]")
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="NAME=FILE",
    help="Put a file's bytes in a named range, or at an address, before each sample; several for one name are sets "
    "that are drawn from.",
)
@click.option(
    "--output",
    "outputs",
    multiple=True,
    metavar="NAME=FILE",
    help="Write what the last sample left in a named range, or at ADDRESS:BYTES, to a file.",
)
@click.option(
    "--ignore-refusals", is_flag=True, help="Replay what was recorded of a capture that cannot be replayed."
)
@click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")
def replay(
    path: Path,
    cold: str | None,
    icache: Literal["warm", "cold"],
    flush_cache: bool,
    rotating_count: int | None,
    no_prime: bool,
    verify: bool,
    samples: int | None,
    until: str | None,
    timeout: float,
    json_path: Path | None,
    raw_path: Path | None,
    driver: str,
    device: int,
    seed: int | None,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    ignore_refusals: bool,
    quiet: bool,
) -> int:
    """Rebuild CAPTURE's memory and code in a clean process, run its region many times, and say how long it takes.

    No host code of the program that was recorded runs. State is restored before every sample.
    """
    files = _outputs(outputs)
    with progress_on(sys.stderr, quiet) as progress:
        result = replay_capture(
            path,
            inputs=_inputs(inputs),
            outputs=list(files) if files else None,
            cold=cast(Cold | None, cold),
            icache=icache,
            flush_cache=flush_cache,
            rotating_count=rotating_count,
            prime=not no_prime,
            verify=verify,
            samples=samples,
            until=until,
            timeout=timeout,
            driver=driver,
            device=device,
            seed=seed,
            keep_outputs="last" if files else "none",
            ignore_refusals=ignore_refusals,
            progress=progress,
        )
    json_to_stdout = json_path is not None and str(json_path) == "-"
    if not quiet:
        render(result, sys.stderr if json_to_stdout else sys.stdout)
    if json_to_stdout:
        click.echo(result.to_json())
    elif json_path is not None:
        _write(json_path, (result.to_json() + "\n").encode())
    if raw_path is not None:
        _write_samples(raw_path, result)
    for key, file in files.items():
        name = key if isinstance(key, str) else f"{key[0]:#x}"
        if name in result.outputs:
            _write(file, cast(bytes, result.outputs[name]))
    if result.verdict != "pass":
        click.echo(f"neutrino-bench: {result.verdict}: {result.reason}", err=True)
    return result.status


def _inputs(words: tuple[str, ...]) -> dict[str | int, Source]:
    found: defaultdict[str | int, list[bytes]] = defaultdict(list)
    for word in words:
        name, file = _pair("--input", word)
        try:
            found[_key("--input", name)].append(Path(file).read_bytes())
        except OSError as error:
            raise UsageError(f"cannot read the input {file}: {error.strerror}; check the path") from error
    return {key: sets[0] if len(sets) == 1 else sets for key, sets in found.items()}


def _outputs(words: tuple[str, ...]) -> dict[str | tuple[int, int], Path]:
    found: dict[str | tuple[int, int], Path] = {}
    for word in words:
        name, file = _pair("--output", word)
        place, _, size = name.partition(":")
        key = _key("--output", place)
        if isinstance(key, str):
            found[name] = Path(file)
        else:
            found[key, _number("--output", size)] = Path(file)
    return found


def _pair(option: str, word: str) -> tuple[str, str]:
    name, equals, file = word.partition("=")
    if not (name and equals and file):
        raise UsageError(f"{option} {word!r} is no NAME=FILE; give a range's name or an address, and a file")
    return name, file


def _key(option: str, name: str) -> str | int:
    """A name, or an address where it begins like one."""
    return _number(option, name) if name.startswith("0x") else name


def _number(option: str, text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise UsageError(
            f"{option}: {text!r} is no number; give an address as 0x..., and a size in bytes"
        ) from None


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise BenchguardError(f"cannot write {path}: {error.strerror}; give another path") from error


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
        raise BenchguardError(f"cannot write {path}: {error.strerror}; give another path") from error
