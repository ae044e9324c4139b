"""A taskset for verifiers and prime-rl, which asks a reward server.

verifiers finds a taskset by the name of a module that exports it, so an environment is a module of two lines:

    from benchguard.rewards.verifiers import KernelTaskset
    __all__ = ["KernelTaskset"]

Written for the interface verifiers.v1 of verifiers 0.4. It needs the extra neutrino-bench[verifiers].
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import verifiers.v1 as vf

from .client import RewardClient

VERDICTS = ("pass", "wrong", "failed", "violation")


class KernelData(vf.TaskData):
    """`problem` is a name of a problem of the reward server."""

    problem: str


class KernelTaskConfig(vf.TaskConfig):
    """The reward server. `timeout_s` and `patience_s` are those of RewardClient, in seconds."""

    url: str = "http://127.0.0.1:8155"
    token: str = ""
    timeout_s: float = 1800.0
    patience_s: float = 600.0


class KernelTask(vf.Task[KernelData, vf.State, KernelTaskConfig]):
    """One prompt for a kernel. The submission is the last fenced block of code in the last reply."""

    @vf.reward
    async def kernel(self, trace: vf.Trace) -> float:
        """The score. Raises NoRewardError if machines failed: verifiers then marks the rollout as failed."""
        config = self.config
        client = RewardClient(config.url, config.token, config.timeout_s, config.patience_s)
        reward = await asyncio.to_thread(client.reward, self.data.problem, trace.last_reply)
        assert reward.score is not None
        trace.record_metrics({name: float(reward.verdict == name) for name in VERDICTS})
        trace.record_metric("speedup", reward.speedup or 0.0)
        trace.info["neutrino_bench"] = {"verdict": reward.verdict, "reason": reward.reason}
        return reward.score


class KernelConfig(vf.TasksetConfig):
    """`prompts` has the prompt for each problem of the reward server, by its name."""

    task: KernelTaskConfig = KernelTaskConfig()
    prompts: dict[str, str] = {}  # noqa: RUF012 - a field of pydantic, which copies it


class KernelTaskset(vf.Taskset[KernelTask, KernelConfig]):
    """One task for each prompt."""

    def load(self) -> Iterator[KernelTask]:
        """The tasks in the order of the prompts."""
        for problem, prompt in self.config.prompts.items():
            yield KernelTask(KernelData(name=problem, problem=problem, prompt=prompt), self.config.task)


__all__ = ["KernelTaskset"]
