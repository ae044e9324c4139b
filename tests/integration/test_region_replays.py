"""Graphs and globals of a region, there and back: recorded, packed, rebuilt in a clean process, the same bytes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.integration.apis import Api


def bench(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchguard", *map(str, words)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, env=environment, cwd=ROOT
    )


GRAPHS = ("region_graph_nodes", "region_graph_children")
CUDAS = ("region_graph_updates", "region_graph_captured")
"""HIP changes no node by cuGraphExecNodeSetParams, and has no attributes of launches below 7."""


@pytest.mark.parametrize(
    ("api", "name"),
    [
        *(("cuda", name) for name in (*GRAPHS, *CUDAS, "region_globals")),
        *(("hip", name) for name in (*GRAPHS, "region_globals")),
    ],
    indirect=["api"],
)
def test_memory_after_a_replay_is_as_recorded(
    name: str, program: Callable[[str], Path], native: Path, tmp_path: Path, api: Api
) -> None:
    """Every graph as it was at each launch; globals restored, with their addresses in parameters."""
    assert (native / "replay").is_dir()
    capture = tmp_path / "x.ncap"
    recorded = bench("record", "-o", capture, "--driver", api.driver, "--", program(name))
    assert recorded.returncode == 0, recorded.stderr
    replayed = bench("replay", capture, "--driver", api.driver, "--samples", "8", "--verify")
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr
    assert "memory equals the captured memory, byte for byte" in replayed.stdout
