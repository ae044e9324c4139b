"""The Ray engine on a cluster of several nodes, each a process of this machine, with the CPU driver. Needs ray."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchguard.errors import BenchguardError, UsageError
from benchguard.fleet.grading import grade_all, grade_many
from benchguard.fleet.job import Graded
from benchguard.grade.options import GradeOptions
from tests.support.mixed import OPTIONS, PROBLEM, mixed, unexpected

ray: Any = pytest.importorskip("ray", reason="needs pip install 'neutrino-bench[ray]'")

STORE_BYTES = 80 << 20
STRANGER = """
import sys
import ray

ray.init(address=sys.argv[1], log_to_driver=False, logging_level="ERROR")


@ray.remote(num_cpus=0)
def run():
    return b"a stranger's code ran"


print(ray.get(run.remote(), timeout=30).decode())
"""


@pytest.fixture
def cluster(native: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A head without work and two nodes of one CPU. The test is connected to it."""
    from ray.cluster_utils import Cluster

    assert (native / "sim").is_dir()
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    cluster = Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": 0,
            "num_gpus": 0,
            "object_store_memory": STORE_BYTES,
            "include_dashboard": False,
        },
    )
    try:
        for _ in range(2):
            cluster.add_node(num_cpus=1, num_gpus=0, object_store_memory=STORE_BYTES)
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


@pytest.mark.timeout(600)
def test_killed_node_loses_no_submission(cluster: Any) -> None:
    """SIGKILL to a node after the second outcome, while it grades."""
    said: list[str] = []
    submissions = mixed(10)

    async def collect() -> list[Graded]:
        graded = []
        async for each in grade_many(
            PROBLEM, submissions, GradeOptions(**OPTIONS), engine="ray", say=said.append
        ):
            graded.append(each)
            if len(graded) == 2:
                cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
        return graded

    graded = asyncio.run(collect())
    assert Counter(each.id for each in graded) == dict.fromkeys(submissions, 1)
    assert unexpected(graded) == []
    assert len({each.place for each in graded}) == 2
    assert any(each.attempts == 2 for each in graded)
    assert any("is gone" in text for text in said)


@pytest.mark.usefixtures("cluster")
def test_machine_without_the_problem_gets_no_work(monkeypatch: Any) -> None:
    """Every machine differs from the driver's problem; each says so before anything of the submission is sent."""
    monkeypatch.setattr("benchguard.fleet.node.sha256_of", lambda _: "0" * 64)
    with pytest.raises(
        BenchguardError, match=r"no machine .* can grade: .* the problem .*vector_add.py differs there"
    ):
        list(grade_all(PROBLEM, mixed(1), GradeOptions(**OPTIONS), engine="ray"))


@pytest.mark.usefixtures("cluster")
def test_cluster_without_gpu_is_refused() -> None:
    with pytest.raises(BenchguardError, match=r"no machine of the Ray cluster has a GPU"):
        list(grade_all(PROBLEM, mixed(1), engine="ray"))


@pytest.mark.quick
def test_network_for_submissions_is_refused() -> None:
    """A submission with a network could give work to an open cluster, which runs it outside of any sandbox."""
    for options, message in (
        ({"network": True}, "--network"),
        ({"keep": PROBLEM.parent / "absent"}, "--keep"),
    ):
        with pytest.raises(UsageError, match=message):
            list(grade_all(PROBLEM, [], engine="ray", **options))


@pytest.mark.quick
def test_missing_ray_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"pip install 'neutrino-bench\[ray\]'"):
        list(grade_all(PROBLEM, [], engine="ray"))


@pytest.mark.nightly
@pytest.mark.timeout(300)
@pytest.mark.parametrize("mode", ["disabled", ""])
def test_stranger_without_the_token_runs_no_code(mode: str, tmp_path: Any, monkeypatch: Any) -> None:
    """In a local cluster of the engine, whose ports are open to the network; without the token the stranger's code
    runs."""
    from benchguard.fleet.ray_engine import connected

    monkeypatch.setenv("HOME", str(tmp_path))  # where Ray keeps the token
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_AUTH_MODE", mode) if mode else monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    with connected(ray, None):
        address = ray.get_runtime_context().gcs_address
        environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
        environment |= {"HOME": str(tmp_path / "stranger"), "RAY_AUTH_MODE": "disabled"}
        ran = subprocess.run(
            [sys.executable, "-c", STRANGER, address],
            env=environment,
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
    assert ("a stranger's code ran" in ran.stdout) == (mode == "disabled"), ran.stderr
