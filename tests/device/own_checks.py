"""Grade submissions to tasks whose own check computes on the GPU: python tests/device/own_checks.py

A row has the verdict, the wall time, and the time that the questions to the check took behind the last sample. The
check of the shares does not see numbers that overflow in it, and that of the sums has a wide tolerance; torch.cumsum
has other last bits in each sample. The other checks leave a part of the output out. Exits with 1 if a verdict is not
the expected one. Skips on a machine without a GPU.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run as a script, not as a module of tests/

import benchguard
from tests.device.compare import no_gpu

TASK = """
files:
  - {"name": "submission.py", "source": "@SUBMISSION@"}
  - {"name": "reference.py", "source": "reference.py"}
lang: "py"
description: "a task with a check of its own"
config: {"main": "eval.py"}
tests: [{"n": 4096, "seed": 1}]
benchmarks: [{"n": 33554432, "seed": 2}]
ranking_by: "geom"
"""
REFERENCE = """
import torch

def generate_input(n, seed):
    return torch.rand(n, device="cuda", generator=torch.Generator("cuda").manual_seed(seed)) + OFFSET

def ref_kernel(x):
    return ANSWER

def check_implementation(x, output):
    CHECK
"""
SHARES = {
    "OFFSET": "0.5",
    "ANSWER": "(x / x.sum()).log()",
    "CHECK": """shares = output.exp()
    error = (shares / shares.sum() - x / x.sum()).abs().max() * len(x)
    if not torch.isfinite(output).all():
        return False, "not finite"
    return (False, "another share") if error > 1e-3 else (True, "")""",
}
SUMS = {
    "OFFSET": "-0.5",
    "ANSWER": "x.double().cumsum(0)",
    "CHECK": """wanted, room = ref_kernel(x), 1e-5 * len(x) ** 0.5
    near = (output - wanted).abs() <= room * (1 + wanted.abs())
    return (True, "") if near.all() else (False, "another sum")""",
}
FIRST_HALF = {
    "OFFSET": "0.5",
    "ANSWER": "x.sin()",
    "CHECK": """half = len(x) // 2
    return (True, "") if torch.allclose(output[:half], ref_kernel(x)[:half]) else (False, "another sine")""",
}
FIRST_QUARTER = {**FIRST_HALF, "CHECK": FIRST_HALF["CHECK"].replace("// 2", "// 4")}
LEFT_OUT = "torch.cat((x[: len(x) // PARTS].sin(), torch.full_like(x[len(x) // PARTS :], float('nan'))))"


@dataclass(frozen=True)
class Row:
    name: str
    task: dict[str, str]
    answer: str
    verdict: str
    reason: str = ""


ROWS = (
    Row("shares: right, but for a constant", SHARES, "x.log() + 5", "pass"),
    Row("shares: overflow", SHARES, "torch.full_like(x, 900.0)", "wrong", "does not see these numbers"),
    Row("shares: one overflows", SHARES, "torch.full_like(x, 90.0)", "wrong"),
    Row("sums: right", SUMS, "x.cumsum(0)", "pass"),
    Row("sums: NaN", SUMS, "torch.full_like(x, float('nan'))", "wrong"),
    Row("first half: NaN elsewhere", FIRST_HALF, LEFT_OUT.replace("PARTS", "2"), "pass"),
    Row("first quarter: right", FIRST_QUARTER, "x.sin()", "pass"),
    Row(
        "first quarter: NaN elsewhere", FIRST_QUARTER, LEFT_OUT.replace("PARTS", "4"), "unproven", "see them"
    ),
    Row("sums: a part", SUMS, "x.cumsum(0) * (torch.arange(len(x), device=x.device) % 9 > 0)", "wrong"),
)


def graded(row: Row, folder: Path) -> tuple[str, bool]:
    """The row of the table, and whether the verdict is the expected one."""
    task = folder / "task"
    task.mkdir(parents=True)
    reference = REFERENCE
    for name, text in row.task.items():
        reference = reference.replace(name, text)
    (task / "task.yml").write_text(TASK)
    (task / "reference.py").write_text(reference)
    submission = folder / "submission.py"
    submission.write_text(f"import torch\n\n\ndef custom_kernel(x):\n    return {row.answer}\n")
    began = time.monotonic()
    result = benchguard.grade(task, submission, timeout=120)
    good = result.verdict == row.verdict and row.reason in result.reason
    bits = max((each.checks.nondeterministic for each in result.cases if each.checks), default=0)
    medians = ", ".join(f"{each.time_us.median:.1f}" for each in result.cases if each.time_us)
    text = f"| {row.name} | {row.verdict} | {result.verdict} | {medians} | {bits} | {time.monotonic() - began:.1f} |"
    return text if good else f"{text}\n{result.reason}", good


def main() -> int:
    if reason := no_gpu():
        print(f"own_checks: skipped: {reason}")
        return 0
    print(
        "| task: answer | expected | verdict | us | sets with other bits | s |\n| --- | --- | --- | --- | --- | --- |"
    )
    is_good = True
    with tempfile.TemporaryDirectory() as scratch:
        Path(scratch).chmod(0o755)  # submissions run as another user
        for number, row in enumerate(ROWS):
            text, good = graded(row, Path(scratch) / str(number))
            print(text, flush=True)
            is_good = is_good and good
    return int(not is_good)


if __name__ == "__main__":
    sys.exit(main())
