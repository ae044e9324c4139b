"""Give the same mutated captures to both readers, the engine's and Python's: neither may fail, and they must agree.

    python tests/fuzz/compare.py --count 1000000

The program of `run.py capture` makes the inputs, gives each to the reader in C under its sanitizers and passes it
on. A disagreement is a finding; so is whatever Python raises that is no CaptureError, a second of processor time
for one input, or more than 2 GiB. Ends with 1 if there were any.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import signal
import struct
import subprocess
import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from multiprocessing import get_context
from multiprocessing.queues import Queue
from pathlib import Path
from queue import Empty
from types import FrameType

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))  # run as a script, from anywhere

from benchguard.capture import Capture, CaptureError  # noqa: E402
from tests.fuzz.campaign import ENVIRONMENT  # noqa: E402
from tests.fuzz.run import Display  # noqa: E402
from tests.fuzz.targets import ROOT, TARGETS, FuzzError, build, corpus_of  # noqa: E402

ACCEPTED, REFUSED = 0, 1
MEMORY_MAX = 2 << 30
KEPT = 3
REPORT_EVERY = 200
FRAME = "cannot be decompressed"
"""Python brings a libzstd of its own. Later versions refuse frames that earlier ones decode, to the same bytes:
those with a reserved bit set (RFC 8878, 3.1.1.3.2.1)."""
_HEAD = struct.Struct("<II")


@dataclass(frozen=True)
class Work:
    program: Path
    corpus: tuple[Path, ...]
    seed: int
    begin: int
    end: int
    findings: Path


@dataclass
class Found:
    """What one worker saw since it last told."""

    counts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    findings: list[tuple[str, Path]] = field(default_factory=list)
    ended: bool = False


class TooSlowError(Exception):
    pass


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=10_000, help="inputs to make (default: 10000)")
    parser.add_argument("--first", type=int, default=0, help="number of the first (default: 0)")
    parser.add_argument("--seed", type=int, default=1, help="(default: 1)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="(default: one a core)")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "fuzz", help="(default: build/fuzz)")
    options = parser.parse_args()
    try:
        return compare(options)
    except FuzzError as error:
        print(f"compare.py: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def compare(options: argparse.Namespace) -> int:
    program = build("capture", options.out)
    corpus = tuple(corpus_of(TARGETS["capture"], options.out / "capture-corpus"))
    folder = options.out / "findings" / "compare"
    folder.mkdir(parents=True, exist_ok=True)
    bounds = [options.first + options.count * i // options.workers for i in range(options.workers + 1)]
    context = get_context("spawn")
    queue: Queue[Found] = context.Queue()
    team = [
        context.Process(
            target=work, args=(Work(program, corpus, options.seed, *span, folder), queue), daemon=True
        )
        for span in pairwise(bounds)
        if span[0] < span[1]
    ]
    for process in team:
        process.start()
    total, left, display = Found(), len(team), Display(options.count)
    while left:
        try:
            found = queue.get(timeout=120)
        except Empty:
            raise FuzzError("a worker ended; the lines above say why") from None
        total.counts += found.counts
        total.reasons += found.reasons
        total.findings += found.findings
        left -= found.ended
        display([sum(total.counts.values()) - len(total.findings)], len(total.findings))
    display.write([sum(total.counts.values()) - len(total.findings)], len(total.findings))
    return report(total)


def report(total: Found) -> int:
    print(", ".join(f"{count} {word}" for word, count in total.counts.most_common()))
    print(f"{len(total.reasons)} reasons:")
    for reason, count in total.reasons.most_common():
        print(f"  {count:8} {reason}")
    kinds = Counter(kind for kind, _ in total.findings)
    for kind, count in kinds.most_common():
        files = [path.name for each, path in total.findings if each == kind]
        print(f"\n{count} times: {kind}\n  {', '.join(files[:KEPT])}")
    return 1 if total.findings else 0


def work(task: Work, queue: Queue[Found]) -> None:
    """In a process of its own."""
    signal.signal(signal.SIGVTALRM, too_slow)
    memory = os.memfd_create("capture")
    found, kept = Found(), Counter[str]()
    for number, outcome, raw in inputs(task):
        os.ftruncate(memory, 0)
        os.pwrite(memory, raw, 0)
        verdict, reason = read(f"/proc/self/fd/{memory}")
        if verdict == REFUSED:
            found.reasons[reason] += 1
        if verdict in (ACCEPTED, REFUSED) and verdict == outcome:
            found.counts["accepted by both" if verdict == ACCEPTED else "refused by both"] += 1
        elif outcome == ACCEPTED and FRAME in reason:
            found.counts["refused by the newer libzstd alone"] += 1
        else:
            names = {ACCEPTED: "accepts", REFUSED: "refuses"}
            kind = f"the engine {names.get(outcome, 'fails')}, Python {names.get(verdict, 'fails')}: {reason}"
            found.counts["findings"] += 1
            kept[kind] += 1
            path = task.findings / f"{task.seed}-{number}"
            if kept[kind] <= KEPT:
                path.write_bytes(raw)
            found.findings.append((kind, path))
        if sum(found.counts.values()) >= REPORT_EVERY:
            queue.put(found)
            found = Found()
    found.ended = True
    queue.put(found)


def inputs(task: Work) -> Iterator[tuple[int, int, bytes]]:
    """Number, what the reader in C said, and bytes; an input on which that program ends is not one of them."""
    begin = task.begin
    while begin < task.end:
        command = [str(task.program), str(task.seed), str(begin), str(task.end - begin), "-"]
        process = subprocess.Popen(
            [*command, *map(str, task.corpus)],
            stdout=subprocess.PIPE,
            env={**os.environ, **ENVIRONMENT},
        )
        assert process.stdout is not None
        while head := process.stdout.read(_HEAD.size):
            outcome, size = _HEAD.unpack(head)
            yield begin, outcome, process.stdout.read(size)
            begin += 1
        if process.wait() != 0 and begin < task.end:
            again = [*command[:2], str(begin), "-", "-"]
            made = subprocess.run([*again, *map(str, task.corpus)], stdout=subprocess.PIPE, check=True)
            yield begin, process.returncode, made.stdout
            begin += 1


def read(path: str) -> tuple[int, str]:
    """ACCEPTED, REFUSED or another number, and why."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX, hard))  # but not for the other reader's process
    signal.setitimer(signal.ITIMER_VIRTUAL, 1)
    try:
        with Capture.open(path) as capture:
            capture.check_blobs()
        return ACCEPTED, ""
    except CaptureError as error:
        line = str(error)
        return (2, "a line break in a line") if "\n" in line else (REFUSED, generic(line))
    except Exception:  # whatever it is, it is a finding
        return 2, traceback.format_exc(limit=-1)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def generic(line: str) -> str:
    """Without what differs from input to input."""
    _, _, reason = line.partition(": ")
    return re.sub(r"0x[0-9a-f]+|\d+", "N", reason.partition("; it is damaged")[0])[:120]


def too_slow(number: int, frame: FrameType | None) -> None:
    raise TooSlowError(f"signal {number} in {frame}")


if __name__ == "__main__":
    sys.exit(main())
