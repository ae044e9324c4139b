"""Run the kernel corpus on the GPU and on the CPU driver and compare: python tests/device/corpus.py

Keeps both results and the comparison under $OUT if that is set. Prints a line and skips on a machine without a GPU.
Exits with 1 if an output differs from its reference, or if exact outputs differ between the two.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run as a script, not as a module of tests/

from benchguard.shim.driver import discover
from tests.corpus.compare import Comparison, compare
from tests.corpus.driver import ROOT, SIM
from tests.device.compare import no_gpu

TIMEOUT = 480
"""Time limit per driver in seconds. A GPU's driver compiles every module first."""


def compare_drivers(folder: Path) -> Comparison:
    """Run the GPU first, then the CPU driver, each in its own process with our standard output."""
    documents = []
    for name, path in (("gpu", discover("auto", api="cuda").path), ("sim", SIM)):
        results_file = folder / f"corpus-{name}.json"
        command = [sys.executable, str(ROOT / "tests" / "corpus" / "run.py"), "--driver", str(path)]
        result = subprocess.run([*command, "--json", str(results_file)], check=False, timeout=TIMEOUT)
        if not results_file.is_file():
            return Comparison([f"the run on {path} ended with {result.returncode} and no results"])
        documents.append(json.loads(results_file.read_text()))
    return compare(documents[0], documents[1])


def main() -> int:
    reason = no_gpu()
    if reason is not None:
        print(f"corpus: skipped: {reason}; run it on a machine with an NVIDIA GPU")
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(os.environ.get("OUT") or scratch)
        result = compare_drivers(folder)
        (folder / "corpus.txt").write_text(f"{result}\n")
    print(result)
    return int(bool(result.problems))


if __name__ == "__main__":
    sys.exit(main())
