"""A reward function for VERL, which asks a reward server.

    reward.custom_reward_function.path=pkg://benchguard.rewards.verl
    +reward.custom_reward_function.reward_kwargs.url=http://127.0.0.1:8155

VERL's reward loop (verl 0.9.1, experimental/reward_loop/reward_manager) calls compute_score with these names, and takes
a dictionary with a `score`; it keeps the other entries as metrics, so every answer has the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .client import RewardClient


def compute_score(
    data_source: str,  # noqa: ARG001 - VERL's names
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    url: str,
    token: str = "",
    timeout_s: float = 1800.0,
    patience_s: float = 600.0,
    **_: Any,
) -> dict[str, float | str]:
    """The reward of a response.

    Args:
        data_source: name of the data set; not used.
        solution_str: the model's response, in which the submission is the last fenced block of code.
        ground_truth: name of a problem of the reward server.
        extra_info: further columns of the data set; `problem` here has precedence over `ground_truth`.
        url: address of the reward server.
        token: the server's token.
        timeout_s: longest wait for one answer, in seconds.
        patience_s: time in seconds in which a request is sent again, while machines fail.

    Returns:
        `score`; `acc`, 1 for a pass; `speedup`, 0 without one; `violation`, 1 for a violation; `verdict`; `reason`.

    Raises:
        NoRewardError: machines failed. VERL then drops the group of this prompt, and counts no reward.
        UsageError: the server refused the request.
    """
    problem = str((extra_info or {}).get("problem") or ground_truth)
    reward = RewardClient(url, token, timeout_s, patience_s).reward(problem, solution_str)
    assert reward.score is not None
    return {
        "score": reward.score,
        "acc": float(reward.verdict == "pass"),
        "speedup": reward.speedup or 0.0,
        "violation": float(reward.verdict == "violation"),
        "verdict": reward.verdict,
        "reason": reward.reason,
    }
