"""Mutate the lines of audit logs and analyse them: no failure but a one-line error, and no analysis that takes long.

    python tests/fuzz/findings.py --count 100000

The hash chain of each log is valid, so that every line reaches the analysis. Mutations depend on the seed alone.
Exits with 1 after a finding, whose input is kept.
"""

from __future__ import annotations

import copy
import random
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))  # run as a script, from anywhere

from benchguard.audit.log import LogWriter, read_log  # noqa: E402
from benchguard.errors import BenchguardError  # noqa: E402
from benchguard.findings import analyse, analyse_log  # noqa: E402
from benchguard.findings.sarif import sarif_document  # noqa: E402
from benchguard.ipc.json_text import json_line  # noqa: E402
from tests.fuzz.options import parser_of  # noqa: E402
from tests.support.window_logs import WindowLog  # noqa: E402
from tests.unit.findings.test_checks import CASES  # noqa: E402

VALUES = (
    None, True, "", "x", -1, 0, 1, 2, 1 << 31, 1 << 62, (1 << 64) - 1, -(1 << 63), 0.5, -1e308, [], [1], {}, {"a": 1},
    [0, 0, 0], "cuEventRecord", "cuStreamWaitEvent_ptsz", "cuEventElapsedTime_v2", "call", "launch", "graph_launch",
    "process", 1 << 70, [1 << 80, 0, 0], "\u202e\x1b",
)  # fmt: skip
SECONDS_MAX = 5.0


def main() -> int:
    options = parser_of(__doc__, "analysis").parse_args()
    if options.break_analysis:
        analyse.follow = lambda *_: 1 // 0
    folder = options.out / "findings" / "findings"
    folder.mkdir(parents=True, exist_ok=True)
    corpus = seeds(folder)
    outcomes: Counter[str] = Counter()
    for number in range(options.count):
        generator = random.Random(f"{options.seed} {number}")
        path = folder / f"{options.seed}-{number}.audit.jsonl"
        write(path, mutated(generator, generator.choice(corpus)))
        outcome = examine(path)
        outcomes[outcome] += 1
        if outcome in {"analysed", "refused"}:
            path.unlink()
    print(f"{options.count} inputs: {outcomes['analysed']} analysed, {outcomes['refused']} refused")
    for kind, count in outcomes.items():
        if kind not in {"analysed", "refused"}:
            print(f"{count} times: {kind}  inputs are kept in {folder}")
    return 1 if set(outcomes) - {"analysed", "refused"} else 0


def seeds(folder: Path) -> list[list[dict[str, Any]]]:
    """The logs of the tests' programs, as lists of lines."""
    logs = []
    for index, case in enumerate(CASES):
        path = folder / f"seed-{index}"
        path.unlink(missing_ok=True)
        log = WindowLog(path)
        case.program(log)
        logs.append(list(read_log(log.close())))
        path.unlink()
    return logs


def write(path: Path, lines: list[dict[str, Any]]) -> None:
    writer = LogWriter(path, replace=True)
    for line in lines:
        line.pop("previous", None)
        writer.write(json_line(line))
    writer.close()


def mutated(generator: random.Random, lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first and the last line stay where they are, or no reader looks further."""
    first, *inner, last = copy.deepcopy(lines)
    for _ in range(generator.randint(1, 6)):
        line = (
            generator.choice(inner) if inner and generator.random() < 0.9 else generator.choice((first, last))
        )
        match generator.randrange(6):
            case 0 | 1:
                alter(generator, line)
            case 2 if isinstance(line.get("arguments"), dict) and line["arguments"]:
                alter(generator, line["arguments"])
            case 3 if inner:
                inner.insert(generator.randrange(len(inner)), copy.deepcopy(generator.choice(inner)))
            case 4 if inner:
                del inner[generator.randrange(len(inner))]
            case _:
                generator.shuffle(inner)
    return [first, *inner, last]


def alter(generator: random.Random, values: dict[str, Any]) -> None:
    name = generator.choice(sorted(values))
    if generator.random() < 0.2:
        del values[name]
    else:
        values[name] = generator.choice(VALUES)


def examine(path: Path) -> str:
    """ "analysed", "refused", or a description of anything else."""
    began = time.process_time()
    try:
        report = analyse_log(path)
        report.to_json()
        sarif_document(report, path)
    except BenchguardError as error:
        return "refused" if "\n" not in str(error) else f"a message of several lines: {error}"
    except Exception:  # any other failure is a finding
        return traceback.format_exc(limit=-2)
    if time.process_time() - began > SECONDS_MAX:
        return f"took more than {SECONDS_MAX} s\n"
    return "analysed"


if __name__ == "__main__":
    sys.exit(main())
