"""The engines block-times and count on a GPU: python tests/device/probes.py

Launches rewritten kernels through NVIDIA's driver. Each corpus kernel of one image keeps its output, the begin and end
of each block enclose the times that a kernel writes itself, on the same SM, and counts equal those on the CPU driver.
Exits with 1 on a difference, and with 77 if the machine has no GPU.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import numpy as np

from benchguard.probe.engines.block_times.build import RECORD
from benchguard.probe.engines.block_times.build import build as block_times
from benchguard.probe.engines.block_times.read import read_schedule
from benchguard.probe.engines.count.build import build as count
from benchguard.probe.engines.count.read import read_counts
from benchguard.probe.ptx import PtxError
from tests.corpus.capture import captured
from tests.corpus.case import Case, Out
from tests.corpus.counting import RETRIES, SPINS
from tests.corpus.driver import SIM, Driver, DriverError
from tests.corpus.families import FAMILIES, cases_of, text_of
from tests.support.probed import Build, run_probed
from tests.unit.probe.test_block_times import OWN_TIMES

NO_GPU = 77
IMAGE = "75"
BLOCKS = 600


class Keep:
    """A bound that keeps the output and allows every value."""

    def __init__(self) -> None:
        self.data = b""

    def worst(self, got: Any, expected: Any) -> float:
        del expected
        self.data = got.tobytes()
        return 0.0


def compare_times(driver: Driver) -> bool:
    kept: Any = Keep()
    case = Case("own_times", [Out(np.zeros(3 * BLOCKS, np.uint64), kept)], grid=(BLOCKS, 1), block=(256,))
    maps, _ = run_probed(driver, OWN_TIMES, case, block_times)
    schedule = read_schedule(maps[0])
    right, gaps = len(schedule.blocks) == BLOCKS, []
    for one in schedule.blocks:
        begin, end, sm, _ = struct.unpack_from("<QQII", kept.data, RECORD * one.block)
        right &= sm == one.sm + 1 and one.begin <= begin <= end <= one.end
        gaps.append(max(begin - one.begin, one.end - end))
    print(
        f"block-times: {len(schedule.blocks)} of {BLOCKS} blocks, largest gap {max(gaps, default=0)} ns: {right}"
    )
    return right


def probed(driver: Driver, case: Case, family: str, build: Build) -> tuple[bytes, str]:
    """The first map, and the first difference from the reference."""
    found: list[tuple[list[bytes], str]] = []
    captured(lambda: found.append(run_probed(driver, text_of(family, IMAGE), case, build)))
    return found[0][0][0], found[0][1]


def compare_corpus(gpu: Driver, cpu: Driver) -> bool:
    launches = wrong = 0
    for family in FAMILIES:
        for case in cases_of(family):
            if case.minimum_target > int(IMAGE) or case.fails or case.cooperative or case.kernel in SPINS:
                continue
            try:
                problem = probed(gpu, case, family, block_times)[1]
                on_gpu, other = probed(gpu, case, family, count)
                on_cpu, _ = probed(cpu, case, family, count)
            except PtxError as error:
                print(f"{family} {case.name}: refused: {error}")
                continue
            launches += 1
            if case.name not in RETRIES and read_counts(on_gpu) != read_counts(on_cpu):
                other = other or f"{read_counts(on_gpu)} on the GPU, {read_counts(on_cpu)} on the CPU driver"
            if problem or other:
                wrong += 1
                print(f"{family} {case.name}: {problem or other}")
    print(f"corpus: {launches} kernels, {wrong} different")
    return wrong == 0 and launches > 0


def main() -> int:
    try:
        gpu = Driver("libcuda.so.1")
    except (OSError, DriverError) as error:
        print(f"SKIPPED: no GPU: {error}")
        return NO_GPU
    print(f"{gpu.device}, driver {gpu.version}")
    right = compare_times(gpu)
    return 0 if compare_corpus(gpu, Driver(SIM)) and right else 1


if __name__ == "__main__":
    raise SystemExit(main())
