"""Measure what observing adds to each call of a program: python tests/device/call_cost.py [--driver sim] [--count N]

The program allocates 1 MiB, copies in, launches a kernel, copies out and frees, 10,000 times. It runs alone, observed
and with --gpu-time, in turns. An eBPF tracer of the CUDA runtime states for the same rounds +0.95 us a launch and
+6.67 us an allocation. On a GPU, exits with 1 if observing adds more than a tenth of that to the median.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path(__file__).parent / "programs" / "rounds.c"
PUBLISHED = {"launch": 950, "allocate": 6670}
"""Nanoseconds that eunomia-bpf's 47-cuda-events adds, by the figures of its own page."""
MODES: dict[str, tuple[str, ...]] = {"alone": (), "observed": (), "gpu time": ("--gpu-time",)}

Times = dict[str, tuple[float, float]]


def run(mode: str, program: Path, count: int, driver: str, log: Path) -> Times:
    """Median and mean nanoseconds of each call."""
    command = [str(program), str(count)]
    if mode != "alone" or driver == "sim":
        command = ["--log", str(log), "--force", "-q", "--driver", driver, *MODES[mode], "--", *command]
        command = [sys.executable, "-m", "benchguard", *command]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    if ran.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {ran.stderr.strip()}")
    rows = [line.split("\t") for line in ran.stdout.splitlines()]
    return {name: (float(median), float(mean)) for name, median, mean in rows}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--driver", default="auto")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    has_gpu = Path("/dev/nvidiactl").exists() and options.driver == "auto"
    if options.driver == "auto" and not has_gpu:
        print("call_cost.py: SKIPPED: this machine has no NVIDIA GPU (/dev/nvidiactl)", file=sys.stderr)
        return 77
    modes = [mode for mode in MODES if mode != "alone" or has_gpu]  # the CPU driver is loaded by the shim
    found: dict[str, list[Times]] = {mode: [] for mode in modes}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = folder / "rounds"
        subprocess.run(["cc", "-O2", str(SOURCE), "-o", str(program), "-ldl"], check=True)
        for _ in range(options.turns):
            for mode in modes:
                found[mode].append(
                    run(mode, program, options.count, options.driver, folder / "run.audit.jsonl")
                )
    print(
        f"{options.count} rounds, {options.turns} turns; nanoseconds: median of the turns' medians (of their means)"
    )
    medians = {
        mode: {call: statistics.median(turn[call][0] for turn in turns) for call in turns[0]}
        for mode, turns in found.items()
    }
    print(f"{'call':10}" + "".join(f"{mode:>24}" for mode in modes))
    for call in medians[modes[0]]:
        means = (statistics.median(turn[call][1] for turn in found[mode]) for mode in modes)
        cells = (f"{medians[mode][call]:.0f} ({mean:.0f})" for mode, mean in zip(modes, means, strict=True))
        print(f"{call:10}" + "".join(f"{cell:>24}" for cell in cells))
    if not has_gpu:
        return 0
    is_cheap = True
    for call, published in PUBLISHED.items():
        added = medians["observed"][call] - medians["alone"][call]
        print(f"observing adds {added:.0f} ns to {call}; the eBPF tracer adds {published} ns")
        is_cheap &= added <= published / 10
    return int(not is_cheap)


if __name__ == "__main__":
    sys.exit(main())
