"""Every attack on this machine, as a table: python -m tests.attacks.run [--driver sim] [--only NAME,...]

On several GPUs each takes a part: CUDA_VISIBLE_DEVICES=1 python -m tests.attacks.run --shard 1/4, and so on. If $OUT
is set, the table and all that was found (as JSON Lines) are written there, after each attack.

Exits with 1 if an attack gets a pass with a false time, or another verdict than it should, or is
ineffective (the naive grader does not fall for it), or if a look-alike or a control fails.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchguard.shim.driver import discover
from tests.attacks.catalogue import ATTACK_LIST, HONEST, LOOK_ALIKES, Attack, LookAlike
from tests.attacks.running import Graded, Machine, control, grade, hole_in, naive, naive_of, share_of

HEAD = "| class | what | against the naive grader | our verdict | time / control's | |\n| - | - | - | - | - | - |"
TEXT_MAX = 140


@dataclass(frozen=True)
class Row:
    """`failure` is empty where all is as it should be. Times in microseconds."""

    number: str
    name: str
    title: str
    naive: str = ""
    naive_us: float | None = None
    verdict: str = ""
    reason: str = ""
    time_us: float | None = None
    share: float | None = None
    seconds: float = 0.0
    failure: str = ""
    left_out: str = ""

    def line(self) -> str:
        naive = f"{self.naive}, {self.naive_us:.1f} us" if self.naive_us else self.naive
        verdict = f"{self.verdict}: {self.reason}" if self.reason else self.verdict
        share = "" if self.share is None else f"{self.share:.2f}"
        end = f"not run: {self.left_out}" if self.left_out else self.failure or "ok"
        cells = (self.number, self.title, _shortened(naive), _shortened(verdict), share, end)
        return "| " + " | ".join(each.replace("|", "\\|").replace("\n", " ") for each in cells) + " |"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--driver", default="auto")
    parser.add_argument("--only", default="", metavar="NAME,...")
    parser.add_argument("--class", dest="classes", default="", metavar="N,...")
    parser.add_argument("--shard", default="0/1", metavar="I/N", help="every Nth, from the Ith on; I from 0")
    parser.add_argument("--seconds", type=float, default=60.0, help="the most that one grade may take")
    options = parser.parse_args()
    machine = Machine(
        "sim" if options.driver == "sim" else str(discover(options.driver, api="cuda").path), options.seconds
    )
    names, classes = (set(filter(None, text.split(","))) for text in (options.only, options.classes))
    part, parts = map(int, options.shard.split("/"))
    chosen: Sequence[Attack | LookAlike] = [
        each
        for each in (*ATTACK_LIST, *LOOK_ALIKES)
        if (not names or each.name in names)
        and (not classes or (isinstance(each, Attack) and str(each.number) in classes))
    ]
    report = Report(os.environ.get("OUT"), part if parts > 1 else None)
    wrong = () if names or classes or part else (HONEST / "wrong.py",)
    for each in (*chosen[part::parts], *wrong):
        try:
            report.add(row_of(each, machine))
        except Exception as error:  # ours: the others are to be tried all the same
            report.add(
                Row("", getattr(each, "name", ""), "", failure=f"{type(error).__name__}: {error}"[:400])
            )
    print(f"{report.failures} failed", file=sys.stderr)
    return 1 if report.failures else 0


class Report:
    """The table on standard output, and in `folder`."""

    def __init__(self, folder: str | None, part: int | None) -> None:
        end = "" if part is None else f"-{part}"
        self._table = Path(folder, f"attacks{end}.md") if folder else None
        self._found = Path(folder, f"attacks{end}.jsonl") if folder else None
        self.failures = 0
        self._write(self._table, HEAD)
        print(HEAD, flush=True)

    def add(self, row: Row) -> None:
        self.failures += bool(row.failure)
        print(row.line(), flush=True)
        self._write(self._table, row.line())
        self._write(self._found, json.dumps(asdict(row)))

    @staticmethod
    def _write(path: Path | None, line: str) -> None:
        if path is not None:
            with path.open("a") as file:
                file.write(line + "\n")


def row_of(each: Attack | LookAlike | Path, machine: Machine) -> Row:
    if isinstance(each, Attack):
        return attack_row(each, machine)
    return alike_row(each, machine) if isinstance(each, LookAlike) else wrong_row(each, machine)


def attack_row(attack: Attack, machine: Machine) -> Row:
    head = (str(attack.number), attack.name, attack.title)
    why_not = machine.lacks(attack.where)
    if why_not:
        return Row(*head, left_out=why_not)
    plain, failure = naive_of(attack, machine)
    result, share, hole = hole_in(attack, machine)
    return Row(
        *head,
        naive="-" if attack.naive == "none" else "passes" if plain.passed else f"does not pass: {plain.text}",
        naive_us=plain.time_us or None,
        failure=f"HOLE: {hole}" if hole else failure,
        **_facts(result, share),
    )


def alike_row(alike: LookAlike, machine: Machine) -> Row:
    number, _, title = alike.like.partition(": ")
    head = (f"like {number}", alike.name, title)
    why_not = machine.lacks(alike.where)
    if why_not:
        return Row(*head, left_out=why_not)
    result = grade(alike.path, alike.problem, machine, machine.case(), alike.options)
    passed = result.verdict == "pass"
    share = share_of(result, control(alike.problem, machine, machine.case())) if passed else None
    return Row(*head, failure="" if passed else "REFUSED", **_facts(result, share))


def wrong_row(path: Path, machine: Machine) -> Row:
    case = machine.case()
    plain, outcome = naive(path, "Mix", machine, case), grade(path, "Mix", machine, case)
    failure = "" if not plain.passed and outcome.verdict == "wrong" else "not found wrong"
    return Row(
        "control",
        path.stem,
        "a wrong answer",
        naive="does not pass",
        failure=failure,
        **_facts(outcome, None),
    )


def _facts(found: Graded, share: float | None) -> dict[str, object]:
    return {
        "verdict": found.verdict,
        "reason": found.reason,
        "time_us": found.time_us,
        "share": share,
        "seconds": round(found.wall_s, 2),
    }


def _shortened(text: str) -> str:
    return text if len(text) <= TEXT_MAX else text[: TEXT_MAX - 3] + "..."


if __name__ == "__main__":
    sys.exit(main())
