"""Compare texture and surface accesses of the GPU and of the CPU driver bit by bit: python tests/device/textures.py

Prints one line for each case that differs, with the first places. Keeps the results of both under $OUT if that is set.
Prints a line and skips on a machine without a GPU. Exits with 1 if an unfiltered result differs in a bit, or a filtered
one by more than a step of the weights.
"""

from __future__ import annotations

import json
import math
import os
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run as a script, not as a module of tests/

from benchguard.shim.driver import discover
from tests.corpus.driver import ROOT, SIM
from tests.device.compare import no_gpu
from tests.support.texture_cases import CASES, STEP, Case, elements, places_of

TIMEOUT = 300
"""Time limit per driver in seconds."""
SHOWN = 3
"""Differing places that are printed of a case."""


@dataclass
class Difference:
    """Differences of one case. `worst` is in steps of a weight, for filtered results."""

    case: Case
    places: list[str] = field(default_factory=list)
    words: int = 0
    worst: float = 0.0

    @property
    def is_problem(self) -> bool:
        return bool(self.words) and (not self.case.is_filtered or self.worst > 1.0)

    def __str__(self) -> str:
        kind = "PROBLEM" if self.is_problem else "differs"
        steps = f", at most {self.worst:.3g} steps" if self.case.is_filtered else ""
        return "\n".join([f"{kind}: {self.case.name}: {self.words} words{steps}", *self.places[:SHOWN]])


def range_of(case: Case) -> float:
    """The largest difference between two elements, as the texture returns them."""
    values = [float(value) for value in elements(case, 4096)]
    scale = 1.0 if case.reads_integers or case.format in (0x10, 0x20) else max(map(abs, values))
    return (max(values) - min(values)) / scale


def compare_case(case: Case, gpu: str, sim: str) -> Difference:
    difference = Difference(case)
    if gpu.startswith("error") or sim.startswith("error") or len(gpu) != len(sim):
        if gpu != sim:
            difference.words, difference.worst = 1, math.inf
            difference.places.append(f"  GPU: {gpu[:100]}; CPU driver: {sim[:100]}")
        return difference
    ours, theirs = bytes.fromhex(sim), bytes.fromhex(gpu)
    is_stored = case.instruction.startswith("sust")
    places = [] if is_stored else places_of(case)
    letter = "I" if case.reads_integers or is_stored or case.instruction.startswith("suld") else "f"
    for at in range(0, len(ours) - 3, 4):
        if ours[at : at + 4] == theirs[at : at + 4]:
            continue
        (one,), (other,) = (
            struct.unpack(letter, ours[at : at + 4]),
            struct.unpack(letter, theirs[at : at + 4]),
        )
        difference.words += 1
        if case.is_filtered:
            steps = abs(one - other) / (range_of(case) * STEP)
            difference.worst = max(difference.worst, math.inf if math.isnan(steps) else steps)
        where = f"byte {at}" if is_stored else f"{places[at // 16]} channel {at // 4 % 4}"
        difference.places.append(f"  {where}: GPU {other!r}, CPU driver {one!r}")
    return difference


def compare_results(gpu: dict[str, str], sim: dict[str, str]) -> list[Difference]:
    """The differences of all cases that have any."""
    compared = (compare_case(case, gpu[case.name], sim[case.name]) for case in CASES)
    return [difference for difference in compared if difference.words]


def results_of(path: Path, file: Path) -> dict[str, str]:
    """Run all cases in a process of their own: a driver reads its environment once."""
    command = [sys.executable, "-m", "tests.support.texture_cases", str(path), str(file)]
    subprocess.run(command, check=True, timeout=TIMEOUT, cwd=ROOT)
    results: dict[str, str] = json.loads(file.read_text())
    return results


def main() -> int:
    reason = no_gpu()
    if reason is not None:
        print(f"textures: skipped: {reason}; run it on a machine with an NVIDIA GPU")
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(os.environ.get("OUT") or scratch)
        gpu = results_of(discover("auto", api="cuda").path, folder / "textures-gpu.json")
        sim = results_of(SIM, folder / "textures-sim.json")
        differences = compare_results(gpu, sim)
        problems = sum(difference.is_problem for difference in differences)
        lines = [*map(str, differences)]
        lines.append(f"{len(CASES)} cases, {len(differences)} differ in bits, {problems} problems")
        (folder / "textures.txt").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))
    return int(problems != 0)


if __name__ == "__main__":
    sys.exit(main())
