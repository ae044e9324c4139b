"""Every attack on this machine, as a table: python -m tests.attacks.run [--driver sim|auto] [NAME ...].

Exits with 1 if an attack gets a pass with a false time, or another verdict than it should, or if a look-alike fails.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from benchguard.replay.replay import discover
from tests.attacks.catalogue import ATTACK_LIST, LOOK_ALIKES, PROBLEMS, Attack, LookAlike
from tests.attacks.running import Machine, control, grade, hole_in, naive_of, share_of

HEAD = "| class | attack | against the naive grader | our verdict | time / control's | |\n|-|-|-|-|-|-|"
REASON_MAX = 140


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--driver", default="auto")
    parser.add_argument("--out", type=Path, help="the table goes there too")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    machine = Machine(given.driver if given.driver == "sim" else str(discover(given.driver).path))
    chosen = set(given.names)
    failures = 0
    print(HEAD, flush=True)
    lines = [HEAD]
    for attack in ATTACK_LIST:
        if chosen and attack.name not in chosen:
            continue
        line, failed = (
            row_of(attack, machine) if runs_on(attack.where, machine) else (left_out(attack), False)
        )
        failures += failed
        lines.append(line)
        print(line, flush=True)
    for alike in LOOK_ALIKES:
        if (not chosen or alike.path.stem in chosen) and runs_on(alike.where, machine):
            line, failed = alike_row(alike, machine)
            failures += failed
            lines.append(line)
            print(line, flush=True)
    if given.out is not None:
        given.out.write_text("\n".join(lines) + "\n")
    print(f"{failures} failed; problems: {PROBLEMS.name}", file=sys.stderr)
    return 1 if failures else 0


def runs_on(where: str, machine: Machine) -> bool:
    if where == "both":
        return True
    if machine.is_sim:
        return where == "sim"
    return where in ("gpu", "torch")


def row_of(attack: Attack, machine: Machine) -> tuple[str, bool]:
    said, failure = naive_of(attack, machine)
    found, share, hole = hole_in(attack, machine)
    against = failure or ("-" if attack.naive == "none" else f"passes, {said.time_us:.1f} us")
    ratio = "" if share is None else f"{share:.2f}"
    verdict = f"{found.verdict}: {shortened(found.reason)}" if found.reason else found.verdict
    mark = "HOLE: " + hole if hole else ("naive: not proven" if failure else "ok")
    cells = [str(attack.number), attack.title, shortened(against), verdict, ratio, mark]
    return row(cells), bool(hole or failure)


def alike_row(alike: LookAlike, machine: Machine) -> tuple[str, bool]:
    found = grade(alike.path, alike.problem, machine, machine.case())
    true = control(alike.problem, machine, machine.case(), ())
    ratio = f"{share_of(found, true):.2f}" if found.verdict == "pass" else ""
    verdict = f"{found.verdict}: {shortened(found.reason)}" if found.reason else found.verdict
    passed = found.verdict == "pass"
    cells = ["like " + alike.like.partition(":")[0], alike.like.partition(": ")[2], "", verdict, ratio]
    return row([*cells, "ok" if passed else "REFUSED"]), not passed


def left_out(attack: Attack) -> str:
    return row([str(attack.number), attack.title, "", "", "", f"not run: {attack.where}"])


def row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def shortened(text: str) -> str:
    return text if len(text) <= REASON_MAX else text[: REASON_MAX - 3] + "..."


if __name__ == "__main__":
    sys.exit(main())
