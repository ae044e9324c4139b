"""Compare the engine count with the CPU driver's own counters.

SIM_COUNTS=FILE python tests/corpus/counting.py FAMILY... needs the CPU driver. It prints a line for each
launch whose numbers differ, then a total. Exits with 1 on a difference.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run as a script, not as a module of tests/

from benchguard.probe import ptx
from benchguard.probe.engines.count.build import build
from benchguard.probe.engines.count.classes import CLASSES, class_of
from benchguard.probe.engines.count.read import Counts, read_counts
from tests.corpus.capture import captured
from tests.corpus.case import Case
from tests.corpus.driver import Driver
from tests.corpus.families import cases_of, images_of, target_of, text_of
from tests.corpus.running import Launch
from tests.support.probed import run_probed

SPINS = {"spin_lock", "wait_for_a_neighbour", "chained_scan"}
"""Kernels that loop until another thread has done something, as the barrier of a cooperative grid does: each run
executes another number of instructions."""

RETRIES = {"atomics_cas_16", "atomics_cas_loop", "atomics_bfloat", "release_acquire"}
"""Cases whose threads try again while others are faster: the same holds for these."""

RUNS = 8
"""Runs of the original kernel in which its counts must be the same before a difference is a fault of the engine."""


def one_per_line(text: str) -> str:
    """The text with a line for each instruction, since the driver counts by line."""
    edits = [one.start for function in ptx.parse(text).functions for one in function.instructions]
    parts, at = [], 0
    for start in sorted(edits):
        parts += (text[at:start], "\n")
        at = start
    return "".join([*parts, text[at:]])


def driver_counts(driver: Driver, text: str, case: Case, counts: Path) -> Counts:
    """Launch the original kernel, and add its lines by class. Functions that the engine does not see are left out."""
    counts.write_bytes(b"")
    module = driver.load(text.encode() + b"\0")
    captured(Launch(module, case).run)
    module.unload()
    parsed = ptx.parse(text)
    seen = {function.name for function in ptx.Rewrite(parsed, case.kernel).functions}
    classes = {
        one.line: class_of(one)
        for function in parsed.functions
        if function.name in seen
        for one in function.instructions
    }
    found, guarded_off = dict.fromkeys(CLASSES, 0), 0
    for row in counts.read_text().splitlines():
        line, executed, skipped = map(int, row.rsplit(" ", 3)[1:])
        if line in classes:
            found[classes[line]] += executed
            guarded_off += skipped
    return Counts(found, guarded_off)


def engine_counts(driver: Driver, text: str, case: Case) -> Counts:
    maps: list[bytes] = []
    captured(lambda: maps.extend(run_probed(driver, text, case, build)[0]))
    return read_counts(maps[0])


def difference(one: Counts, other: Counts) -> str:
    different = [
        f"{name}: {one.classes[name]} and {other.classes[name]}"
        for name in CLASSES
        if one.classes[name] != other.classes[name]
    ]
    if one.guarded_off != other.guarded_off:
        different.append(f"guarded off: {one.guarded_off} and {other.guarded_off}")
    return "; ".join(different)


def main(families: list[str]) -> int:
    driver, counts = Driver(), Path(os.environ["SIM_COUNTS"])
    launches = wrong = instructions = 0
    for family in families:
        for image in images_of(family):
            text = one_per_line(text_of(family, image))
            for case in cases_of(family):
                spins = case.cooperative or case.kernel in SPINS or case.name in RETRIES
                if case.minimum_target > target_of(image) or case.fails or spins:
                    continue
                try:
                    counted = engine_counts(driver, text, case)
                except ptx.PtxError:
                    continue  # refused: test_probed.py lists these kernels
                expected = driver_counts(driver, text, case, counts)
                found = difference(counted, expected)
                if found and any(driver_counts(driver, text, case, counts) != expected for _ in range(RUNS)):
                    print(f"{family} {image} {case.name}: left out, because its own counts vary")
                    continue
                launches += 1
                instructions += counted.total
                if found or counted.total == 0:
                    wrong += 1
                    print(f"{family} {image} {case.name}: {found or 'nothing was counted'}")
    print(f"{launches} launches, {instructions} instructions, {wrong} different")
    return int(wrong > 0 or launches == 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
