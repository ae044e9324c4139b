"""Grade example submissions in torch, Triton and CUDA C++ on this machine's GPU: verdict, median, wall time.

python tests/device/grades.py [--problems a,b] [--languages torch,triton,cuda] [--keep FOLDER] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchguard.errors import BenchguardError
from benchguard.grade.grade import grade
from benchguard.grade.options import GradeOptions
from benchguard.grade.result import GradeResult
from benchguard.shim.driver import discover

PROBLEMS = ("grayscale", "softmax", "matmul", "layernorm", "attention")
LANGUAGES = {"torch": "torch_eager.py", "triton": "triton_kernel.py", "cuda": "cuda.cu"}
OWN = ("submission: import", "submission: compile", "submission: warm-up")
"""Phases that count as the submission's own time."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", default=",".join(PROBLEMS))
    parser.add_argument("--languages", default=",".join(LANGUAGES))
    parser.add_argument("--case", default="large")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--times", type=int, default=1, help="number of grades per submission")
    options = parser.parse_args()
    if discover("auto", api="cuda").is_sim:
        print(
            "SKIPPED: no GPU here; tests/integration/test_grade.py is this on the CPU driver", file=sys.stderr
        )
        return 0
    rows, results, failed = [], [], 0
    for problem in options.problems.split(","):
        for language in options.languages.split(","):
            for _ in range(options.times):
                row, result = one(problem, language, options.case, options.keep)
                rows.append(row)
                print("| " + " | ".join(row) + " |", flush=True)
                if result is not None:
                    results.append(json.loads(result.to_json()))
                failed += row[2] != "pass"
    if options.json is not None:
        options.json.write_text(json.dumps(results))
    print(f"{len(rows)} grades, {failed} did not pass")
    return int(failed > 0)


def one(problem: str, language: str, case: str, keep: Path | None) -> tuple[list[str], GradeResult | None]:
    folder = ROOT / "examples" / "problems"
    submission = folder / "submissions" / problem / LANGUAGES[language]
    if not submission.exists():
        return [problem, language, "not there", "", "", "", "", ""], None
    began = time.monotonic()
    try:
        own = keep / f"{problem}-{language}" if keep is not None else None
        graded = grade(folder / f"{problem}.py", submission, GradeOptions(cases=(case,), keep=own))
    except BenchguardError as error:
        return [problem, language, "refused", str(error)[:120], "", "", "", ""], None
    wall = time.monotonic() - began
    seconds = graded.seconds
    submissions_own = sum(seconds.get(name, 0.0) for name in OWN)
    timed = graded.cases[0].time_us if graded.cases else None
    row = [
        problem,
        language,
        graded.verdict,
        graded.reason[:160],
        f"{timed.median:.2f}" if timed else "",
        str(timed.n) if timed else "",
        f"{wall:.2f}",
        f"{wall - submissions_own:.2f}",
        ", ".join(f"{name} {took:.2f}" for name, took in seconds.items()),
    ]
    return row, graded


if __name__ == "__main__":
    print(
        "| problem | language | verdict | reason | median us | n | wall s | beyond the submission's own, s | parts |"
    )
    sys.exit(main())
