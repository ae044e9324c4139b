"""Measure the extra nanoseconds per driver call under the shim, side by side in one run.

    python tests/bench/overhead/run.py [null|null-hip|sim|auto] [--policy-rules N | --gpu-time] [--json FILE]

With --policy-rules, runs without a policy and runs under one of N rules take turns; no rule mentions the timed calls.
With --gpu-time, runs without and with that option take turns.

`null` is a driver that does nothing, so that only the shim is timed; `null-hip` is the same for HIP. `sim` and `auto`
time `cuLaunchKernel` on the CPU driver and on this machine's driver.
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
sys.path.insert(0, str(HERE.parents[2]))  # run as a script, from anywhere

from benchguard.codegen.headers import find_headers
from benchguard.shim.driver import discover

NULL_DRIVERS = {
    "null": ("null_driver.c", "libcuda.so.1"),
    "null-hip": ("null_hip_driver.c", "libamdhip64.so.5"),
}
ROUNDS = 4
"""Runs of each side of a comparison."""

TARGETS = {"passed": 1.0, "recorded": 25.0, "repeated": 25.0, "launch": 60.0}


@dataclass(frozen=True)
class Overhead:
    """Results for one kind of call, in nanoseconds per call; medians over bursts."""

    kind: str
    direct_ns: float
    through_ns: float
    extra_ns: float
    extra_quartiles_ns: tuple[float, float]
    bursts: int


def compile_c(source: str, output: Path, *flags: str) -> Path:
    include = find_headers().folder
    command = [
        "cc",
        "-std=gnu11",
        "-O2",
        f"-I{include}",
        str(HERE / source),
        "-o",
        str(output),
        *flags,
        "-ldl",
    ]
    subprocess.run(command, check=True)
    return output


def write_policy(path: Path, rules: int) -> None:
    """A policy of `rules` rules about calls that the benchmark does not time."""
    text = 'format = "neutrino-bench/policy/1"\nname = "bench"\n'
    for number in range(rules):
        text += f'\n[[rule]]\nname = "rule {number}"\naction = "deny"\ncall = ["cuInit", "hipInit"]\n'
        text += f'where = {{ library = "*/lib{number}.so" }}\n'
    path.write_text(text)


def measure(driver: str, folder: Path, *options: str) -> list[Overhead]:
    calls = compile_c("calls.c", folder / "calls")
    if driver in NULL_DRIVERS:
        # The file name is not the vendor's, so that `calls` opens it directly, past the dlopen hook.
        source, soname = NULL_DRIVERS[driver]
        path = compile_c(source, folder / "null_driver.so", "-shared", "-fPIC", f"-Wl,-soname,{soname}")
    else:
        path = folder / "driver_under_test.so"
        if not path.exists():
            path.symlink_to(discover(driver).path)
    command = [sys.executable, "-m", "benchguard", "--quiet", "--driver", str(path.resolve())]
    command += [*options, "--log", str(folder / "run.audit.jsonl"), "--force", "--", str(calls), str(path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if result.returncode != 0:
        raise SystemExit(f"run.py: the measured program failed: {result.stderr.strip()}")
    bursts: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for line in result.stdout.splitlines():
        kind, _, direct, _, through = line.split()
        bursts[kind].append((float(direct), float(through)))
    return [summarise(kind, pairs) for kind, pairs in bursts.items()]


def summarise(kind: str, pairs: list[tuple[float, float]]) -> Overhead:
    extra = [through - direct for direct, through in pairs]
    low, middle, high = statistics.quantiles(extra, n=4)
    return Overhead(
        kind,
        statistics.median(direct for direct, _ in pairs),
        statistics.median(through for _, through in pairs),
        middle,
        (low, high),
        len(pairs),
    )


def compare_options(driver: str, rules: int | None, output: Path | None) -> None:
    """Print each kind's medians without and with an option, over ROUNDS alternating runs, and their ratio.

    The option is a policy of `rules` rules, or --gpu-time for None.
    """
    times: dict[tuple[str, bool], list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        policy = Path(folder) / "policy.toml"
        write_policy(policy, rules or 0)
        option = ("--gpu-time",) if rules is None else ("--policy", str(policy))
        for turn in range(2 * ROUNDS):
            has_option = turn % 4 in (1, 2)
            for figure in measure(driver, Path(folder), *(option if has_option else ())):
                times[figure.kind, has_option].append(figure.through_ns)
    label = "--gpu-time" if rules is None else f"{rules} rules"
    print(f"{'call':10} {'without':>10} {label:>10} {'ratio':>8}  ns a call; {ROUNDS} runs each, in turn")
    rows = {}
    for kind in dict.fromkeys(kind for kind, _ in times):
        free, ruled = statistics.median(times[kind, False]), statistics.median(times[kind, True])
        rows[kind] = {"none_ns": times[kind, False], "option_ns": times[kind, True]}
        print(f"{kind:10} {free:10.2f} {ruled:10.2f} {ruled / free:8.3f}")
    if output is not None:
        output.write_text(json.dumps(rows, indent=1))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "driver", nargs="?", default="null", help="null, null-hip, sim, auto or a path (default: null)"
    )
    parser.add_argument(
        "--policy-rules", type=int, metavar="N", help="compare with runs under a policy of N rules"
    )
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    parser.add_argument("--gpu-time", action="store_true", help="compare with runs under --gpu-time")
    options = parser.parse_args()
    if options.policy_rules is not None or options.gpu_time:
        compare_options(options.driver, options.policy_rules, options.json)
        return
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(options.driver, Path(folder))
    print(
        f"{'call':10} {'direct':>10} {'through':>10} {'extra':>10} {'quartiles of extra':>22} {'target':>8}  ns a call"
    )
    for figure in figures:
        low, high = figure.extra_quartiles_ns
        target = TARGETS[figure.kind]
        print(
            f"{figure.kind:10} {figure.direct_ns:10.1f} {figure.through_ns:10.1f} {figure.extra_ns:10.1f}"
            f" {low:10.1f} … {high:9.1f} {target:8.1f}"
        )
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(figure) for figure in figures], indent=1))


if __name__ == "__main__":
    main()
