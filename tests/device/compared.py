"""Attacks on the time beside their honest control, as one table: python tests/device/compared.py

The ids are those of issue 13. T1 writes the time of an event. T2 keeps results from sample to sample, in the heap of
kernels or in a global, also where memory is short (-short). T3 makes input and output one memory by a forged capture.
T4 does nothing in a comparison whose samples differ from those of a grade. T5 shifts an event by a few microseconds, or
in most samples, or works on after the end. The share is the attack's time divided by the control's. Exits with 1 if an
attack has a share below 0.8 in a pass or a comparison, or if the control does not pass.

Skips without a GPU; `--driver sim` takes the CPU driver. On a GPU it takes about 150 s.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # run as a script, not as a module of tests/

from benchguard.grade.compare import compare
from benchguard.grade.options import SIM_SAMPLES, GradeOptions
from benchguard.shim.driver import discover
from tests.attacks.catalogue import ATTACK_LIST, ATTACKS, CONTROLS, HONEST, PROBLEMS, Attack
from tests.attacks.running import FALSE_SHARE, WAIT_SECONDS, Machine, control, hole_in, placed

GRADED = (
    ("T1", "11_event_times"),
    ("T2", "17_by_content_heap"),
    ("T2", "17_by_content_heap-short"),
    ("T2", "17_by_content_global"),
    ("T3", "33_global_alias"),
    ("T5", "11_event_times_most"),
    ("T5", "14_unjoined_stream"),
)
SHIFTS_NS = (5000, 20000)
"""For T5: the attack of T1, which hides that much of its work."""

COMPARED = ("16_filled_output.cu", "17_by_content_heap.cu")
HEAD = "| id | attack | by | honest median, us | attacking median, us | share | verdict | |"


@dataclass(frozen=True)
class Row:
    id: str
    attack: str
    by: str
    honest_us: float | None
    attack_us: float | None
    share: float | None
    verdict: str
    failure: str

    def line(self) -> str:
        numbers = [
            "" if each is None else f"{each:.2f}" for each in (self.honest_us, self.attack_us, self.share)
        ]
        cells = (self.id, self.attack, self.by, *numbers, self.verdict, self.failure or "ok")
        return "| " + " | ".join(each.replace("|", "\\|").replace("\n", " ") for each in cells) + " |"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--driver", default="auto")
    parser.add_argument("--blocks", type=int, default=3, help="ABBA blocks of each comparison")
    options = parser.parse_args()
    if options.driver == "auto" and discover("auto", api="cuda").is_sim:
        print("SKIPPED: no GPU here; tests/attacks has these attacks on the CPU driver", file=sys.stderr)
        return 0
    driver = "sim" if options.driver == "sim" else str(discover(options.driver, api="cuda").path)
    machine = Machine(driver, seconds=60)
    by_name = {each.name: each for each in ATTACK_LIST}
    print(HEAD + "\n" + "| - " * 8 + "|", flush=True)
    failed = 0
    for id_, name in GRADED:
        failed += show(graded(id_, by_name[name], machine))
    with tempfile.TemporaryDirectory(prefix="compared-") as folder:
        for shift in SHIFTS_NS:
            failed += show(graded("T5", shifted(by_name["11_event_times"], shift, Path(folder)), machine))
    for path in (HONEST / CONTROLS["Mix"], *(ATTACKS / name for name in COMPARED)):
        failed += show(compared(path, machine, options.blocks))
    return int(failed > 0)


def show(row: Row) -> bool:
    print(row.line(), flush=True)
    return bool(row.failure)


def shifted(attack: Attack, shift_ns: int, folder: Path) -> Attack:
    path = folder / f"{attack.path.stem} by {shift_ns / 1000:g} us.py"
    path.write_text(attack.path.read_text().replace("SHIFT_NS = 0", f"SHIFT_NS = {shift_ns}"))
    return replace(attack, file=str(path), tag="")


def graded(id_: str, attack: Attack, machine: Machine) -> Row:
    """A grade of the attack beside one of its control. `share` is of medians or of least times, the larger."""
    outcome, share, hole = hole_in(attack, machine)
    honest = control(attack.problem, machine, machine.case(attack))
    verdict = f"{outcome.verdict}: {outcome.reason}" if outcome.reason else outcome.verdict
    return Row(id_, attack.name, "grade", honest.time_us, outcome.time_us, share, verdict, hole)


def compared(path: Path, machine: Machine, blocks: int) -> Row:
    """A comparison of the control of Mix with the submission at `path`, as A and B."""
    how = GradeOptions(
        driver=machine.driver,
        cases=("deep",),
        samples=SIM_SAMPLES if machine.is_sim else None,
        timeout=machine.seconds,
        wait_for_gpu=WAIT_SECONDS,
    )
    is_control = path.parent == HONEST
    with placed(HONEST / CONTROLS["Mix"]) as a, placed(path) as b:
        result = compare(f"{PROBLEMS}:Mix", a, b, how, blocks=blocks)
    if not result.cases:
        failure = "REFUSED" if is_control or result.reason.startswith("A ") else ""
        verdict = f"{result.verdict}: {result.reason}"
        return Row("T4", path.stem, "compare", None, None, None, verdict, failure)
    case = result.cases[0]
    failure = f"HOLE: {case.ratio:.0%} of the control's time" if case.ratio < FALSE_SHARE else ""
    times = case.median_a_us, case.median_b_us, case.ratio
    return Row("T4", path.stem, "compare", *times, f"B is {case.call}", failure)


if __name__ == "__main__":
    sys.exit(main())
