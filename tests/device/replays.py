"""Record, replay and time fourteen programs on a GPU: python tests/device/replays.py [NAME...] [--cold flush,remap]

Each program is timed in its own process with a cold cache (event pairs; L2 is written and then read before each),
recorded in another process and replayed in a third. The replay must leave the same memory, byte for byte, and take the
same time. Prints a line and skips on a machine without a GPU. Keeps the table and results under $OUT if that is set.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run as a script, not as a module of tests/

from tests.device.cases import ROOT, is_installed
from tests.device.compare import no_gpu

CAPTURES = Path(__file__).parent / "captures"
TIMEOUT = 240


@dataclass(frozen=True)
class ReplayCase:
    """`select` holds the options of `record` that select the region; empty: the program uses region()."""

    name: str
    file: str
    needs: str
    select: tuple[str, ...] = ()

    @property
    def case(self) -> str:
        return self.name.removeprefix("runtime-")


CASES = (
    *(
        ReplayCase(name, "torch_cases.py", "torch")
        for name in (
            "reduction",
            "softmax",
            "layernorm",
            "compiled",
            "graph",
            "gemm",
            "attention",
            "streams",
            "optimiser",
        )
    ),
    ReplayCase("autotuned", "triton_cases.py", "triton"),
    ReplayCase("raw_kernel", "cupy_cases.py", "cupy"),
    ReplayCase("split_k", "cupy_cases.py", "cupy"),
    ReplayCase("runtime-saxpy", "runtime_cases.cu", "", ("--launches", "2:3")),
    ReplayCase("runtime-cooperative", "runtime_cases.cu", "", ("--kernel", "*shift*:3")),
)


@dataclass
class Row:
    """The result of one case. Times are in microseconds."""

    case: ReplayCase
    skipped: str | None = None
    problems: list[str] = field(default_factory=list)
    inside: float | None = None
    replays: dict[str, dict[str, Any]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    capture_bytes: int = 0

    def median(self, cold: str) -> float | None:
        cases = self.replays.get(cold, {}).get("cases") or [{}]
        return (cases[0].get("time_us") or {}).get("median")


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path}
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=TIMEOUT, check=False, env=environment
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"took more than {TIMEOUT} s")


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    return (done.stderr.strip().splitlines() or ["no message on standard error"])[-1]


def program(case: ReplayCase, folder: Path) -> list[str] | str:
    """The command that runs a case, or the reason why it cannot run."""
    source = CAPTURES / case.file
    if source.suffix == ".py":
        return (
            [sys.executable, str(source), case.case]
            if is_installed(case.needs)
            else f"{case.needs} not installed"
        )
    binary = folder / source.stem
    if not binary.exists():
        compiler = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
        outcome = run([compiler, "-O3", "-arch=native", "-o", str(binary), str(source)])
        if outcome.returncode != 0:
            return f"{source.name} does not compile: {last_line(outcome)}"
    return [str(binary), case.case]


def examine(case: ReplayCase, colds: list[str], folder: Path) -> Row:
    row = Row(case)
    command = program(case, folder)
    if isinstance(command, str):
        row.skipped = command
        return row
    measured = run([*command, "--measure"])
    if measured.returncode != 0:
        row.skipped = f"does not run here by itself either: {last_line(measured)}"
        return row
    row.inside = json.loads(measured.stdout.splitlines()[-1])["median_us"]
    capture = folder / f"{case.name}.ncap"
    bench = [sys.executable, "-m", "benchguard"]
    log = folder / f"{case.name}.audit.jsonl"
    recorded = run(
        [*bench, "record", "-o", str(capture), "--force", "--log", str(log), *case.select, "--", *command]
    )
    if recorded.returncode != 0 or not capture.exists():
        row.problems.append(f"record ended with {recorded.returncode}: {last_line(recorded)}")
        return row
    row.capture_bytes = capture.stat().st_size
    for cold in colds:
        began = time.monotonic()
        outcome = run([*bench, "replay", str(capture), "--cold", cold, "--verify", "--json", "-", "--quiet"])
        row.seconds[cold] = time.monotonic() - began
        try:
            row.replays[cold] = json.loads(outcome.stdout)
        except json.JSONDecodeError:
            row.problems.append(f"replay --cold {cold} ended with {outcome.returncode}: {last_line(outcome)}")
            continue
        if row.replays[cold]["verdict"] != "pass":
            row.problems.append(f"{cold}: {row.replays[cold]['verdict']}: {row.replays[cold]['reason']}")
    return row


def text(row: Row, colds: list[str]) -> str:
    if row.skipped:
        return f"| {row.case.name} | SKIPPED: {row.skipped} |"
    cells = [row.case.name, f"{row.capture_bytes / 2**20:.1f}"]
    verified = {result["verdict"] for result in row.replays.values()}
    cells.append("exact" if verified == {"pass"} else "NO")
    cells.append(f"{row.inside:.2f}")
    for cold in colds:
        median = row.median(cold)
        if median is None or row.inside is None:
            cells += ["-", "-", "-"]
        else:
            cells += [
                f"{median:.2f}",
                f"{median - row.inside:+.2f} ({median / row.inside - 1:+.1%})",
                f"{row.seconds[cold]:.2f}",
            ]
    return "| " + " | ".join(cells) + " |" + "".join(f"\n    {problem}" for problem in row.problems)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    parser.add_argument("--cold", default="flush,remap", help="cache modes of the replays")
    options = parser.parse_args(arguments)
    known = {case.name: case for case in CASES}
    for name in options.names:
        if name not in known:
            parser.error(f"no case {name}; there are {', '.join(known)}")
    reason = no_gpu()
    if reason is not None:
        print(f"replays: skipped: {reason}; run it on a machine with an NVIDIA GPU")
        return 0
    colds = options.cold.split(",")
    lines = [
        "| program | capture MiB | memory | inside, us | "
        + " | ".join(f"{cold}, us | difference | whole replay, s" for cold in colds)
        + " |"
    ]
    print(lines[0], flush=True)
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for case in [known[name] for name in options.names] or CASES:
            row = examine(case, colds, Path(scratch))
            failed += bool(row.problems)
            lines.append(text(row, colds))
            print(lines[-1], flush=True)
            if "OUT" in os.environ:
                Path(os.environ["OUT"], "replays.md").write_text("\n".join(lines) + "\n")
                with Path(os.environ["OUT"], "replays.jsonl").open("a") as file:
                    file.write(json.dumps({"case": case.name, "inside": row.inside, **row.replays}) + "\n")
    print(f"{failed} of {len(lines) - 1} cases failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
