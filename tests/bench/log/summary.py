"""Measure the summary of a long log: time and largest resident memory, for a tenth of the lines and for all of them.

    python tests/bench/log/summary.py [--lines N]

The log is compact. Two thirds of its lines are launches of 200 kernels, the others allocate, copy and free. Equal
memory for both lengths shows that the memory is bounded.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))  # run as a script, from anywhere

from benchguard.audit.log import LogWriter
from benchguard.ipc.json_text import json_line
from tests.bench.log.memory import ResidentMemory
from tests.support.log_lines import call, end, launch, session

KERNELS = 200
PLACE = b"1234567891234567"
"""The time in a template, which the time of each line replaces."""


def templates() -> list[bytes]:
    """Lines that repeat: two launches, then one other call."""
    address = 0x7F0000000000
    others = [
        call("cuMemAlloc_v2", time_ns=int(PLACE), dptr=address, bytesize=4096),
        call("cuMemcpyHtoD_v2", time_ns=int(PLACE), dstDevice=address, ByteCount=4096),
        call("cuMemFree_v2", time_ns=int(PLACE), dptr=address),
    ]
    lines = []
    for number in range(KERNELS // 2 * 3):
        is_launch = number % 3 < 2
        name = f"_Z6kernel{number}Pf"
        line = launch(name, None, None, time_ns=int(PLACE)) if is_launch else others[number // 3 % 3]
        lines.append(json_line(line))
    return lines


def write(path: Path, count: int) -> None:
    log, lines = LogWriter(path), templates()
    log.write(json_line(session()))
    for number in range(count - 2):
        log.write(lines[number % len(lines)].replace(PLACE, b"%d" % (1000 * number)))
    log.write_last(json_line(end(time_ns=1000 * count)))
    log.close()


def measure(path: Path, count: int) -> None:
    begin = time.monotonic()
    write(path, count)
    written = time.monotonic() - begin
    begin = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "benchguard", "trace", "--summary", str(path)],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    memory = ResidentMemory(process.pid)
    memory.start()
    if process.wait() != 0:
        raise SystemExit("summary.py: the log could not be summarised")
    took = time.monotonic() - begin
    print(
        f"{count:12,} {path.stat().st_size:14,} {written:9.1f} {took:9.1f} {took / count * 1e6:8.2f} {memory.mib:8.0f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lines", type=int, default=10_000_000, metavar="N")
    options = parser.parse_args()
    print(f"{'lines':>12} {'log bytes':>14} {'written s':>9} {'summary s':>9} {'us/line':>8} {'RSS MiB':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for count in (options.lines // 10, options.lines):
            measure(Path(folder) / f"{count}.audit.jsonl.zst", count)
    print(f"load of the machine at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
