"""Options of a module load: the engine passes on exactly those that the shim keeps."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from benchguard.capture.model import Option
from tests.conftest import ROOT
from tests.support.captures import saxpy_capture
from tests.unit.replay.engine_support import assert_exact, on_sim, replayed

LIST = (ROOT / "hook" / "core" / "wire" / "jit_options.h").read_text()
KEPT = {name: int(number) for name, number in re.findall(r"\bX\((\w+), (\d+)\)", LIST)}
BUFFERS = {4: "CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES", 18: "CU_JIT_GLOBAL_SYMBOL_ADDRESSES"}
ENGINES_OWN = {5, 6}
"""CU_JIT_ERROR_LOG_BUFFER and its size: the engine shows the driver's text if a load fails."""

pytestmark = pytest.mark.skipif(not on_sim, reason="needs a driver linked to the CPU driver")


@pytest.fixture
def driver(compile_c: Callable[..., Path], native: Path) -> str:
    sim = native / "sim"
    links = ("-Wl,--no-as-needed", f"-L{sim}", "-l:libcuda.so.1", f"-Wl,-rpath,{sim}")
    source = Path(__file__).parent / "programs" / "load_options.c"
    flags = ("-D__CUDA_API_VERSION_INTERNAL",)
    return str(compile_c("load_options.so", source, flags=flags, links=links))


def passed_options(driver: str, folder: Path, options: dict[int, int]) -> dict[int, int]:
    """The options that the driver is given for a capture with these, without the engine's own."""
    log = folder / "options"
    capture = saxpy_capture(folder / "x.ncap", options=tuple(Option(*each) for each in options.items()))
    results = replayed(capture, ["verify"], driver=driver, environment={"OPTION_LOG": str(log)})
    assert_exact(results[1])
    lines = [line.split() for line in log.read_text().splitlines()]
    passed = {int(option): int(value) for option, value in lines}
    return {option: value for option, value in passed.items() if option not in ENGINES_OWN}


def test_load_options_kept_by_the_shim_all_reach_the_driver(driver: str, tmp_path: Path) -> None:
    values = {number: 100 + number for number in KEPT.values()}
    assert len(values) == 20 and {20, 21, 22, 23, 24, 29} < values.keys()
    assert passed_options(driver, tmp_path, values) == values


def test_load_options_with_buffers_do_not_reach_the_driver(driver: str, tmp_path: Path) -> None:
    """In a capture that the shim did not write: their values are addresses of another process."""
    inputs = {KEPT["FMA"]: 0, **dict.fromkeys(BUFFERS, 4096)}
    assert passed_options(driver, tmp_path, inputs) == {KEPT["FMA"]: 0}
