"""Large outputs are read by several threads: all of it, each time, and nothing lasts where they pass."""

from __future__ import annotations

import hashlib
import os
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchguard.capture.layout import ARENA
from tests.captures import GRANULE
from tests.conftest import ROOT
from tests.unit.replay.engine_captures import REMEMBER, one_kernel
from tests.unit.replay.engine_support import on_sim, replayed

PIECE = 1 << 20
POINTER = struct.pack("<QI", ARENA + 8, 0)
STRICT = {"guard": True, "strict": True}


@pytest.fixture(params=["all cores", "one core"])
def cores(request: pytest.FixtureRequest) -> Iterator[None]:
    """For what is started meanwhile."""
    before = os.sched_getaffinity(0)
    if request.param == "one core":
        os.sched_setaffinity(0, {min(before)})
    yield
    os.sched_setaffinity(0, before)


@pytest.mark.usefixtures("cores")
@pytest.mark.parametrize("options", [{}, STRICT], ids=["", "strict"])
def test_all_of_it_arrives(tmp_path: Path, options: dict[str, Any]) -> None:
    content = POINTER + np.random.default_rng(3).bytes(21 * PIECE + 1 - len(POINTER))
    path = one_kernel(tmp_path / "x.ncap", REMEMBER, "remember", content)
    parts = [
        (0, 21 * PIECE + 1),
        (1, 2 * PIECE - 1),
        (GRANULE + 77, 2 * PIECE),
        (5, 8 * PIECE),
        (3, 9 * PIECE + 11),
        (21 * PIECE - 1, 2),
    ]
    steps: list[Any] = [["once", 0xFFFFFFFF], *[["digest", ARENA + at, size] for at, size in parts]]
    results = replayed(path, *steps, **options)
    after = content[:8] + struct.pack("<I", 1) + content[12:]  # the kernel counts there
    expected = [hashlib.sha256(after[at : at + size]).hexdigest() for at, size in parts]
    assert results[2:] == [[each, 0] for each in expected]


@pytest.mark.skipif(not on_sim, reason="asks the CPU driver where our memory is")
@pytest.mark.parametrize("offset", [0, 8 * PIECE - 4])
def test_its_pieces_are_written_anew(tmp_path: Path, forgetful_driver: Path, offset: int) -> None:
    path = one_kernel(tmp_path / "x.ncap", REMEMBER, "remember", POINTER + bytes(8 * PIECE))
    steps: list[Any] = [
        ["digest", ARENA, 8 * PIECE],
        ["point", 0, ARENA, "pinned", -1, offset],
        ["samples", 4, ARENA + 8, 4],
    ]
    log = {"CALL_LOG": str(tmp_path / "calls")}

    def counted(**options: Any) -> list[int]:
        results = replayed(path, *steps, driver=str(forgetful_driver), environment=log, **options)
        return [struct.unpack("<I", bytes.fromhex(left))[0] for _, left in results[3]]

    found = counted()
    assert [value - found[0] for value in found] == [0, 1, 2, 3]
    assert counted(**STRICT) == [0, 0, 0, 0]


@pytest.mark.usefixtures("cores")
def test_copies_of_a_crew(compile_c: Callable[..., Path]) -> None:
    engine = ROOT / "benchguard" / "replay" / "engine"
    sources = (Path(__file__).parent / "programs" / "crew.c", engine / "crew.c")
    program = compile_c("crew", *sources, flags=(f"-I{engine}", "-D_GNU_SOURCE"))
    subprocess.run([program], check=True, timeout=60)
