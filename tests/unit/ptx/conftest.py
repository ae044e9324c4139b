from __future__ import annotations

import pytest

from tests.unit.ptx.engine import Engine, build


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """The engine, compiled like the CPU driver."""
    return Engine(build(tmp_path_factory.mktemp("engine")))
