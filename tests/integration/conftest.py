"""Programs run under `neutrino-bench` on the CPU driver, whose own count of launches is the oracle."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from benchguard.quarantine.private import remove
from tests.conftest import ROOT
from tests.integration.apis import Api, api_of
from tests.integration.support import (
    PROGRAMS,
    Compiler,
    Observe,
    Observed,
    Record,
    Recorded,
    read_driver_launches,
)


@pytest.fixture
def folder(native: Path) -> Iterator[Path]:
    """A folder that other users can enter, unlike pytest's."""
    assert native
    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    yield path
    remove(path)


@pytest.fixture
def api(request: pytest.FixtureRequest, native: Path) -> Api:
    """CUDA's, and HIP's too for a test that is marked `both_apis`."""
    return api_of(getattr(request, "param", "cuda"), native)


@pytest.fixture
def observe(tmp_path: Path, api: Api) -> Observe:
    """Run a command under neutrino-bench on the CPU driver and read what it left."""

    def run(
        command: Sequence[str | Path],
        *options: str,
        driver: str = api.driver,
        timeout: float = 60,
        environment: dict[str, str] | None = None,
    ) -> Observed:
        log, launches = tmp_path / "run.audit.jsonl", tmp_path / "launches"
        launches.unlink(missing_ok=True)
        log.unlink(missing_ok=True)
        arguments = [
            sys.executable,
            "-m",
            "benchguard",
            "--driver",
            driver,
            "--log",
            str(log),
            *options,
            "--",
        ]
        result = subprocess.run(
            [*arguments, *map(str, command)],
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            env={**os.environ, "SIM_LAUNCH_LOG": str(launches), **(environment or {})},
        )
        lines = [msgspec.json.decode(line) for line in log.read_bytes().splitlines()] if log.exists() else []
        return Observed(
            result.returncode, result.stdout, result.stderr, log, lines, read_driver_launches(launches)
        )

    return run


@pytest.fixture
def program(compile_c: Compiler, api: Api) -> Callable[[str], Path]:
    """A program of programs/, linked to libcuda.so.1 as any CUDA program is, or to what says it in HIP."""

    def build(name: str) -> Path:
        return compile_c(f"{api.name}-api/{name}", PROGRAMS / f"{name}.c", *api.sources, links=api.links())

    return build


@pytest.fixture
def record(tmp_path: Path, api: Api) -> Record:
    """Run a command under `neutrino-bench record` on the CPU driver, in a folder of its own."""

    def run(command: Sequence[str | Path], *options: str, output: str = "x.ncap") -> Recorded:
        words = [
            sys.executable,
            "-m",
            "benchguard",
            "record",
            "--driver",
            api.driver,
            "-o",
            output,
            *options,
            "--",
        ]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        result = subprocess.run(
            [*words, *map(str, command)],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        return Recorded(tmp_path, result.returncode, result.stdout, result.stderr)

    return run
