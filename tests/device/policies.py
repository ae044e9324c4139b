"""Try the policies on the GPU's driver: python tests/device/policies.py [--driver sim] [--jobs N]

Each attack of tests/integration/test_policy.py runs without a policy, where the driver must accept it (or say why
not), and under `grading`, where it must return CUDA_ERROR_NOT_PERMITTED without effect and leave a decision. Each
honest call must return the same with the policy as without. Exits with 1 if one of them does not.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # run as a script, not as a module of tests/

from benchguard.codegen.headers import find_headers
from benchguard.shim.driver import discover
from tests.integration.test_policy import ATTACKS, GPU_ATTACKS, HONEST, HONEST_BEFORE_TIMING

PROGRAM = ROOT / "tests" / "integration" / "programs" / "policy_calls.c"


class Run(NamedTuple):
    said: str
    decisions: list[str]


class Trial(NamedTuple):
    call: str
    phase: str
    is_right: bool
    text: str


def run(words: list[str], policy: str | None, driver: str, log: Path) -> Run:
    command = [sys.executable, "-m", "benchguard", "-q", "--driver", driver, "--log", str(log)]
    command += ["--policy", policy, "--", *words] if policy else ["--", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=200)
    lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    rules = [line["rule"] for line in lines if line["kind"] == "decision" and line["action"] == "deny"]
    return Run(ran.stdout.strip() or f"status {ran.returncode}: {ran.stderr.strip()[-200:]}", rules)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--driver", default="auto")
    parser.add_argument("--jobs", type=int, default=4)
    options = parser.parse_args()
    driver = discover(options.driver, api="cuda")
    if driver.is_sim and options.driver == "auto":
        print("policies.py: SKIPPED: this machine has no GPU", file=sys.stderr)
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = str(folder / "policy_calls")
        library = folder / "libcuda.so"
        library.symlink_to(driver.path)
        include = f"-I{find_headers().folder}"
        subprocess.run(
            ["cc", "-O1", include, str(PROGRAM), "-o", program, f"-L{folder}", "-lcuda", "-ldl"], check=True
        )

        attacks = ATTACKS if driver.is_sim else {**ATTACKS, **GPU_ATTACKS}

        def attack(call: str) -> Trial:
            free = run([program, call], None, options.driver, folder / f"{call}-free.audit.jsonl")
            held = run([program, call], "grading", options.driver, folder / f"{call}-held.audit.jsonl")
            is_right = held == Run("800 0", [attacks[call]])
            return Trial(call, "timing", is_right, f"alone {free.said}; grading {held.said} {held.decisions}")

        def honest(phase: str) -> Callable[[str], Trial]:
            def trial(call: str) -> Trial:
                words = [program, call, phase]
                free = run(words, None, options.driver, folder / f"{call}-{phase}-free.audit.jsonl")
                held = run(words, "grading", options.driver, folder / f"{call}-{phase}-held.audit.jsonl")
                return Trial(
                    call, phase, free == held, f"alone {free.said}; grading {held.said} {held.decisions}"
                )

            return trial

        with ThreadPoolExecutor(options.jobs) as pool:
            trials = [
                *pool.map(attack, attacks),
                *pool.map(honest("timing"), HONEST),
                *pool.map(honest("setup"), HONEST_BEFORE_TIMING),
            ]
    for each in trials:
        print(f"{each.call:24} {each.phase:8} {'right' if each.is_right else 'WRONG':6} {each.text}")
    wrong = sum(not each.is_right for each in trials)
    print(f"{len(trials)} calls, {wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
