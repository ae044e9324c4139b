from __future__ import annotations

import fcntl
import os

import pytest

from tests.unit.ptx.engine import Engine, build


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """The engine, compiled like the CPU driver, once for all workers of a run."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "engine"
    folder.mkdir(exist_ok=True)
    library = folder / "engine.so"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not library.exists():
            build(folder)
    return Engine(library)
