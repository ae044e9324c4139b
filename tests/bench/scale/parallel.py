"""Grades a minute of a batch with two grades at once, beside one at a time, in the same run.

    python -m tests.bench.scale.parallel [--grades N] [--rounds N]

On the CPU driver, which has a lock here as a GPU has (ADR 32). Rounds alternate, so that other work of the machine
slows both.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time

from benchguard.fleet.grading import grade_all
from benchguard.grade.options import GradeOptions
from benchguard.ipc.lock_file import FOLDER
from tests.support.mixed import KINDS, PROBLEM


def grades_a_minute(count: int, parallel: int) -> float:
    """Grade one honest submission `count` times."""
    submissions = {str(number): KINDS["honest"][1] for number in range(count)}
    began = time.monotonic()
    graded = list(grade_all(PROBLEM, submissions, GradeOptions(driver="sim"), parallel=parallel))
    verdicts = {each.result.verdict if each.result else each.trouble for each in graded}
    if verdicts != {"pass"}:
        raise SystemExit(f"verdicts other than pass: {', '.join(sorted(verdicts))}")
    return 60 * count / (time.monotonic() - began)


def main() -> None:
    """Print both rates of each round, and the ratio of their medians."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--grades", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=3)
    words = parser.parse_args()
    rates: dict[int, list[float]] = {1: [], 2: []}
    with tempfile.TemporaryDirectory() as folder:
        os.environ[FOLDER] = folder
        for _ in range(words.rounds):
            for parallel, found in rates.items():
                found.append(grades_a_minute(words.grades, parallel))
            print(
                f"one at a time {rates[1][-1]:.1f}, two at once {rates[2][-1]:.1f} grades a minute",
                flush=True,
            )
    ratio = statistics.median(rates[2]) / statistics.median(rates[1])
    print(f"two at once are {ratio:.2f} times as fast")


if __name__ == "__main__":
    main()
