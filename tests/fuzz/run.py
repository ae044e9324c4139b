"""Fuzz the readers of code images and captures, and the CPU driver's PTX engine.

    python tests/fuzz/run.py ptx --count 1000000
    python tests/fuzz/run.py run --count 100000 --seed 7
    python tests/fuzz/run.py ptx --input build/fuzz/findings/ptx/1-4711

Inputs are derived from checked-in files; a seed and a number always give the same bytes. Targets run under
AddressSanitizer and UndefinedBehaviorSanitizer. A finding is a reported error, leaked memory, or an input that takes
more than a second or more than 3 GB. The inputs of findings are kept. Exits with 1 after a finding.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))  # run as a script, from anywhere

from tests.fuzz.campaign import ENVIRONMENT, Campaign  # noqa: E402
from tests.fuzz.targets import ROOT, TARGETS, FuzzError, build, corpus_of  # noqa: E402


class Display:
    """A status line, updated in place on a terminal; otherwise one line per minute."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.began = time.monotonic()
        self.shown = self.began
        self.terminal = sys.stderr.isatty()

    def __call__(self, outcomes: list[int], findings: int) -> None:
        now = time.monotonic()
        if now - self.shown < (0.5 if self.terminal else 60):
            return
        self.shown = now
        self.write(outcomes, findings, end="" if self.terminal else "\n")

    def write(self, outcomes: list[int], findings: int, end: str = "\n") -> None:
        result, spent = sum(outcomes) + findings, time.monotonic() - self.began
        rate = result / spent if spent > 0 else 0.0
        left = f", {(self.total - result) / rate:.0f} s left" if 0 < result < self.total and rate > 0 else ""
        line = f"{result} of {self.total} inputs, {rate:.0f} a second{left}, {findings} findings"
        print(("\r\033[K" if self.terminal else "") + line, end=end, file=sys.stderr, flush=True)


def reproduce(program: Path, file: Path, seconds: int) -> int:
    """Run the target on one file; the sanitizer's report goes to the terminal."""
    environment = {**os.environ, **ENVIRONMENT, "FUZZ_SECONDS": str(seconds)}
    del environment["FUZZ_SILENT"]
    status = subprocess.run([program, file], env=environment, check=False).returncode
    print("no finding" if status == 0 else f"ended with {status}", file=sys.stderr)
    return 0 if status == 0 else 1


def report(campaign: Campaign, name: str) -> None:
    for kind, count in campaign.kinds.most_common():
        first = next(each for each in campaign.findings if each.kind == kind)
        print(f"\n{count} times: {first.headline}\n  in {first.place}")
        print(f"  python tests/fuzz/run.py {name} --input {first.file}")


def fuzz(name: str, options: argparse.Namespace) -> int:
    program = build(name, options.out)
    if options.input is not None:
        return reproduce(program, options.input, options.seconds)
    folder = options.out / "findings" / name
    campaign = Campaign(
        program,
        corpus_of(TARGETS[name], options.out / f"{name}-corpus"),
        options.seed,
        folder,
        options.seconds,
    )
    display = Display(options.count)
    outcomes = campaign.run(options.first, options.count, options.workers, display)
    display.write(outcomes, len(campaign.findings))
    names = subprocess.run([program, "--outcomes"], capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    print(", ".join(f"{count} {word}" for word, count in zip(names, outcomes, strict=False) if count))
    report(campaign, name)
    return 1 if campaign.findings else 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "target", choices=TARGETS, help="; ".join(f"{n}: {t.what}" for n, t in TARGETS.items())
    )
    parser.add_argument("--count", type=int, default=100_000, help="number of inputs (default: 100000)")
    parser.add_argument("--first", type=int, default=0, help="number of the first input (default: 0)")
    parser.add_argument("--seed", type=int, default=1, help="(default: 1)")
    parser.add_argument(
        "--workers", type=int, default=os.cpu_count() or 1, help="processes (default: one per core)"
    )
    parser.add_argument(
        "--seconds", type=int, default=1, help="limit of processor time per input (default: 1)"
    )
    parser.add_argument("--input", type=Path, help="run the target on this file only")
    parser.add_argument(
        "--out",
        type=Path,
        default=ROOT / "build" / "fuzz",
        help="folder for programs and findings (default: build/fuzz)",
    )
    options = parser.parse_args()
    try:
        return fuzz(options.target, options)
    except (FuzzError, RuntimeError) as error:
        print(f"run.py: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
