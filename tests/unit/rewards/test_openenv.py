"""The environment in OpenEnv's own server and client. Needs the package openenv."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.unit.rewards.serving import response, serving_rewards

pytestmark = pytest.mark.full
openenv: Any = pytest.importorskip("openenv", reason="needs pip install 'neutrino-bench[openenv]'")


@contextmanager
def environment() -> Iterator[str]:
    """The address of OpenEnv's server of an environment over a reward server."""
    import uvicorn
    from openenv.core.env_server.http_server import create_app

    from benchguard.rewards.client import RewardClient
    from benchguard.rewards.openenv import KernelAction, KernelEnvironment, KernelObservation

    with serving_rewards() as url:
        client = RewardClient(url, patience_s=0)
        app = create_app(
            lambda: KernelEnvironment(client, {"add": "Write a kernel."}),
            KernelAction,
            KernelObservation,
            env_name="kernels",
            max_concurrent_envs=2,
        )
        server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error"))
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.01)
            port = server.servers[0].sockets[0].getsockname()[1]
            yield f"http://127.0.0.1:{port}"
        finally:
            server.should_exit = True
            thread.join()


def step(source: str) -> tuple[Any, Any]:
    """The results of a reset and of a step, from OpenEnv's generic client."""

    async def episode(url: str) -> tuple[Any, Any]:
        async with openenv.GenericEnvClient(base_url=url) as client:
            first = await client.reset()
            return first, await client.step({"problem": "add", "response": response(source)})

    with environment() as url:
        return asyncio.run(episode(url))


def test_episode_is_one_submission() -> None:
    first, last = step("pass")
    assert first.observation["prompts"] == {"add": "Write a kernel."}
    assert (first.done, first.reward) == (False, None)
    assert last.reward == pytest.approx(0.55)
    assert last.done and last.observation["verdict"] == "pass"


def test_cheat_has_the_reward_of_a_wrong_answer() -> None:
    assert step("violation")[1].reward == step("wrong")[1].reward == 0.0


def test_failure_of_the_machine_is_an_error_and_no_observation() -> None:
    with pytest.raises(RuntimeError, match="the node is lost"):
        step("error")
