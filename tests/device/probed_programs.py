"""Unmodified programs of nvcc, NVRTC, Triton and numba under each engine: python tests/device/probed_programs.py

Prints a table: for each program and engine the kernels that were probed and the traces, whether the output equals that
of the run without probes, and the costs of the first launch and of later ones, as the program sees them. A second run
with the same cache shows the cost of a first launch whose engine has run before. Pages of block-times are kept in $OUT.
Exits with 1 if an output differs, or if no kernel of a program was probed. `--driver sim` uses the CPU driver.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # run as a script, not as a module of tests/

from benchguard.shim.driver import discover
from tests.device.cases import is_installed

PROGRAMS = Path(__file__).parent / "probed"
ENGINES = ("count", "block-times", "memory", "bounds")
NEEDS = {
    "nvcc": (),
    "nvcc --conditional": (),
    "nvrtc": (),
    "nvrtc --graph": (),
    "triton": ("triton", "torch"),
    "numba": ("numba_cuda",),
    "numba --driver-link": ("numba_cuda",),
}
COST = re.compile(r"cost: first ([\d.]+) later ([\d.]+)")
NO_GPU = 77


@dataclass(frozen=True)
class Run:
    status: int
    output: str
    first_us: float
    later_us: float
    said: str


def run(command: list[str], driver: str, later: int, out: Path, engine: str = "") -> Run:
    """Run a program, under an engine if one is named, else under `observe`, which uses the same driver."""
    words = ["probe", engine, "--out", str(out), "--cache", str(out.parent / "cache")]
    if not engine:
        words = ["observe", "-q", "--log", str(out / "audit.jsonl")]
    done = subprocess.run(
        [sys.executable, "-m", "benchguard", *words, "--driver", driver, "--", *command],
        env={**os.environ, "PYTHONPATH": str(ROOT), "LATER_LAUNCHES": str(later)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    found = COST.search(done.stderr)
    first, after = (float(found[1]), float(found[2])) if found else (0.0, 0.0)
    return Run(done.returncode, done.stdout, first, after, done.stderr)


def command_of(name: str, folder: Path) -> list[str]:
    """The words that start a program; none if the machine lacks something."""
    if not all(is_installed(module) for module in NEEDS[name]):
        return []
    program, *words = name.split()
    if program != "nvcc":
        return [sys.executable, str(PROGRAMS / f"{program}_saxpy.py"), *words]
    if shutil.which("nvcc") is None:
        return []
    compiler = ["nvcc", "-O2", "-cudart=shared", "-arch=sm_90" if is_gpu() else "-arch=compute_75"]
    subprocess.run([*compiler, str(PROGRAMS / "nvcc_saxpy.cu"), "-o", str(folder / "nvcc")], check=True)
    return [str(folder / "nvcc"), *words]


def is_gpu() -> bool:
    return not discover("auto", api="cuda").is_sim


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NEEDS)} (default: all)")
    parser.add_argument("--driver", default="auto")
    parser.add_argument("--later", type=int, default=200, help="launches after the first (default: 200)")
    options = parser.parse_args()
    if options.driver == "auto" and not is_gpu():
        print("SKIPPED: no GPU here", file=sys.stderr)
        return NO_GPU
    failed = 0
    print(
        "| program | engine | kernels | traces | same output | first ms | later us |\n| - | - | - | - | - | - | - |"
    )
    for name in options.names or NEEDS:
        with tempfile.TemporaryDirectory(prefix="probed-") as scratch:
            folder = Path(scratch)
            command = command_of(name, folder)
            if not command:
                print(f"| {name} | not installed |", flush=True)
                continue
            plain = run(command, options.driver, options.later, folder)
            if plain.status:
                print(
                    f"| {name} | cannot run: status {plain.status}: {plain.said.strip()[-400:]} |", flush=True
                )
                failed += 1
                continue
            show(name, "none", None, plain, "")
            for engine in ENGINES:
                out = folder / engine
                failed += not compare(
                    name, engine, out, plain, run(command, options.driver, options.later, out, engine)
                )
                keep_pages(name, out)
            again = folder / "again"
            failed += not compare(
                name,
                "count, cached",
                again,
                plain,
                run(command, options.driver, options.later, again, "count"),
            )
    return int(failed > 0)


def compare(name: str, engine: str, out: Path, plain: Run, probed: Run) -> bool:
    lines = [json.loads(line) for line in (out / "audit.jsonl").read_text().splitlines()]
    decisions = [each for each in lines if each["kind"] == "probe"]
    traces = out / "traces.jsonl"
    count = len(traces.read_text().splitlines()) if traces.exists() else 0
    same = (probed.status, probed.output) == (plain.status, plain.output)
    kernels = sum(each["outcome"] == "probed" for each in decisions)
    show(name, engine, (kernels, count), probed, str(same))
    for each in decisions:
        if each["outcome"] != "probed":
            print(f"  {each['name']}: {each['outcome']}: {each['reason']}")
    if not same:
        print(
            f"  status {probed.status}, output {probed.output!r} instead of {plain.output!r}\n{probed.said[-600:]}"
        )
    if engine == "bounds" and not re.search(r"no violation$", probed.said, re.M):
        print(f"  {probed.said[-600:]}")
    return same and kernels > 0


def show(name: str, engine: str, counts: tuple[int, int] | None, ran: Run, same: str) -> None:
    kernels, traces = counts or ("", "")
    print(
        f"| {name} | {engine} | {kernels} | {traces} | {same} | {ran.first_us / 1000:.2f} | {ran.later_us:.1f} |",
        flush=True,
    )


def keep_pages(name: str, out: Path) -> None:
    """The first page of block-times, for a look at it."""
    pages = sorted(out.glob("blocks-*.html"))
    if pages and os.environ.get("OUT"):
        shutil.copy(
            pages[0], Path(os.environ["OUT"]) / f"{name.rsplit(maxsplit=1)[-1].strip('-')}-blocks.html"
        )


if __name__ == "__main__":
    sys.exit(main())
