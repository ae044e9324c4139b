"""Run GPU programs with and without the shim and print a table: python tests/device/run.py [NAME...]

Prints a line and skips on a machine without a GPU. Keeps logs and tables under $OUT if that is set. Exits with 1 if a
program behaves differently under the shim, or if its log is incomplete.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run as a script, not as a module of tests/

from tests.device.cases import ALL
from tests.device.compare import Comparison, compare, no_gpu


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in {program.name for program in ALL}]
    if unknown:
        known = ", ".join(program.name for program in ALL)
        print(f"device: unknown program {unknown[0]}; choose from {known}", file=sys.stderr)
        return 2
    reason = no_gpu()
    if reason is not None:
        print(f"device: skipped: {reason}; run it on a machine with an NVIDIA GPU")
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        return run_all(names, Path(os.environ.get("OUT") or scratch))


def run_all(names: list[str], folder: Path) -> int:
    failed, ran, skipped = 0, 0, 0
    report = []
    for program in ALL:
        if names and program.name not in names:
            continue
        if program.missing():
            skipped += 1
            report.append(f"==== {program.name}: SKIPPED, {', '.join(program.missing())} not installed\n")
        else:
            comparison = compare(program, folder)
            ran += comparison.cannot_run is None
            skipped += comparison.cannot_run is not None
            failed += bool(comparison.problems)
            report.append(describe(comparison))
        print(report[-1], flush=True)
    report.append(f"{ran} programs run, {failed} failed, {skipped} skipped")
    print(report[-1])
    (folder / "device.txt").write_text("\n".join(report) + "\n")
    return int(failed > 0 or ran == 0)


def describe(comparison: Comparison) -> str:
    if comparison.cannot_run is not None:
        return f"==== {comparison.program.name}: SKIPPED, it {comparison.cannot_run}\n"
    verdict = "FAILED" if comparison.problems else "same results"
    lines = [f"==== {comparison.program.name}: {verdict}", *comparison.problems]
    return "\n".join([*lines, comparison.plain.rstrip(), comparison.tables.rstrip(), ""])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
