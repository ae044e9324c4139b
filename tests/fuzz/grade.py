"""Drive the whole grade with mutated raw captures.

    python tests/fuzz/grade.py --count 20000
    python tests/fuzz/grade.py --first 4711 --count 1      # repeat a finding

Each input is the two raw captures of an honest call, with changed elements. They are packed, examined, replayed on the
CPU driver and judged, as in a grade, but the reader runs in the fuzzer's process, and one judge serves all inputs. A
seed and a number always give the same bytes. A finding is an exception other than a refusal, a crash, the verdict
`error`, which no submission may cause, an input that takes more than --seconds, more than 1 GiB of memory, or a result
of more than 4 MiB. Exits with 1 after a finding, whose raw captures are kept.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import random
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))  # run as a script, from anywhere

import msgspec  # noqa: E402

from benchguard.capture import CaptureError, codec  # noqa: E402
from benchguard.gpu.turns import Turns  # noqa: E402
from benchguard.grade.case import CaseWork, grade_case  # noqa: E402
from benchguard.grade.examine import examined_of  # noqa: E402
from benchguard.grade.grade import ReplayedRun  # noqa: E402
from benchguard.grade.judged_replay import SecretInputs  # noqa: E402
from benchguard.grade.options import GradeOptions  # noqa: E402
from benchguard.grade.result import GradedCase  # noqa: E402
from benchguard.grade.run import EXAMINER  # noqa: E402
from benchguard.judge.contract import Ask, AskChecked, AskSecrets, Checked, Secrets  # noqa: E402
from benchguard.quarantine import quarantine  # noqa: E402
from benchguard.quarantine.contract import Quarantined, Reading  # noqa: E402
from benchguard.quarantine.named import function_named  # noqa: E402
from benchguard.quarantine.raw_captures import Packed, Reader  # noqa: E402
from benchguard.quarantine.reader import name_of, read_case  # noqa: E402
from benchguard.replay import replay  # noqa: E402
from tests.attacks.running import placed  # noqa: E402
from tests.fuzz.raw_mutation import mutated  # noqa: E402

ROOT = HERE.parents[1]
PROBLEM = ROOT / "tests/attacks/problems.py"
SUBMISSIONS = ("mix.py", "global_table.py", "host_read.py")
MEMORY_BYTES = 1 << 30
RESULT_BYTES = 4 << 20
FAILED = 3
"""Exit status of a worker whose input is a finding."""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=1000, help="inputs to make (default: 1000)")
    parser.add_argument("--first", type=int, default=0, help="number of the first input (default: 0)")
    parser.add_argument("--seed", type=int, default=1, help="(default: 1)")
    parser.add_argument("--seconds", type=int, default=30, help="limit for an input (default: 30)")
    parser.add_argument(
        "--replay-every", type=int, default=1, metavar="K", help="replay one accepted input in K (default: 1)"
    )
    parser.add_argument("--limit", type=float, help="seconds after which no input begins (default: none)")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "fuzz", help="(default: build/fuzz)")
    parser.add_argument("--break-reader", action="store_true", help="plant an error in the reader")
    parser.add_argument("--break-verdict", action="store_true", help="plant an error in the verdict")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    folder = options.out / "findings" / "grade"
    folder.mkdir(parents=True, exist_ok=True)
    if options.worker is not None:
        if options.break_reader:
            codec.chosen = lambda *_: 1 // 0
        if options.break_verdict:
            replay.verdict_of = lambda *_: ("error", "planted")
        return work(options, folder)
    return campaign(options, folder)


def campaign(options: argparse.Namespace, folder: Path) -> int:
    """Run workers until all inputs are done: a worker ends with the first finding."""
    began, first, end = time.monotonic(), options.first, options.first + options.count
    outcomes: Counter[str] = Counter()
    findings = 0
    while options.first < end and not is_late(options, began):
        progress = folder / f"progress-{os.getpid()}"
        words = [*sys.argv, "--worker", str(progress), "--first", str(options.first)]
        words += ["--count", str(end - options.first)]
        if options.limit is not None:
            words += ["--limit", str(options.limit - (time.monotonic() - began))]
        done = subprocess.run([sys.executable, *words], stderr=subprocess.PIPE, text=True, check=False)
        report = msgspec.json.decode(progress.read_bytes(), type=Progress)
        progress.unlink()
        outcomes.update(report.outcomes)
        options.first = report.number + 1
        if done.returncode:
            findings += 1
            lines = [line for line in done.stderr.strip().splitlines() if line.strip()]
            print(f"input {report.number}: exit status {done.returncode}: {lines[-1] if lines else ''}")
            (folder / f"{options.seed}-{report.number}.txt").write_text(done.stderr)
    took = time.monotonic() - began
    print(f"{options.first - first} inputs in {took:.0f} s, {findings} findings")
    for outcome, count in outcomes.most_common():
        print(f"  {count:6} {outcome}")
    if findings:
        print(f"raw captures and reports are in {folder}")
    if options.first < end:
        print(f"the time is over: go on with --first {options.first} --count {end - options.first}")
    return 1 if findings else 0


def is_late(options: argparse.Namespace, began: float) -> bool:
    return options.limit is not None and time.monotonic() - began >= options.limit


class Progress(msgspec.Struct):
    number: int
    outcomes: dict[str, int]


def work(options: argparse.Namespace, folder: Path) -> int:
    began = time.monotonic()
    outcomes: Counter[str] = Counter()
    done = options.first - 1
    with ExitStack() as stack:
        subjects = [stack.enter_context(Subject(each, options)) for each in SUBMISSIONS]
        for number in range(options.first, options.first + options.count):
            if is_late(options, began):
                break
            options.worker.write_bytes(msgspec.json.encode(Progress(number, outcomes)))
            generator = random.Random(f"{options.seed} {number}")
            subject = generator.choice(subjects)
            raws = [mutated(generator, raw, subject.raws) for raw in subject.raws]
            faulthandler.dump_traceback_later(options.seconds, exit=True)
            paths = [folder / f"{options.seed}-{number}-{each}.nrec" for each in range(len(raws))]
            for path, raw in zip(paths, raws, strict=True):
                path.write_bytes(raw)
            outcomes[subject.grade(paths, number)] += 1
            faulthandler.cancel_dump_traceback_later()
            used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
            if used > MEMORY_BYTES:
                print(f"{used >> 20} MiB of memory", file=sys.stderr)
                return FAILED
            for path in paths:
                path.unlink()
            done = number
    options.worker.write_bytes(msgspec.json.encode(Progress(done, outcomes)))
    return 0


class Subject:
    """A submission that was called once, with its judge and its raw captures. A context manager."""

    def __init__(self, submission: str, options: argparse.Namespace) -> None:
        self._options = options
        self._stack = ExitStack()
        self._path = ROOT / "tests/attacks/honest" / submission

    def __enter__(self) -> Subject:
        options = GradeOptions(
            driver="sim", cases=("small",), samples=14, cold="none", timeout=3600, memory_bytes=MEMORY_BYTES
        )
        folder = self._stack.enter_context(placed(self._path))
        run = EndlessRun(f"{PROBLEM}:Mix", folder, options, None, self._stack)
        self._run = run
        self._judge, opening = run.start()
        submission = run.submission(opening)
        read_all = quarantine.read_all

        def keep(source: Path, target: Path, order: Reading, reader: Reader) -> Packed:
            self.raws = [path.read_bytes() for path in sorted(source.glob("*.nrec"))]
            self._order, self._target = order, target
            return read_all(source, target, order, reader)

        quarantine.read_all = keep
        try:
            self._quarantined = run.quarantine(submission, opening)
        finally:
            quarantine.read_all = read_all
        if len(self.raws) != 2 or not self._quarantined.captures:
            raise RuntimeError(f"{self._path} was not captured: {self._quarantined}")
        self._spec = opening.opened.cases[0]
        self._tolerances = opening.opened.tolerances[0]
        opening.secrets(0)
        self._judge.ask(AskChecked(0))  # ends the round for which the judge was asked ahead
        self._judge.answer(Checked)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def grade(self, paths: Sequence[Path], number: int) -> str:
        """The outcome of one input."""
        with ExitStack() as stack:
            descriptors = [os.open(path, os.O_RDONLY) for path in paths]
            for each in descriptors:
                stack.callback(os.close, each)
            deadline = time.monotonic() + self._options.seconds
            order = msgspec.structs.replace(self._order, raw_captures=tuple(descriptors), deadline=deadline)
            try:
                event = read_case(order, self._target, function_named(EXAMINER), 0)
            except CaptureError as error:
                if "\n" in str(error):
                    raise RuntimeError(f"a message of several lines: {error}") from error
                return "refused by the packer or the validator"
        examined = examined_of(event.examined)
        if examined.finding is not None:
            return f"found: {examined.finding.verdict}"
        if number % self._options.replay_every:
            return "accepted, not replayed"
        captures = (self._target / name_of(0, 0), self._target / name_of(0, 1))
        found = replace(self._quarantined, captures=(captures,), examined=(event.examined,))
        graded = self._replay(found)
        if graded.verdict == "error":
            raise RuntimeError(f"the verdict is error: {graded.reason}")
        if len(msgspec.json.encode(graded)) > RESULT_BYTES:
            raise RuntimeError("the result has more than 4 MiB")
        return f"replayed: {graded.verdict}"

    def _replay(self, found: Quarantined) -> GradedCase:
        self._judge.ask(AskSecrets(0))
        secrets, ends = self._judge.answer(Secrets)
        pool, outputs, announce, release = ends
        secret = SecretInputs(0, secrets, (pool, outputs, announce, release))
        work = CaseWork(
            self._spec, found, secret, self._tolerances, float(self._options.seconds), Turns((), 0.0)
        )
        try:
            return grade_case(work, self._judge, self._run.options, lambda *_: None).case
        finally:
            for each in ends:
                os.close(each)


class EndlessRun(ReplayedRun):
    """A grade whose judge gives the case's secret inputs once for each input of the fuzzer."""

    def ask(self) -> Ask:
        return msgspec.structs.replace(super().ask(), rounds=1 << 30)


if __name__ == "__main__":
    sys.exit(main())
