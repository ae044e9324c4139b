"""Grade mixed submissions as one batch, again with a SIGKILL halfway, and a few of them in a loop over `grade`.

    python tests/device/mixed.py [--runs loop batch killed] [--count 100] [--parallel 8] [--loop 14] [--timeout 20]
    python tests/device/mixed.py --runs --gpus 1 2 --count 60       # the same batch on one GPU, then on two
    python tests/device/mixed.py --runs killed --engine ray        # Ray has one grade at a time on each GPU

The submissions are honest, wrong, cheating, crashing and hanging (tests/support/mixed.py). Each must have its verdict,
and exactly one line of results. Prints the grades a minute of each run. The status is 1 if one differs.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # run as a script, not as a module of tests/

from benchguard.fleet.job import SUFFIXES, Source
from benchguard.gpu.identity import visible_gpus
from tests.support.mixed import KINDS, PROBLEM, mixed

BENCH = (sys.executable, "-m", "benchguard")
HALFWAY_SECONDS = 300.0
RUNS = ("loop", "batch", "killed")


@dataclass
class Run:
    """How a set is graded."""

    folder: Path
    submissions: Mapping[str, Source]
    options: tuple[str, ...]
    parallel: int
    engine: str = "local"
    faults: list[str] = field(default_factory=list)

    def batch(self, name: str, kill: bool = False, environment: Mapping[str, str] | None = None) -> float:
        """Grade all as a batch; return the seconds. With `kill`, SIGKILL it halfway, and start it again."""
        lines, results = self.folder / "submissions.jsonl", self.folder / f"{name}.jsonl"
        lines.write_text(
            "".join(
                json.dumps({"id": each, "source": source.source, "language": source.language}) + "\n"
                for each, source in self.submissions.items()
            ),
            encoding="utf-8",
        )
        words = [*BENCH, "batch", "--problem", str(PROBLEM), "--results", str(results), *self.options]
        words += [
            "--engine",
            self.engine,
            *(["--parallel", str(self.parallel)] * (self.engine == "local")),
            str(lines),
        ]
        where = {**os.environ, **(environment or {})}
        began = time.monotonic()
        kept = b""
        if kill:
            kept = kill_halfway(words, where, results, len(self.submissions) // 2)
            print(
                f"{name}: killed with {kept.count(10)} lines after {time.monotonic() - began:.0f} s",
                flush=True,
            )
        ended = subprocess.run(words, cwd=ROOT, env=where, check=False)
        seconds = time.monotonic() - began
        if ended.returncode != 0:
            self.faults.append(f"{name}: status {ended.returncode}")
        if not results.read_bytes().startswith(kept[: kept.rfind(b"\n") + 1]):
            self.faults.append(f"{name}: lines from before the SIGKILL were changed")
        self.check(name, results)
        self.report(name, len(self.submissions), seconds)
        return seconds

    def check(self, name: str, results: Path) -> None:
        rows = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
        count = Counter(str(row["id"]) for row in rows)
        self.faults += [
            f"{name}: {each} has {count[each]} lines" for each in self.submissions if count[each] != 1
        ]
        for row in rows:
            self.check_verdict(name, row["id"], row["verdict"], row["trouble"] or row["result"]["reason"])
        verdicts = Counter(str(row["verdict"]) for row in rows)
        print(f"{name}: {', '.join(f'{n} {verdict}' for verdict, n in sorted(verdicts.items()))}", flush=True)

    def check_verdict(self, name: str, submission: str, verdict: object, reason: str) -> None:
        expected = KINDS[submission.partition("-")[0]][0]
        if verdict != expected:
            self.faults.append(f"{name}: {submission} is {verdict} instead of {expected}: {reason[:300]}")

    def loop(self, count: int) -> None:
        """Grade `count` submissions, one `grade` after the other."""
        began = time.monotonic()
        for name, source in list(self.submissions.items())[:count]:
            path = self.folder / f"{name}{SUFFIXES[source.language]}"
            path.write_text(source.source, encoding="utf-8")
            words = [*BENCH, "grade", str(PROBLEM), str(path), *self.options, "--json", "-", "--quiet"]
            ended = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
            try:
                result = json.loads(ended.stdout)
                self.check_verdict("loop", name, result["verdict"], result["reason"])
            except ValueError:
                self.faults.append(f"loop: {name} has no result: {ended.stderr[-300:]}")
        self.report("loop", count, time.monotonic() - began)

    def on_gpus(self, numbers: Sequence[int]) -> None:
        """A batch on each number of GPUs, and their ratios."""
        gpus, times = visible_gpus(os.environ), dict[int, float]()
        for number in numbers:
            if number > len(gpus):
                self.faults.append(f"{number} GPUs: this machine has {len(gpus)}")
                continue
            shown = {"CUDA_VISIBLE_DEVICES": ",".join(gpus[:number])}
            times[number] = self.batch(f"{number} GPUs", environment=shown)
        for number, seconds in times.items():
            print(
                f"{number} GPUs are {next(iter(times.values())) / seconds:.2f} times as fast as the first number"
            )

    def report(self, name: str, count: int, seconds: float) -> None:
        print(f"{name}: {count} grades in {seconds:.1f} s, {60 * count / seconds:.1f} a minute", flush=True)


def kill_halfway(words: list[str], environment: Mapping[str, str], results: Path, half: int) -> bytes:
    """SIGKILL a batch once `half` lines are there; return what it left."""
    batch = subprocess.Popen(words, cwd=ROOT, env=dict(environment))
    until = time.monotonic() + HALFWAY_SECONDS
    while batch.poll() is None and time.monotonic() < until:
        if results.exists() and results.read_bytes().count(b"\n") >= half:
            break
        time.sleep(0.05)
    batch.send_signal(signal.SIGKILL)
    batch.wait()
    return results.read_bytes()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", nargs="*", choices=RUNS, default=RUNS)
    parser.add_argument("--gpus", nargs="*", type=int, default=[], help="a batch on each number of GPUs")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--parallel", type=int, default=8, help="grades at once on each GPU; Ray has one")
    parser.add_argument("--loop", type=int, default=2 * len(KINDS), help="submissions of the loop over grade")
    parser.add_argument("--timeout", type=float, default=20.0)
    parser.add_argument("--samples", type=int)
    parser.add_argument("--driver", default="auto")
    parser.add_argument("--engine", default="local", choices=("local", "ray"), help="of the batches")
    words = parser.parse_args()
    options: tuple[str, ...] = (
        "--driver",
        words.driver,
        "--timeout",
        str(words.timeout),
        "--forbid-library",
        "cublas*",
    )
    if words.samples:
        options += ("--samples", str(words.samples))
    with tempfile.TemporaryDirectory(prefix="neutrino-mixed-") as folder:
        run = Run(Path(folder), mixed(words.count), options, words.parallel, words.engine)
        if "loop" in words.runs:
            run.loop(words.loop)
        if "batch" in words.runs:
            run.batch("batch")
        if "killed" in words.runs:
            run.batch("killed batch", kill=True)
        run.on_gpus(words.gpus)
        for each in run.faults:
            print(f"FAULT {each}")
    print(f"{len(run.faults)} faults")
    return 1 if run.faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
