"""The taskset in verifiers itself, from a reward server. Needs the package verifiers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.unit.rewards.serving import response, serving_rewards

pytestmark = pytest.mark.full
vf: Any = pytest.importorskip("verifiers.v1", reason="needs pip install 'neutrino-bench[verifiers]'")

MODULE = 'from benchguard.rewards.verifiers import KernelTaskset\n\n__all__ = ["KernelTaskset"]\n'


def scored(url: str, text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The trace of a rollout with the reply `text`, scored as verifiers does."""
    from verifiers.v1.utils.loaders import load_taskset, taskset_class

    (folder / "neutrino_kernels.py").write_text(MODULE)
    monkeypatch.syspath_prepend(folder)
    kind = taskset_class("neutrino-kernels")
    from benchguard.rewards.verifiers import KernelConfig

    config = KernelConfig(
        id="neutrino-kernels", prompts={"add": "Write a kernel."}, task={"url": url, "patience_s": 0}
    )
    taskset = load_taskset(config)
    assert isinstance(taskset, kind)
    (task,) = list(taskset)
    assert (task.data.idx, task.data.prompt, task.data.name) == (0, "Write a kernel.", "add")
    trace = vf.Trace(
        task=vf.TraceTask(type="KernelTask", data=task.data, key=task.key, hash=task.hash),
        state=vf.State(),
        agent=vf.AgentInfo(config=vf.AgentConfig()),
        nodes=[
            vf.MessageNode(message=vf.UserMessage(content="Write a kernel.")),
            vf.MessageNode(message=vf.AssistantMessage(content=text), parent=0, sampled=True),
        ],
    )
    assert trace.last_reply == text.strip()
    asyncio.run(task.score(trace))
    return trace


@pytest.mark.parametrize(("verdict", "reward"), [("pass", 0.55), ("wrong", 0.0), ("violation", 0.0)])
def test_reply_is_scored(
    verdict: str, reward: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving_rewards() as url:
        trace = scored(url, response(verdict), tmp_path, monkeypatch)
    assert trace.reward == pytest.approx(reward)
    assert trace.metrics[verdict] == 1.0
    assert sum(trace.metrics[name] for name in ("pass", "wrong", "failed", "violation")) == 1.0
    assert trace.info["neutrino_bench"]["verdict"] == verdict


def test_failure_of_the_machine_fails_the_rollout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving_rewards() as url, pytest.raises(vf.TaskError, match="the node is lost"):
        scored(url, response("error"), tmp_path, monkeypatch)
