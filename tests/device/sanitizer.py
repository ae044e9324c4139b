"""Do the device cordon and the live probe `bounds` find what compute-sanitizer finds? python tests/device/sanitizer.py

Compiles planted.cu to PTX, captures a launch without an error, then for each planted error replays it with checked
accesses, runs the program under `neutrino-bench probe bounds`, and under compute-sanitizer. All must name the same
source line, and none may name one for the launch without an error. compute-sanitizer and the probe must also name the
same threads, as far as the probe keeps them (4 of each place), but not for the atomic operation: ptxas lets one thread
do it for its whole warp, and the probe counts the threads that the PTX has. Prints SKIPPED without a GPU, nvcc or
compute-sanitizer.
With `--driver sim` compute-sanitizer is left out, and the lines are compared with the comments of planted.cu.
"""

from __future__ import annotations

import argparse
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # run as a script, not as a module of tests/

import benchguard
from benchguard.capture import Capture
from benchguard.grade.cordon_capture import Plan, make
from benchguard.probe.bounds.check import map_bytes
from benchguard.probe.bounds.report import violations
from benchguard.shim.driver import discover

SOURCE = Path(__file__).parent / "planted.cu"
ERRORS = range(1, 9)
ATOMIC = 3
Thread = tuple[int, int, int]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--driver", default="auto")
    options = parser.parse_args()
    driver = discover(options.driver, api="cuda")
    if driver.is_sim and options.driver == "auto":
        return skip("no GPU here")
    if shutil.which("nvcc") is None:
        return skip("nvcc is not in PATH")
    sanitizer = None if driver.is_sim else shutil.which("compute-sanitizer")
    if sanitizer is None and not driver.is_sim:
        return skip("compute-sanitizer is not in PATH")
    with tempfile.TemporaryDirectory(prefix="sanitizer-") as name:
        return compare(Path(name), options.driver, sanitizer)


def skip(why: str) -> int:
    print(f"SKIPPED: {why}", file=sys.stderr)
    return 0


def compare(folder: Path, driver: str, sanitizer: str | None) -> int:
    program = folder / "planted"
    command = ["nvcc", "-lineinfo", "-cudart=shared", "-gencode=arch=compute_75,code=compute_75", str(SOURCE)]
    subprocess.run([*command, "-o", str(program)], check=True)
    plain, probed = folder / "plain.ncap", folder / "probed.ncap"
    record = [
        sys.executable,
        "-m",
        "benchguard",
        "record",
        "--driver",
        driver,
        "-o",
        str(plain),
        "--kernel",
        "*planted*",
    ]
    subprocess.run([*record, "--", str(program), "0"], check=True, cwd=ROOT)
    with Capture.open(plain) as capture:
        plan = make(capture, probed, is_sim=sanitizer is None)
        (which,) = (each.address for each in capture.allocations if each.bytes == 4)
    if plan.trouble or plan.unchecked:
        print(f"FAILED: not checked: {plan.trouble or plan.unchecked}")
        return 1
    failed = 0
    print("| error | cordon | probe | expected | threads of the probe | same |\n| - | - | - | - | - | - |")
    for error in (0, *ERRORS):
        found = lines_in_cordon(probed, plan, which, error, driver)
        live = probe(folder / f"probe-{error}", program, error, driver)
        lines, threads = {line for line, _ in live}, {thread for _, thread in live}
        if sanitizer:
            reported = reports_of_sanitizer(sanitizer, program, error)
            expected, same = {line for line, _ in reported}, live <= reported or error == ATOMIC
        else:
            expected, same = commented_lines(error), True
        same = same and found == expected == lines
        failed += not same
        print(
            f"| {error} | {sorted(found)} | {sorted(lines)} | {sorted(expected)} | {sorted(threads)} | {same} |",
            flush=True,
        )
    return int(failed > 0)


def probe(out: Path, program: Path, error: int, driver: str) -> set[tuple[int, Thread]]:
    """Source line and thread of each violation that the live probe keeps."""
    words = [sys.executable, "-m", "benchguard", "probe", "bounds", "--driver", driver, "--out", str(out)]
    done = subprocess.run(
        [*words, "--", str(program), str(error)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if not re.search(r"planted\w*: 1 launches, ", done.stderr):
        print(f"error {error}: the probe saw no launch:\n{done.stderr}")
        return {(-1, (0, 0, 0))}
    found = re.finditer(r"planted\.cu:(\d+)\): .*; thread \((\d+), (\d+), (\d+)\)", done.stderr)
    return {(int(each[1]), (int(each[2]), int(each[3]), int(each[4]))) for each in found}


def lines_in_cordon(probed: Path, plan: Plan, which: int, error: int, driver: str) -> set[int]:
    """Source lines of the violations of one launch."""
    result = benchguard.replay(
        probed,
        driver=driver,
        samples=1,
        warm_up_samples=0,
        inputs={which: struct.pack("<i", error)},
        outputs=[(plan.map, map_bytes(len(plan.sites)))],
    )
    if result.verdict != "pass":
        print(f"error {error}: {result.verdict}: {result.reason}")
        return {-1}
    (raw,) = result.outputs.values()
    assert isinstance(raw, bytes)
    return {plan.sites[each.site].source_line for each in violations(raw)}


def reports_of_sanitizer(tool: str, program: Path, error: int) -> set[tuple[int, Thread]]:
    """Source line, of the first frame, and thread of each error in compute-sanitizer's report."""
    done = subprocess.run(
        [tool, "--tool", "memcheck", "--print-limit", "1000", str(program), str(error)],
        capture_output=True,
        text=True,
        check=False,
    )
    found = set()
    reports = re.split(r"=========\s+(?=Invalid|Misaligned)", done.stdout)[1:]
    for report in reports:
        line = re.search(r"planted\.cu:(\d+)", report)
        thread = re.search(r"by thread \((\d+),(\d+),(\d+)\)", report)
        where = (int(thread[1]), int(thread[2]), int(thread[3])) if thread else (-1, -1, -1)
        found.add((int(line[1]) if line else -1, where))
    return found


def commented_lines(error: int) -> set[int]:
    lines = SOURCE.read_text().splitlines()
    return {number for number, line in enumerate(lines, 1) if error and line.endswith(f"// {error}")}


if __name__ == "__main__":
    sys.exit(main())
