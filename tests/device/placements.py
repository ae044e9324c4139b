"""How far apart grades of one submission are, by the number of contexts: python tests/device/placements.py [NAME...]

Grades a submission of examples/problems several times in 16 processes (`grade --placements 16`). The table has the
standard deviation of the processes' medians, and the ratios of times over 1, 4 and 16 processes, from disjoint groups
of all of them. Skips on a machine without a GPU. Keeps the table under $OUT if that is set.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # run as a script, not as a module of tests/

from benchguard.grade.grade import grade
from benchguard.grade.options import GradeOptions
from benchguard.replay.protocol import PROCESSES_MAX
from tests.device.compare import no_gpu

PROBLEMS = ROOT / "examples" / "problems"
CASES = {
    "reduction": "large",
    "vector_add": "large",
    "layernorm": "large",
    "softmax": "large",
    "attention": "large",
    "matmul": "small",
}
GRADES = 4
SAMPLES = 50
"""The samples of each process."""

GROUPS = (1, 4, 16)
HEAD = (
    "| program | median, us | deviation of processes | "
    + " | ".join(f"within 0.5 %, {size} each (pairs)" for size in GROUPS)
    + " | seconds |"
)


def ratios(times: list[float], size: int) -> list[float]:
    """The ratios of successive groups of `size` times, each pair of groups once."""
    means = [statistics.geometric_mean(times[at : at + size]) for at in range(0, len(times) - size + 1, size)]
    return [second / first for first, second in zip(means[::2], means[1::2], strict=False)]


def line(name: str, case: str) -> str:
    submission = PROBLEMS / "submissions" / name / "cuda.cu"
    options = GradeOptions(cases=(case,), samples=PROCESSES_MAX * SAMPLES, placements=PROCESSES_MAX)
    times: list[float] = []
    seconds = 0.0
    for _ in range(GRADES):
        result = grade(PROBLEMS / f"{name}.py", submission, options)
        placements = result.cases[0].placements if result.cases else None
        if result.verdict != "pass" or placements is None:
            return f"| {name} {case} | {result.verdict}: {result.reason or 'no time over processes'} |"
        times += placements.medians_us
        seconds += result.wall_s
    shares = []
    for size in GROUPS:
        pairs = ratios(times, size)
        shares.append(f"{sum(abs(each - 1) <= 0.005 for each in pairs) / len(pairs):.0%} ({len(pairs)})")
    deviation = statistics.stdev(times) / statistics.fmean(times)
    cells = (
        f"{name} {case}",
        f"{statistics.geometric_mean(times):.2f}",
        f"{deviation:.2%}",
        *shares,
        f"{seconds:.0f}",
    )
    return f"| {' | '.join(cells)} |"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"default: {' '.join(CASES)}")
    names = parser.parse_args(arguments).names
    unknown = [name for name in names if name not in CASES]
    if unknown:
        parser.error(f"no program {unknown[0]}; there are {', '.join(CASES)}")
    reason = no_gpu()
    if reason is not None:
        print(f"placements: skipped: {reason}; run it on a machine with an NVIDIA GPU")
        return 0
    lines = [HEAD, "| --- | --- | --- |" + " --- |" * (len(GROUPS) + 1)]
    print("\n".join(lines), flush=True)
    for name in names or CASES:
        lines.append(line(name, CASES[name]))
        print(lines[-1], flush=True)
    if "OUT" in os.environ:
        Path(os.environ["OUT"], "placements.md").write_text("\n".join(lines) + "\n")
    return int(any(": " in each for each in lines[2:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
