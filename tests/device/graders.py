"""Run five graders under the shim, unchanged, on honest submissions and attacks: python tests/device/graders.py FOLDER

FOLDER/manifest.toml says where the graders lie (tests/device/README.md); nothing is downloaded. Prints the findings of
each attack by each grader, and what the shim adds to the graders' times. Exits with 1 if an honest submission has a
finding above info, an attack does not have its finding, or the shim certainly adds more than 1 %.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run as a script, not as a module of tests/

from benchguard.errors import BenchguardError
from benchguard.findings import analyse_log
from benchguard.replay.statistics import median_interval, median_rank
from tests.device.compare import no_gpu

ROOT = Path(__file__).resolve().parents[2]
ONE = Path(__file__).parent / "graded" / "one.py"
OVERHEAD_MAX = 0.01

GRADERS = ("do_bench", "torch_benchmark", "kernelbot", "kernelbench", "pygpubench")
NEED_FILES = {"kernelbot": ("path", "problem", "spec"), "kernelbench": ("path",), "pygpubench": ()}
HONEST = ("honest", "joined")
ATTACKS = {
    "unjoined": {"unjoined-kernel"},
    "cached": {"empty-window", "copies-only", "fewer-kernels"},
    "again": {"start-recorded-again", "window-restarted", "end-recorded-again"},
    "patched": {"time-not-asked"},
    "late": {"empty-window", "late-launch", "unjoined-kernel"},
}
"""Each attack, and findings: the analysis must report at least one of them."""

NOT_EXPOSED = {
    "torch_benchmark": set(ATTACKS),  # times with the host's clock
    "pygpubench": {
        "cached",
        "again",
        "patched",
    },  # its events are not Python's; its inputs and the copy out are new
}


@dataclass(frozen=True)
class Row:
    """One run. `problem` is empty if it came out as expected."""

    grader: str
    variant: str
    time_us: float | None
    found: tuple[str, ...]
    problem: str


def read_manifest(folder: Path) -> dict[str, dict[str, Any]]:
    """The graders that can run, with absolute paths. Raises ValueError."""
    path = folder / "manifest.toml"
    try:
        tables = tomllib.loads(path.read_text()) if path.exists() else {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"{path}: {error}") from error
    settings: dict[str, dict[str, Any]] = {"do_bench": {}, "torch_benchmark": {}}
    for name, table in tables.items():
        if name not in NEED_FILES:
            raise ValueError(f"{path}: {name} is not one of {', '.join(NEED_FILES)}")
        missing = [key for key in NEED_FILES[name] if key not in table]
        if missing:
            raise ValueError(f"{path}: [{name}] lacks {', '.join(missing)}")
        settings[name] = dict(table)
        if "path" in table:
            settings[name]["path"] = str((folder / table["path"]).resolve())
    return settings


def run_one(
    grader: str, variant: str, settings: dict[str, Any], log: Path | None
) -> tuple[float | None, str]:
    """The grader's time in microseconds, and the end of what it printed if it failed."""
    words = [sys.executable, str(ONE), grader, variant, json.dumps(settings)]
    if log is not None:
        words = [sys.executable, "-m", "benchguard", "--log", str(log), "-q", "--", *words]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
    }
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=900)
    for line in reversed(done.stdout.splitlines()):
        if line.startswith('{"time_us"'):
            return float(json.loads(line)["time_us"]), ""
    return None, (done.stdout + done.stderr).strip()[-300:]


def examine(grader: str, variant: str, settings: dict[str, Any], folder: Path) -> Row:
    log = folder / f"{grader}-{variant}.audit.jsonl"
    time_us, text = run_one(grader, variant, settings, log)
    try:
        found = tuple(finding.id for finding in analyse_log(log).above_info())
    except BenchguardError as error:
        return Row(grader, variant, time_us, (), str(error))
    if variant in HONEST:
        problem = "finding above info" if found else "" if time_us is not None else f"failed: {text}"
    else:
        problem = "" if ATTACKS[variant] & set(found) else "no finding"
    return Row(grader, variant, time_us, found, problem)


