"""How small a shift of a start event's time is still seen on this GPU: python tests/device/tampering.py

Grades an attack (tests/attacks/attacks/11_event_times.py) that moves the time of the start event by 0.5 to 20 us, for
kernels of about 5, 30 and 300 us, and the honest kernel beside it. Prints a line and skips without a GPU. `difference`
is the anchored median less the median of the events, `noise` the most that it may be. With `--two-streams` halves of
the work run on two streams, as in tests/attacks/honest/streams.py: STREAMS_FLOOR_US rests on their differences.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # run as a script, not as a module of tests/

from benchguard.grade import time_tests
from benchguard.grade.grade import grade
from benchguard.grade.options import GradeOptions
from benchguard.grade.result import GradeResult
from benchguard.shim.driver import discover
from tests.attacks.catalogue import ATTACKS, HONEST, KIT
from tests.device.rounds import CASES

SHIFTS_NS = (500, 1000, 2000, 5000, 20000)
ALL = 0
"""The attack's SHIFT_NS with which it hides all of its work."""

HEAD = "| kernel | shift, us | verdict | median, us | difference, us | noise, us | evidence that failed |"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--times", type=int, default=1, help="grades of each honest kernel")
    parser.add_argument("--driver", default="auto")
    parser.add_argument("--two-streams", action="store_true", help="halves of the work on two streams")
    parser.add_argument("--floor", type=float, help="in place of the least noise that is assumed, us")
    options = parser.parse_args()
    if options.driver == "auto" and discover("auto", api="cuda").is_sim:
        print("SKIPPED: no GPU here; tests/attacks has this attack on the CPU driver", file=sys.stderr)
        return 0
    if options.floor is not None:
        time_tests.FLOOR_US = options.floor
    print(HEAD + "\n" + "| - " * 7 + "|")
    failed = 0
    for case in CASES:
        for _ in range(options.times):
            failed += one(case, None, options).verdict != "pass"
        for shift in (*SHIFTS_NS, ALL):
            one(case, shift, options)
    return int(failed > 0)


def one(case: str, shift_ns: int | None, options: argparse.Namespace) -> GradeResult:
    """Grade the attack with this shift, or the honest kernel for None, and print its row."""
    with tempfile.TemporaryDirectory(prefix="tampering-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        for each in ("kit.py", "kernels.ptx"):
            shutil.copy(KIT / each, folder)
        (folder / "submission.py").write_text(submission(shift_ns, options.two_streams))
        how = GradeOptions(cases=(case,), samples=options.samples, driver=options.driver)
        result = grade(ROOT / "tests" / "device" / "rounds.py", folder, how)
    print(row(case, shift_ns, result), flush=True)
    if out := os.environ.get("OUT"):
        with (Path(out) / "tampering.jsonl").open("a") as file:
            file.write(json.dumps({"shift_ns": shift_ns, **json.loads(result.to_json())}) + "\n")
    return result


def submission(shift_ns: int | None, two_streams: bool) -> str:
    honest = (HONEST / ("streams.py" if two_streams else "mix.py")).read_text()
    if shift_ns is None:
        return honest
    attack = (ATTACKS / "11_event_times.py").read_text().replace("SHIFT_NS = 0", f"SHIFT_NS = {shift_ns}")
    if two_streams:
        attack = attack.replace("kit.mix(x.data_ptr(), y.data_ptr(), n, rounds)", "honest(x, y, n, rounds)")
        attack = honest.replace("def solution", "def honest") + "\n\n" + attack
    return attack


def row(case: str, shift_ns: int | None, result: GradeResult) -> str:
    shift = "honest" if shift_ns is None else "all" if shift_ns == ALL else f"{shift_ns / 1000:g}"
    graded = result.cases[0] if result.cases else None
    time = graded.time_us if graded else None
    anchored = time.anchored if time else None
    failed = [each.check for each in graded.evidence if each.state == "failed"] if graded else [result.reason]
    cells = (
        case,
        shift,
        result.verdict,
        f"{time.median:.2f}" if time else "",
        f"{anchored.median - time.median:.2f}" if time and anchored else "",
        f"{anchored.noise:.2f}" if anchored else "",
        ", ".join(failed),
    )
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    sys.exit(main())
