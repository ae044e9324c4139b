"""Measure the PTX engine: lane-instructions per second, and the slowdown against the same loop in C.

    python tests/bench/sim/run.py [KERNEL] [--rounds N] [--json FILE]

A lane-instruction is one instruction of one thread. The engine is compiled as the CPU driver compiles it. Each round
runs each kernel on one core, on all cores and as a plain C loop on one core, in turn, and checks that all three
computed the same. The figures are medians over the rounds, ratios are taken within a round. The figure for one
core uses processor time. The figure for all cores uses wall-clock time and needs an idle machine: "busy" is the number
of cores that the run got.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT))  # run as a script, from anywhere

from benchguard.toolchain.compiler import COMPILE_FLAGS


@dataclass(frozen=True)
class Throughput:
    """Results for one kernel: millions of lane-instructions per second, and the slowdown against C on one core."""

    kernel: str
    one_core: float
    one_core_quartiles: tuple[float, float]
    all_cores: float
    all_cores_quartiles: tuple[float, float]
    busy_cores: float
    slower_than_c: float
    rounds: int


def compile_bench(folder: Path, *flags: str) -> Path:
    engine, program = ROOT / "sim" / "ptx", folder / "bench"
    plain = folder / "plain.o"
    # The engine selects its loops for this processor at run time; the C loop needs -march=native for the same.
    run_compiler("-march=native", "-c", str(HERE / "plain.c"), "-o", str(plain))
    sources = [str(path) for path in (HERE / "bench.c", *sorted(engine.glob("*.c")))]
    run_compiler(*flags, f"-I{engine.parent}", *sources, str(plain), "-o", str(program), "-lm", "-pthread")
    return program


def run_compiler(*arguments: str) -> None:
    subprocess.run(["cc", *COMPILE_FLAGS, f"-I{HERE}", *arguments], check=True)


def measure(program: Path, workers: int, rounds: int, kernel: str | None) -> list[Throughput]:
    command = [
        str(program),
        str(HERE / "kernels.ptx"),
        str(workers),
        str(rounds),
        *([kernel] if kernel else []),
    ]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if result.returncode != 0:
        raise SystemExit("run.py: the measured program failed; its output is above")
    actual: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    for line in result.stdout.splitlines():
        name, *words = line.split()
        instructions, one, several, plain, busy = map(float, words)
        actual[name].append((instructions / one * 1e3, instructions / several * 1e3, busy, one / plain))
    if not actual:
        raise SystemExit(f"run.py: unknown kernel {kernel}")
    return [summarise(name, rows) for name, rows in actual.items()]


def summarise(name: str, rows: list[tuple[float, ...]]) -> Throughput:
    one, several, busy, ratio = (sorted(column) for column in zip(*rows, strict=True))
    return Throughput(
        name,
        statistics.median(one),
        quartiles(one),
        statistics.median(several),
        quartiles(several),
        statistics.median(busy),
        statistics.median(ratio),
        len(rows),
    )


def quartiles(values: list[float]) -> tuple[float, float]:
    if len(values) < 2:
        return values[0], values[0]
    low, _, high = statistics.quantiles(values, n=4)
    return low, high


def show(figures: list[Throughput], workers: int) -> None:
    print(
        f"{'kernel':10} {'1 core':>9} {'quartiles':>17}"
        f" {f'{workers} cores':>9} {'quartiles':>17} {'busy':>5} {'1 core/C':>9}"
    )
    for figure in figures:
        (low, high), (all_low, all_high) = figure.one_core_quartiles, figure.all_cores_quartiles
        print(
            f"{figure.kernel:10} {figure.one_core:9.0f} {low:7.0f} … {high:7.0f}"
            f" {figure.all_cores:9.0f} {all_low:7.0f} … {all_high:7.0f}"
            f" {figure.busy_cores:5.1f} {figure.slower_than_c:8.1f}x"
        )
    print(
        f"millions of lane-instructions per second, medians of {figures[0].rounds} rounds; slowdown against C"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kernel", nargs="?", help="run only this kernel (default: all)")
    parser.add_argument("--rounds", type=int, default=11, help="(default: 11)")
    parser.add_argument(
        "--workers", type=int, default=os.cpu_count() or 1, help="host threads for the second figure"
    )
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(compile_bench(Path(folder)), options.workers, options.rounds, options.kernel)
    show(figures, options.workers)
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(figure) for figure in figures], indent=1))


if __name__ == "__main__":
    main()
