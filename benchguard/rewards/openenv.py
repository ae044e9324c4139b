"""An OpenEnv environment of one step: the action is a response, the observation has its reward.

    app = create_app(lambda: KernelEnvironment(client, prompts), KernelAction, KernelObservation, env_name="kernels")

Written for openenv 0.10 (openenv.core.env_server). It needs the extra neutrino-bench[openenv].
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State

from ..errors import UsageError
from .client import RewardClient
from .reward import Reward


class KernelAction(Action):
    """`response` is the model's text, in which the submission is the last fenced block of code."""

    problem: str
    response: str


class KernelObservation(Observation):
    """After a reset `prompts` has the problems. After a step the other fields have the result."""

    prompts: dict[str, str] = {}  # noqa: RUF012 - a field of pydantic, which copies it
    verdict: str = ""
    reason: str = ""
    speedup: float | None = None


class KernelEnvironment(Environment[KernelAction, KernelObservation, State]):
    """An episode is one submission.

    A step raises NoRewardError if machines failed. It does not give an observation without a reward, because clients
    count that as 0 (verifiers 0.4 adds `reward or 0.0`).

    Args:
        client: the reward server.
        prompts: the prompt for each problem of the reward server, by its name.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, client: RewardClient, prompts: Mapping[str, str]) -> None:
        super().__init__()
        self._client, self._prompts = client, dict(prompts)
        self._state = State()

    def reset(
        self,
        seed: int | None = None,  # noqa: ARG002 - OpenEnv's names; nothing is drawn
        episode_id: str | None = None,
        **_: Any,
    ) -> KernelObservation:
        """The prompts."""
        self._state = State(episode_id=episode_id)
        return KernelObservation(prompts=self._prompts)

    def step(self, action: KernelAction, timeout_s: float | None = None, **_: Any) -> KernelObservation:  # noqa: ARG002
        """Grade the response, and end the episode. The reward client has its own time limit."""
        self._check(action)
        return self._observation(self._client.reward(action.problem, action.response))

    async def step_async(
        self,
        action: KernelAction,
        timeout_s: float | None = None,  # noqa: ARG002
        **_: Any,
    ) -> KernelObservation:
        """As step(), without blocking other sessions."""
        self._check(action)
        reward = await asyncio.to_thread(self._client.reward, action.problem, action.response)
        return self._observation(reward)

    @property
    def state(self) -> State:
        """The number of steps."""
        return self._state

    def _check(self, action: KernelAction) -> None:
        if action.problem not in self._prompts:
            raise UsageError(f"unknown problem {action.problem!r}; reset() gives the problems")

    def _observation(self, reward: Reward) -> KernelObservation:
        self._state.step_count += 1
        return KernelObservation(
            done=True,
            reward=reward.score,
            verdict=reward.verdict,
            reason=reward.reason,
            speedup=reward.speedup,
        )
