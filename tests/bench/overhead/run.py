"""Measure the extra nanoseconds per driver call under the shim, side by side in one run.

    python tests/bench/overhead/run.py [null|null-hip|sim|auto] [--policy-rules N | --gpu-time] [--json FILE]

With --policy-rules, runs without a policy and runs under one of N rules take turns; no rule mentions the timed calls.
With --gpu-time, runs without and with that option take turns. Otherwise, two reads of the time stamp counter are timed
in the same run, since each record of a call has two.

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

GOALS = {"recorded": 1.4, "repeated": 1.4, "launch": 2.5}
"""Extra time of a call, by the time of two reads of the time stamp counter in the same run."""


@dataclass(frozen=True)
class Overhead:
    """Results for one kind of call, in nanoseconds per call; medians over bursts.

    `reads_ns`: two reads of the time stamp counter, timed behind each burst. `ratio`: the extra time by that.
    """

    kind: str
    direct_ns: float
    through_ns: float
    extra_ns: float
    extra_quartiles_ns: tuple[float, float]
    reads_ns: float
    ratio: float
    ratio_quartiles: tuple[float, float]
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
        source, soname = NULL_DRIVERS[driver]
        path = compile_c(source, folder / "null_driver.so", "-shared", "-fPIC", f"-Wl,-soname,{soname}")
    else:
        path = discover(driver).path.resolve()
    command = [sys.executable, "-m", "benchguard", "--quiet", "--driver", str(path)]
    command += [*options, "--log", str(folder / "run.audit.jsonl"), "--force", "--", str(calls), str(path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if result.returncode != 0:
        raise SystemExit(f"run.py: the measured program failed: {result.stderr.strip()}")
    bursts: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for line in result.stdout.splitlines():
        kind, _, direct, _, through, _, reads = line.split()
        bursts[kind].append((float(direct), float(through), float(reads)))
    return [summarise(kind, rows) for kind, rows in bursts.items()]


def summarise(kind: str, rows: list[tuple[float, float, float]]) -> Overhead:
    extra = statistics.quantiles([through - direct for direct, through, _ in rows], n=4)
    ratio = statistics.quantiles([(through - direct) / reads for direct, through, reads in rows], n=4)
    return Overhead(
        kind,
        direct_ns=statistics.median(direct for direct, _, _ in rows),
        through_ns=statistics.median(through for _, through, _ in rows),
        extra_ns=extra[1],
        extra_quartiles_ns=(extra[0], extra[2]),
        reads_ns=statistics.median(reads for _, _, reads in rows),
        ratio=ratio[1],
        ratio_quartiles=(ratio[0], ratio[2]),
        bursts=len(rows),
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
    print("ns a call; `by reads`: extra by two reads of the time stamp counter; quartiles in brackets")
    print(
        f"{'call':10}{'direct':>8}{'through':>9}{'extra':>8}{'':17}{'2 reads':>9}{'by reads':>10}{'':16}{'goal':>5}"
    )
    for figure in figures:
        low, high = figure.extra_quartiles_ns
        least, most = figure.ratio_quartiles
        extra, ratio = f"({low:.1f} to {high:.1f})", f"({least:.2f} to {most:.2f})"
        goal = f"{GOALS[figure.kind]:.1f}" if figure.kind in GOALS else "-"
        print(
            f"{figure.kind:10}{figure.direct_ns:8.1f}{figure.through_ns:9.1f}{figure.extra_ns:8.1f} {extra:16}"
            f"{figure.reads_ns:9.1f}{figure.ratio:10.2f} {ratio:15}{goal:>5}"
        )
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(figure) for figure in figures], indent=1))


if __name__ == "__main__":
    main()
