"""A driver that answers for a few calls itself and leaves the others to the CPU driver."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def forgetful_driver(compile_c: Callable[..., Path], native: Path) -> Path:
    """programs/forgetful_driver.c says what the environment makes it do."""
    sim = native / "sim"
    links = ("-Wl,--no-as-needed", f"-L{sim}", "-l:libcuda.so.1", f"-Wl,-rpath,{sim}")
    source = Path(__file__).parent / "programs" / "forgetful_driver.c"
    return compile_c("forgetful_driver.so", source, flags=("-D__CUDA_API_VERSION_INTERNAL",), links=links)
