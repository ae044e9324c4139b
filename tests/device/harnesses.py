"""Time pairs by their suites' own harnesses and by grades, in turn: python tests/device/harnesses.py FOLDER GRADERS

FOLDER and its manifest are those of real.py, GRADERS is the folder of graders.py (tests/device/README.md). Prints a
line for each case: both times, their ratio, and the kernels of a call. Exits with 1 if one of the two has no time.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run as a script, not as a module of tests/

from benchguard.grade.result import read_result
from tests.device import graders
from tests.device.compare import no_gpu
from tests.device.grading import grade_pair, run_bounded
from tests.device.own_answers import NoReferenceError, submission_of
from tests.device.pairs import ManifestError, Pair, read_manifest
from tests.device.real import is_chosen

ROOT = Path(__file__).resolve().parents[2]
CHILD = Path(__file__).parent / "graded" / "suite.py"
LIBRARIES = {"gpumode": None, "kernelbench": "kernelbench", "pygpubench": "pygpubench"}
"""The forms whose harness can be run, and the table of GRADERS/manifest.toml that has its library."""
REASON_CHARACTERS = 300


def job_of(pair: Pair, folder: Path, submission: Path, settings: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The paths, cases and arguments that the suite's harness is given."""
    cases = pair.options.get("case", [])
    given = pair.options.get("adapter_option", [])
    texts = dict(each.partition("=")[::2] for each in (given if isinstance(given, list) else [given]))
    job = {
        "problem": str(folder / pair.problem),
        "submission": str(submission),
        "entry": pair.options.get("entry", ""),
        "cases": cases if isinstance(cases, list) else [cases],
        "arguments": json.loads(texts.get("arguments", "{}")),
    }
    library = LIBRARIES[pair.form]
    if library is not None and "path" in settings.get(library, {}):
        job["library"] = settings[library]["path"]
    return job


def timed(pair: Pair) -> Pair:
    """The pair with the cases that a suite's harness times, and as many samples as the stop rule takes."""
    options = {name: value for name, value in pair.options.items() if name not in ("samples", "case")}
    if pair.form == "gpumode":
        cases = pair.options.get("case", [])
        chosen = [
            each for each in (cases if isinstance(cases, list) else [cases]) if each.startswith("bench")
        ]
        options["case"] = chosen or ["benchmark.0"]
    return replace(pair, options=options)


def by_suite(form: str, job: dict[str, Any], timeout: float) -> tuple[dict[str, float], str]:
    """The harness's times by case, and the end of what it printed if it has none."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, str(CHILD), form, json.dumps(job)]
    _, text = run_bounded(command, {**os.environ, "PYTHONPATH": path}, timeout)
    for line in reversed(text.splitlines()):
        if line.startswith('{"times_us"'):
            return json.loads(line)["times_us"], ""
    return {}, text.strip()[-REASON_CHARACTERS:]


def kernels_of(document: Path) -> dict[str, int]:
    """The kernels that a call of each case launches, by a grade's result."""
    return {case.name: sum(each.launches for each in case.kernels) for case in read_result(document).cases}


def compare(
    pair: Pair, folder: Path, scratch: Path, settings: dict[str, dict[str, Any]], rounds: int, timeout: float
) -> bool:
    """Print a line for each case of a pair. False if one of the two has no time."""
    pair = timed(pair)
    theirs: dict[str, list[float]] = {}
    ours: dict[str, list[float]] = {}
    try:
        job = job_of(pair, folder, submission_of(pair, folder, scratch / "own"), settings)
    except (NoReferenceError, OSError) as error:
        print(f"{pair.id}: {error}", flush=True)
        return False
    for _ in range(rounds):
        times, text = by_suite(pair.form, job, timeout)
        if not times:
            print(f"{pair.id}: the suite's harness has no time: {text}", flush=True)
            return False
        outcome = grade_pair(pair, folder, scratch, timeout=timeout)
        if outcome.verdict != "pass":
            print(f"{pair.id}: {outcome.verdict}: {outcome.reason[:REASON_CHARACTERS]}", flush=True)
            return False
        for kept, found in ((theirs, times), (ours, outcome.medians_us)):
            for case, value in found.items():
                kept.setdefault(case, []).append(value)
    kernels = kernels_of(scratch / f"{pair.id}.json")
    for case, suite in theirs.items():
        own = ours[case]
        ratio = statistics.median(own) / statistics.median(suite)
        print(
            f"{pair.id:28} {case:20} suite {_span(suite):>24} us  ours {_span(own):>24} us  "
            f"ours/suite {ratio:.3f}  kernels {kernels.get(case, 0)}",
            flush=True,
        )
    return True


def _span(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("graders", type=Path)
    parser.add_argument("manifest", type=Path, nargs="?", help="default: FOLDER/manifest.jsonl")
    parser.add_argument(
        "--only", action="append", default=[], help="a form, or a pattern of ids; may be repeated"
    )
    parser.add_argument("--rounds", type=int, default=2, help="times that each pair is timed by both")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for each harness and grade")
    options = parser.parse_args(arguments)
    try:
        settings = graders.read_manifest(options.graders)
        pairs = read_manifest(options.manifest or options.folder / "manifest.jsonl")
    except (ManifestError, ValueError) as error:
        print(f"harnesses: {error}", file=sys.stderr)
        return 2
    chosen = [
        each
        for each in pairs
        if each.form in LIBRARIES and each.expected == "pass" and is_chosen(each, options.only)
    ]
    if not chosen:
        print("harnesses: no pair is chosen", file=sys.stderr)
        return 2
    reason = no_gpu()
    if reason is not None:
        print(f"harnesses: skipped: {reason}", file=sys.stderr)
        return 0
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        # Submissions run as another user, and must be able to read their own files.
        scratch.chmod(0o755)
        good = [
            compare(each, options.folder.resolve(), scratch, settings, options.rounds, options.timeout)
            for each in chosen
        ]
    return int(not all(good))


if __name__ == "__main__":
    sys.exit(main())
