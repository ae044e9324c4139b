"""Measure what the audit log of many launches costs, as JSON lines and compact, in turns.

    python tests/bench/log/run.py [--launches N] [--rounds N]

The driver does nothing, so the program launches as fast as it can. Columns: seconds of the launch loop, seconds of the
whole command, bytes of the log, lost records, seconds of `verify-log`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT))  # run as a script, from anywhere

from benchguard.audit.log import LogError, checked_lines
from benchguard.codegen.headers import find_headers

FORMS = {"json": "run.audit.jsonl", "compact": "run.audit.jsonl.zst"}


def compile_c(source: Path, output: Path, *flags: str) -> Path:
    command = [
        "cc",
        "-std=gnu11",
        "-O2",
        f"-I{find_headers().folder}",
        str(source),
        "-o",
        str(output),
        *flags,
    ]
    subprocess.run(command, check=True)
    return output


def losses(log: Path) -> str:
    try:
        for line, _ in checked_lines(log):
            if line["kind"] == "end":
                return f"{line['dropped']:,} of {line['launches'] + line['dropped']:,}"
    except LogError as error:
        return str(error)
    return "no end line"


def measure(form: str, launches: int, folder: Path, program: Path, driver: Path) -> None:
    log = folder / FORMS[form]
    command = [
        sys.executable,
        "-m",
        "benchguard",
        "--quiet",
        "--driver",
        str(driver),
        "--force",
        "--log",
        str(log),
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    begin = time.monotonic()
    result = subprocess.run(
        [*command, "--", str(program), str(launches)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    whole = time.monotonic() - begin
    if result.returncode != 0:
        raise SystemExit(f"run.py: the measured program failed: {result.stderr.strip()}")
    begin = time.monotonic()
    lost = losses(log)
    read = time.monotonic() - begin
    print(
        f"{form:8} {float(result.stdout):8.2f} {whole:8.2f} {log.stat().st_size:14,} {lost:>24} {read:8.2f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--launches", type=int, default=1_000_000, metavar="N")
    parser.add_argument("--rounds", type=int, default=1, metavar="N")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        driver = compile_c(
            HERE.parent / "overhead" / "null_driver.c",
            folder / "libcuda.so.1",
            "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-ldl",
        )  # fmt: skip
        program = compile_c(HERE / "launches.c", folder / "launches", str(driver))
        print(f"{'form':8} {'loop s':>8} {'whole s':>8} {'log bytes':>14} {'lost':>24} {'read s':>8}")
        for turn in range(options.rounds):
            for form in FORMS if turn % 2 == 0 else reversed(FORMS):
                measure(form, options.launches, folder, program, driver)


if __name__ == "__main__":
    main()