@dataclass(frozen=True)
class Overhead:
    """The share that the shim adds to a grader's time: the median of pairs of runs, and its interval (95 %),
    or the range of fewer than 6 pairs."""

    share: float
    low: float
    high: float
    time_us: float
    """The median of the runs without the shim."""
    pairs: int

    def __str__(self) -> str:
        decided = "" if self.high <= OVERHEAD_MAX or not self.is_small else "; not decided"
        kind = "range" if median_rank(self.pairs) is None else "95 %"  # too few pairs have no such interval
        interval = f"{kind}: {self.low:+.2%} to {self.high:+.2%}{decided}"
        return f"{self.share:+.2%} ({interval}) of {self.time_us:.2f} us in {self.pairs} pairs"

    @property
    def is_small(self) -> bool:
        """False only if more than OVERHEAD_MAX is certain: the host's own speed differs by more between two runs."""
        return self.low <= OVERHEAD_MAX


def overhead_of(
    grader: str, settings: dict[str, Any], folder: Path, rounds: int, seconds: float
) -> Overhead | str:
    """Compare runs with and without the shim, in pairs; or why the grader failed. Begins no pair after `seconds`."""
    plain: list[float] = []
    ratios: list[float] = []
    end = time.monotonic() + seconds
    for number in range(rounds):
        if ratios and time.monotonic() > end:
            break
        log = folder / f"{grader}-{number}.audit.jsonl"
        times: dict[bool, float] = {}
        for observed in (False, True) if number % 2 else (True, False):
            time_us, text = run_one(grader, "honest", settings, log if observed else None)
            if time_us is None:
                return f"failed: {text}"
            times[observed] = time_us
        log.unlink(missing_ok=True)
        plain.append(times[False])
        ratios.append(times[True] / times[False] - 1)
    ratios.sort()
    low, high = median_interval(ratios) or (ratios[0], ratios[-1])
    return Overhead(statistics.median(ratios), low, high, statistics.median(plain), len(ratios))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", action="append", choices=GRADERS, help="a grader; may be repeated")
    parser.add_argument(
        "--jobs", type=int, default=1, help="variants at once; their times are then not to be trusted"
    )
    parser.add_argument(
        "--rounds", type=int, default=12, help="pairs of runs that measure the overhead; 0: none"
    )
    parser.add_argument("--seconds", type=float, default=600.0, help="limit of each grader's pairs")
    parser.add_argument("--overhead-only", action="store_true", help="leave out the findings")
    options = parser.parse_args(arguments)
    try:
        settings = read_manifest(options.folder)
    except ValueError as error:
        print(f"graders: {error}", file=sys.stderr)
        return 2
    reason = no_gpu()
    if reason is not None:
        print(f"graders: skipped: {reason}", file=sys.stderr)
        return 0
    graders = options.only or GRADERS
    for grader in graders:
        if grader not in settings:
            print(f"{grader:16} skipped: not in {options.folder / 'manifest.toml'}")
    graders = [grader for grader in graders if grader in settings]
    is_good = True
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(os.environ.get("OUT", scratch))
        folder.mkdir(parents=True, exist_ok=True)
        cases = [
            (grader, variant)
            for grader in graders
            for variant in (*HONEST, *ATTACKS)
            if not options.overhead_only and variant not in NOT_EXPOSED.get(grader, ())
        ]
        with ThreadPoolExecutor(options.jobs) as pool:
            for row in pool.map(lambda case: examine(case[0], case[1], settings[case[0]], folder), cases):
                text = "failed" if row.time_us is None else f"{row.time_us:.2f} us"
                print(
                    f"{row.grader:16} {row.variant:10} {text:>12}  {', '.join(row.found) or '-':50} "
                    f"{row.problem or 'as expected'}",
                    flush=True,
                )
                is_good &= not row.problem
        for grader in graders if options.rounds else ():
            overhead = overhead_of(grader, settings[grader], folder, options.rounds, options.seconds)
            print(f"{grader:16} overhead   {overhead}", flush=True)
            is_good &= isinstance(overhead, Overhead) and overhead.is_small
    return int(not is_good)


if __name__ == "__main__":
    sys.exit(main())
