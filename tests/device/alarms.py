"""Grade honest examples again and again, and list verdicts other than pass: python tests/device/alarms.py

Loops over the submissions of examples/problems. If OUT is set, alarms.jsonl and alarms.md are
kept there. Exits with 1 if a grade did not pass.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run as a script, not as a module of tests/

from tests.device.grading import ROOT
from tests.device.pairs import Pair
from tests.device.real import add_batch_options, run_batch

EXAMPLES = ROOT / "examples" / "problems"
COUNT = 200


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=COUNT, help="number of grades")
    parser.add_argument(
        "--samples", type=int, help="samples of each grade; default: until the median has converged"
    )
    parser.add_argument("--case", default="small")
    add_batch_options(parser)
    options = parser.parse_args(arguments)
    pairs = pairs_of(examples(), options.count, options.case, options.samples)
    outcomes = run_batch(pairs, EXAMPLES, options, "alarms")
    graded = [each for each in outcomes if each.verdict != "not run"]
    verdicts = ", ".join(
        f"{count} {verdict}" for verdict, count in Counter(each.verdict for each in graded).items()
    )
    print(f"{len(graded)} grades of honest examples: {verdicts or 'none'}")
    return int(any(each.verdict != "pass" for each in outcomes))


def examples() -> list[tuple[str, str]]:
    """Problem and submission of each example, relative to EXAMPLES."""
    return [
        (f"{each.parent.name}.py", str(each.relative_to(EXAMPLES)))
        for each in sorted((EXAMPLES / "submissions").glob("*/*"))
        if each.suffix in (".py", ".cu", ".ptx")
    ]


def pairs_of(
    named: Sequence[tuple[str, str]], count: int, case: str = "small", samples: int | None = None
) -> list[Pair]:
    """`count` pairs: every example once, then every example again, and so on."""
    options = {"case": case} if samples is None else {"case": case, "samples": samples}
    return [
        Pair(
            f"{number:03}-{Path(problem).stem}-{Path(submission).stem}",
            "own",
            problem,
            submission,
            dict(options),
        )
        for number, (problem, submission) in enumerate(itertools.islice(itertools.cycle(named), count))
    ]


if __name__ == "__main__":
    sys.exit(main())
