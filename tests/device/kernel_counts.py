"""Compare the kernels of logs with those of torch.profiler (CUPTI): python tests/device/kernel_counts.py

Each program of `cases.py`, and one with the CUDA runtime linked statically, runs twice: under torch.profiler without
the shim, and observed. Both runs import torch first. Launches by graphs count, those that stream capture took do not.
Exits with 1 if a kernel is missing, or has another count, and with 77 if the machine has no GPU.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # run as a script, from anywhere

from tests.device.cases import ALL, PROGRAMS

NO_GPU = 77
NO_KERNELS = ("Memcpy", "Memset", "Context Sync", "Stream Sync", "Stream Wait", "Event Sync")
"""Names of CUPTI's other records of the device."""
STATIC = "static-runtime"
PRINTED = "kernel counts: "


def work(program: str, arguments: Sequence[str]) -> None:
    import torch

    if program.endswith(".so"):
        if ctypes.CDLL(program).run() != 0:
            raise SystemExit(f"{program} failed")
    else:
        sys.argv = [program, *arguments]
        sys.path.insert(0, str(Path(program).parent))
        try:
            runpy.run_path(program, run_name="__main__")
        except SystemExit as end:
            if end.code:
                raise
    torch.cuda.synchronize()


def profile(program: str, arguments: Sequence[str]) -> None:
    """Run a program and print its kernels by CUPTI."""
    import torch
    from torch.profiler import ProfilerActivity
    from torch.profiler import profile as profiled

    with profiled(activities=[ProfilerActivity.CUDA]) as profiler:
        work(program, arguments)
    names = (
        each.name()
        for each in profiler.profiler.kineto_results.events()
        if each.device_type() == torch.autograd.DeviceType.CUDA
    )
    print(PRINTED + json.dumps(Counter(name for name in names if not name.startswith(NO_KERNELS))))


def run(command: Sequence[str]) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    if ran.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {ran.stderr.strip()[-2000:]}")
    return ran.stdout


def by_cupti(words: Sequence[str]) -> Counter[str]:
    printed = run([sys.executable, __file__, "--profile", *words])
    line = next(line for line in printed.splitlines() if line.startswith(PRINTED))
    return Counter(json.loads(line.removeprefix(PRINTED)))


def by_log(words: Sequence[str], driver: str, folder: Path) -> Counter[str]:
    log, summary = folder / "run.audit.jsonl.zst", folder / "summary.json"
    command = [sys.executable, "-m", "benchguard", "-q", "--driver", driver, "--force", "--log", str(log)]
    run([*command, "--summary", str(summary), "--", sys.executable, __file__, "--work", *words])
    document: dict[str, Any] = json.loads(summary.read_text())
    assert document["complete"], "the log is not complete"
    counts: Counter[str] = Counter()
    for row in document["kernels"]:
        counts[row["name"]] += row["launches"] + row["graph_launches"]
    return +counts


def plain(counts: Counter[str]) -> Counter[str]:
    """By names without spaces and suffixes of numbers, which demanglers write differently."""
    found: Counter[str] = Counter()
    for name, count in counts.items():
        found[re.sub(r"(?<=\d)u?l?\b|\s", "", name)] += count
    return found


def compare(name: str, ours: Counter[str], theirs: Counter[str]) -> bool:
    """Print both; whether they are equal."""
    ours, theirs = plain(ours), plain(theirs)
    is_equal = bool(theirs) and ours == theirs
    print(
        f"{name}: {len(theirs)} kernels and {theirs.total()} launches by CUPTI, "
        f"{len(ours)} and {ours.total()} in the log: {'equal' if is_equal else 'DIFFERENT'}"
    )
    for kernel in sorted(key for key in {*ours, *theirs} if ours[key] != theirs[key]):
        print(f"  CUPTI {theirs[kernel]}, log {ours[kernel]}: {kernel}")
    return is_equal


def static_runtime(folder: Path) -> Path | None:
    compiler = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not Path(compiler).exists():
        return None
    library = folder / "static_runtime.so"
    options = ["-O2", "-arch=native", "-cudart=static", "-shared", "-Xcompiler", "-fPIC"]
    run([compiler, *options, str(PROGRAMS / "static_runtime.cu"), "-o", str(library)])
    return library


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--driver", default="auto")
    parser.add_argument("--profile", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.profile or options.work:
        (profile if options.profile else work)(options.words[0], options.words[1:])
        return 0
    if not Path("/dev/nvidiactl").exists():
        print("kernel_counts.py: SKIPPED: this machine has no NVIDIA GPU (/dev/nvidiactl)", file=sys.stderr)
        return NO_GPU
    folder = Path(tempfile.mkdtemp(prefix="kernel-counts-"))
    programs = {each.name: [str(each.script), *each.arguments] for each in ALL if not each.missing()}
    library = static_runtime(folder)
    if library is not None:
        programs[STATIC] = [str(library)]
    for name in ({each.name for each in ALL} | {STATIC}) - set(programs):
        print(f"{name}: SKIPPED: {'no nvcc' if name == STATIC else 'a package is not installed'}")
    right = [is_equal(name, words, options.driver, folder) for name, words in programs.items()]
    return 0 if right and all(right) else 1


def is_equal(name: str, words: Sequence[str], driver: str, folder: Path) -> bool:
    """Run a program under both, and print its line. A failure does not end the other programs."""
    try:
        return compare(name, by_log(words, driver, folder), by_cupti(words))
    except RuntimeError as error:
        print(f"{name}: FAILED: {error}")
        return False


if __name__ == "__main__":
    sys.exit(main())
