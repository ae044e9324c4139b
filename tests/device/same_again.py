"""Measure the difference between two replays of one capture: python tests/device/same_again.py [NAME...] [--pairs 20]

Records a case of replays.py once and replays it in pairs of fresh processes. The ratio of a pair's medians would be 1
without measurement error; a difference between two kernels must be larger than the printed error. The last column is
what `compare` would call a kernel and itself without its correction for launches (docs/adr/0064), in comparisons of
blocks drawn from these replays. Skips on a machine without a GPU. Keeps the table under $OUT if that is set.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run as a script, not as a module of tests/

from benchguard.grade.comparison import Block
from benchguard.grade.options import BLOCKS
from tests.device.compare import no_gpu
from tests.device.replays import CASES, last_line, program, run
from tests.support.comparisons import call_of

DEFAULT = ("runtime-saxpy", "reduction", "softmax", "gemm", "attention", "graph")
COMPARISONS = 1000


def medians(name: str, cold: str, count: int, folder: Path) -> list[float] | str:
    """The median of each replay in microseconds, or an error message."""
    case = next(case for case in CASES if case.name == name)
    command = program(case, folder)
    if isinstance(command, str):
        return command
    capture = str(folder / f"{name}.ncap")
    bench = [sys.executable, "-m", "benchguard"]
    recorded = run([*bench, "record", "-o", capture, "--force", *case.select, "--", *command])
    if recorded.returncode != 0:
        return last_line(recorded)
    results = []
    for _ in range(count):
        result = run([*bench, "replay", capture, "--cold", cold, "--json", "-", "--quiet"])
        if result.returncode != 0:
            return last_line(result)
        results.append(json.loads(result.stdout)["cases"][0]["time_us"]["median"])
    return results


def calls(times: list[float], count: int = COMPARISONS) -> Counter[str]:
    """The calls of comparisons, each of blocks drawn at random from all blocks of four successive replays."""
    measured = [Block(*times[first : first + 4]) for first in range(0, len(times) - 3, 4)]
    draw = random.Random(count)
    return Counter(call_of(draw.choices(measured, k=BLOCKS)) for _ in range(count))


def describe(name: str, times: list[float]) -> str:
    ratios = [second / first for first, second in zip(times[::2], times[1::2], strict=True)]
    off = sorted(abs(ratio - 1) for ratio in ratios)
    within = sum(each <= 0.005 for each in off) / len(off)
    return (
        f"| {name} | {statistics.median(times):.2f} | {len(ratios)} | {min(ratios):.4f} to {max(ratios):.4f} | "
        f"{statistics.median(off):.2%} | {off[int(0.95 * (len(off) - 1))]:.2%} | {within:.0%} | "
        f"{_words(calls(times))} |"
    )


def _words(found: Counter[str]) -> str:
    return ", ".join(f"{call} {count / found.total():.1%}" for call, count in found.most_common())


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"default: {' '.join(DEFAULT)}")
    parser.add_argument("--pairs", type=int, default=20, help="at least 2, for a block of four replays")
    parser.add_argument("--cold", default="flush")
    options = parser.parse_args(arguments)
    for name in options.names:
        if name not in {case.name for case in CASES}:
            parser.error(f"no case {name}; there are {', '.join(case.name for case in CASES)}")
    if options.pairs < 2:
        parser.error(f"--pairs {options.pairs}: give 2 or more")
    reason = no_gpu()
    if reason is not None:
        print(f"same_again: skipped: {reason}; run it on a machine with an NVIDIA GPU")
        return 0
    lines = [
        "| program | median, us | pairs | ratios of medians | off by, median | 95 % | within 0.5 % | `compare` |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    print("\n".join(lines), flush=True)
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for name in options.names or DEFAULT:
            times = medians(name, options.cold, 2 * options.pairs, Path(scratch))
            failed += isinstance(times, str)
            lines.append(f"| {name} | {times} |" if isinstance(times, str) else describe(name, times))
            print(lines[-1], flush=True)
            if isinstance(times, list):
                print("    " + " ".join(f"{time:.2f}" for time in times), flush=True)
    if "OUT" in os.environ:
        Path(os.environ["OUT"], "same_again.md").write_text("\n".join(lines) + "\n")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
