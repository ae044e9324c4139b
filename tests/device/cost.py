"""Seconds that a grade takes, in one or more checkouts: python tests/device/cost.py [CHECKOUT...]

Grades five problems in three languages, each in a process of its own, one at a time, in all checkouts in turn. Each
checkout must be built. Without arguments: this one. If OUT is set, cost.md and cost.jsonl are kept there.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run as a script, not as a module of tests/

from tests.device.grades import LANGUAGES, PROBLEMS
from tests.device.grading import OWN, ROOT, run_bounded

SECONDS_MAX = 300.0


@dataclass(frozen=True)
class Cost:
    """`own_s` is the submission's own import, compilation and warm-up."""

    checkout: str
    problem: str
    language: str
    verdict: str
    wall_s: float
    own_s: float
    seconds: dict[str, float]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkouts", type=Path, nargs="*", default=[ROOT])
    parser.add_argument("--problems", default=",".join(PROBLEMS))
    parser.add_argument("--languages", default=",".join(LANGUAGES))
    parser.add_argument("--case", default="large")
    parser.add_argument("--times", type=int, default=1, help="grades of each submission in each checkout")
    parser.add_argument(
        "--samples", type=int, help="samples of each grade; default: until the median has converged"
    )
    parser.add_argument("--driver", default="auto")
    options = parser.parse_args(arguments)
    kept = Path(os.environ["OUT"]) if os.environ.get("OUT") else None
    checkouts = [each.resolve() for each in options.checkouts]
    costs = []
    for problem in options.problems.split(","):
        for language in options.languages.split(","):
            for _ in range(options.times):
                for checkout in checkouts:
                    cost = measured(checkout, problem, language, options)
                    costs.append(cost)
                    print(
                        f"{checkout}: {problem} {language}: {cost.verdict} in {cost.wall_s:.2f} s", flush=True
                    )
                    if kept is not None:
                        with (kept / "cost.jsonl").open("a", encoding="utf-8") as file:
                            file.write(json.dumps(asdict(cost)) + "\n")
    lines = table(costs, [str(each) for each in checkouts])
    print("\n".join(["", *lines]))
    if kept is not None:
        (kept / "cost.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return int(any(each.verdict != "pass" for each in costs))


def measured(checkout: Path, problem: str, language: str, options: argparse.Namespace) -> Cost:
    """Grade an example of this checkout with the code of `checkout`."""
    folder = ROOT / "examples" / "problems"
    with tempfile.TemporaryDirectory() as scratch:
        document = Path(scratch) / "result.json"
        command = [
            sys.executable, "-m", "benchguard", "grade", str(folder / f"{problem}.py"),
            str(folder / "submissions" / problem / LANGUAGES[language]), "--case", options.case,
            "--driver", options.driver, "--json", str(document), "--quiet",
            *([] if options.samples is None else ["--samples", str(options.samples)]),
        ]  # fmt: skip
        began = time.monotonic()
        status, text = run_bounded(
            command, {**os.environ, "PYTHONPATH": str(checkout)}, SECONDS_MAX, folder=checkout
        )
        wall = time.monotonic() - began
        try:
            result: dict[str, Any] = json.loads(document.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            last = text.strip().splitlines()[-1:] or [f"exit status {status}"]
            return Cost(str(checkout), problem, language, last[0], wall, 0.0, {})
    seconds = {name: float(took) for name, took in result["seconds"].items()}
    own = sum(seconds.get(name, 0.0) for name in OWN)
    return Cost(str(checkout), problem, language, result["verdict"], wall, own, seconds)


def table(costs: Iterable[Cost], checkouts: Sequence[str]) -> list[str]:
    """A row for each submission: seconds, and seconds beyond the submission's own, for each checkout; medians."""
    by: dict[tuple[str, str], dict[str, list[Cost]]] = {}
    for each in costs:
        by.setdefault((each.problem, each.language), {}).setdefault(each.checkout, []).append(each)
    names = [name for each in checkouts for name in (f"{each}, s", "beyond own, s", "verdict")]
    rows = [["problem", "language", *names], ["---"] * (2 + len(names))]
    for (problem, language), graded in by.items():
        row = [problem, language]
        for checkout in checkouts:
            some = graded[checkout]
            row += [
                _median([each.wall_s for each in some]),
                _median([each.wall_s - each.own_s for each in some]),
                ", ".join(dict.fromkeys(each.verdict for each in some)),
            ]
        rows.append(row)
    last = ["median", ""]
    for checkout in checkouts:
        some = [each for graded in by.values() for each in graded[checkout]]
        last += [
            _median([each.wall_s for each in some]),
            _median([each.wall_s - each.own_s for each in some]),
            "",
        ]
    return ["| " + " | ".join(row) + " |" for row in [*rows, last]]


def _median(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.2f}"


if __name__ == "__main__":
    sys.exit(main())
