"""Measure what the audit log of many launches costs, beside the untraced program, in turns.

    python tests/bench/log/run.py [--driver null|sim] [--launches N] [--turns N] [--rounds N]

The null driver does nothing, so the program launches as fast as it can; sim is the CPU driver, which runs the kernel: a
loop of --turns turns in 1024 threads.
Columns: seconds of the launch loop, seconds of the whole command, bytes of the log, lost records, largest resident
memory of the supervisor's process, CPU seconds of reading and checking the log. The last lines compare the smallest
time of each form with that of the untraced program.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT))  # run as a script, from anywhere

from benchguard.audit.log import LogError, checked_lines
from benchguard.codegen.headers import find_headers
from benchguard.toolchain.paths import SIM
from tests.bench.log.memory import ResidentMemory

UNTRACED = "untraced"
FORMS = {UNTRACED: "", "json": "run.audit.jsonl", "compact": "run.audit.jsonl.zst"}


@dataclass(frozen=True)
class Turn:
    loop: float
    whole: float


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


def measure(form: str, program: list[str], folder: Path, driver: Path) -> Turn:
    log = folder / (FORMS[form] or "none")
    words = program
    if form != UNTRACED:
        observe = [sys.executable, "-m", "benchguard", "--quiet", "--driver", str(driver), "--force"]
        words = [*observe, "--log", str(log), "--", *words]
    environment = {
        **os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "LD_LIBRARY_PATH": str(driver.parent)
    }  # fmt: skip
    begin = time.monotonic()
    process = subprocess.Popen(
        words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    memory = ResidentMemory(process.pid)
    memory.start()
    output, errors = process.communicate()
    whole = time.monotonic() - begin
    if process.returncode != 0:
        raise SystemExit(f"run.py: the measured program failed: {errors.strip()}")
    turn = Turn(float(output), whole)
    columns = f"{form:9} {turn.loop:8.2f} {whole:8.2f}"
    if form != UNTRACED:
        begin = time.process_time()
        lost = losses(log)
        read = time.process_time() - begin
        columns += f" {log.stat().st_size:14,} {lost:>24} {memory.mib:8.0f} {read:8.2f}"
    print(columns, flush=True)
    return turn


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--driver", choices=("null", "sim"), default="null")
    parser.add_argument("--launches", type=int, default=1_000_000, metavar="N")
    parser.add_argument("--turns", type=int, default=0, metavar="N")
    parser.add_argument("--rounds", type=int, default=1, metavar="N")
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=list(FORMS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.driver == "sim":
            driver = SIM
        else:
            driver = compile_c(
                HERE.parent / "overhead" / "null_driver.c",
                folder / "libcuda.so.1",
                "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-ldl",
            )  # fmt: skip
        program = compile_c(HERE / "launches.c", folder / "launches", str(driver))
        print(
            f"{'form':9} {'loop s':>8} {'whole s':>8} {'log bytes':>14} {'lost':>24} {'RSS MiB':>8} {'read CPU':>8}"
        )
        first = [
            sys.executable,
            "-m",
            "benchguard",
            "-q",
            "--driver",
            str(driver),
            "--log",
            str(folder / "first"),
        ]
        subprocess.run(
            [*first, "--", "true"], check=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
        )  # builds the shim
        command = [str(program), str(options.launches), str(options.turns)]
        turns: dict[str, list[Turn]] = {form: [] for form in options.forms}
        for turn in range(options.rounds):
            for form in options.forms if turn % 2 == 0 else reversed(options.forms):
                turns[form].append(measure(form, command, folder, driver))
        print(f"load of the machine at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        if UNTRACED in turns:
            alone = min(each.whole for each in turns[UNTRACED])
            for form, each in turns.items():
                if form != UNTRACED:
                    loop = min(turn.loop for turn in each) / min(turn.loop for turn in turns[UNTRACED])
                    whole = min(turn.whole for turn in each)
                    print(
                        f"{form}: loop {loop:.2f} times the untraced one, command {whole / alone:.2f} times"
                    )


if __name__ == "__main__":
    main()
