"""The client of the reward server, and VERL's reward function over it."""

from __future__ import annotations

import importlib
import inspect
import json
import socket
import threading

import pytest

from benchguard.errors import BenchguardError, UsageError
from benchguard.rewards.client import NoRewardError, RewardClient
from benchguard.rewards.request import parse_request
from benchguard.rewards.response import TEXT_MAX
from benchguard.rewards.verl import compute_score
from tests.unit.rewards.serving import response, serving_rewards

REPLACED = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


def test_client_gets_the_servers_reward() -> None:
    with serving_rewards() as url:
        reward = RewardClient(url).reward("add", response("pass"))
    assert (reward.score, reward.speedup, reward.verdict) == (pytest.approx(0.55), pytest.approx(1.0), "pass")


def test_failing_machine_is_asked_again_and_then_no_reward() -> None:
    with (
        serving_rewards() as url,
        pytest.raises(NoRewardError, match=r"503.*the node is lost.*gave up after 0 s"),
    ):
        RewardClient(url, patience_s=0).reward("add", response("error"))


def test_server_that_is_gone_is_no_reward() -> None:
    with serving_rewards() as url:
        pass
    with pytest.raises(NoRewardError, match="no answer from the reward server"):
        RewardClient(url, patience_s=0).reward("add", response("pass"))


@pytest.mark.parametrize(
    "answer",
    [
        b"no status\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{",
        b"HTTP/1.1 400 No\r\nContent-Length: 9\r\n\r\n{",
    ],
)
def test_answer_that_is_cut_off_or_no_http_ends_in_an_error_of_ours(answer: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(BenchguardError, match="reward server"):
            RewardClient(url, patience_s=0).reward("add", response("pass"))
        thread.join()


def test_address_without_scheme_is_refused_at_once() -> None:
    with pytest.raises(UsageError, match="no scheme"):
        RewardClient("localhost:8155")


def test_refused_request_is_not_sent_again() -> None:
    with serving_rewards() as url, pytest.raises(UsageError, match="unknown problem"):
        RewardClient(url, patience_s=60).reward("subtract", response("pass"))


@pytest.mark.parametrize("half", ["\ud800", "\udfff", "\udc00\ud83d"])
def test_response_with_half_of_a_surrogate_pair_gets_a_reward(half: str) -> None:
    """A model can emit one. It ended the trainer with an exception of the encoder, and Python's JSON was refused."""
    with serving_rewards() as url:
        text = f"{half}{response('pass')}"
        assert RewardClient(url, patience_s=0).reward("add", text).verdict == "pass"
    request = parse_request(json.dumps({"problem": "add", "response": text + "\U0001f600"}).encode())
    assert request.response == half.translate(REPLACED) + response("pass") + "\U0001f600"


def test_response_that_is_too_long_is_a_failure_and_no_exception() -> None:
    with serving_rewards() as url:
        client = RewardClient(url, patience_s=0)
        reward = client.reward("add", "\0" * (TEXT_MAX + 5) + response("pass"))
        assert (reward.verdict, reward.score) == ("failed", 0.0)
        assert "more than" in reward.reason
        text = response("pass")
        assert client.reward("add", " " * (TEXT_MAX - len(text)) + text).verdict == "pass"


def score(url: str, source: str) -> dict[str, float | str]:
    """As VERL's NaiveRewardManager calls it (verl 0.9.1)."""
    return compute_score(
        data_source="kernels",
        solution_str=response(source),
        ground_truth="add",
        extra_info={"num_turns": None, "rollout_reward_scores": {}},
        url=url,
        patience_s=0,
    )


def test_verl_gets_the_same_entries_for_every_verdict() -> None:
    """VERL stacks the entries of a batch, so none may be missing."""
    with serving_rewards() as url:
        answers = [score(url, verdict) for verdict in ("pass", "wrong", "failed", "violation", "timeout")]
    assert len({tuple(each) for each in answers}) == 1
    assert [each["score"] for each in answers] == [pytest.approx(0.55), 0.0, 0.0, 0.0, 0.0]
    assert [each["acc"] for each in answers] == [1.0, 0.0, 0.0, 0.0, 0.0]
    assert [each["violation"] for each in answers] == [0.0, 0.0, 0.0, 1.0, 0.0]


def test_verl_gets_an_exception_for_a_failure_of_the_machine() -> None:
    """VERL drops the group of such a prompt (trainer/ppo/v1/agent_loop_tq.py)."""
    with serving_rewards() as url, pytest.raises(NoRewardError):
        score(url, "error")


def test_verl_finds_the_function_by_its_package_path() -> None:
    found = importlib.import_module("benchguard.rewards.verl").compute_score
    assert not inspect.iscoroutinefunction(found)  # the remote reward manager refuses coroutines
    assert {"data_source", "solution_str", "ground_truth", "extra_info"} <= set(
        inspect.signature(found).parameters
    )
