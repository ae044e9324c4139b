"""A client of the reward server, for the adapters to trainers."""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request
from dataclasses import dataclass

import msgspec

from ..errors import BenchguardError, UsageError
from ..ipc.json_text import UNREADABLE
from ..ipc.text import encodable, one_line
from .request import RESPONSE_MAX, RewardRequest
from .reward import Reward

ANSWER_MAX = 1 << 20
"""Bytes of an answer."""

PAUSE_SECONDS = 1.0
PAUSE_SECONDS_MAX = 30.0


class NoRewardError(BenchguardError):
    """The machine failed, so a submission has no reward. Leave the sample out."""


@dataclass(frozen=True)
class RewardClient:
    """Asks a reward server.

    Attributes:
        url: address of the server, such as http://127.0.0.1:8155.
        token: the server's token; empty if it has none.
        timeout_s: longest wait for one answer, in seconds.
        patience_s: time in seconds in which a request is sent again, while the server or its machines fail.
    """

    url: str
    token: str = ""
    timeout_s: float = 1800.0
    patience_s: float = 600.0

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise UsageError(
                f"the address {self.url!r} has no scheme; give one such as http://127.0.0.1:8155"
            )

    def reward(self, problem: str, response: str) -> Reward:
        """The reward of a model's response.

        Args:
            problem: name of a problem of the server.
            response: the model's text, in which the submission is the last fenced block of code.

        Returns:
            A reward with a score.

        Raises:
            NoRewardError: the server or its machines still failed after `patience_s`.
            UsageError: the server refused the request.
        """
        request = RewardRequest(problem, response=encodable(response[:RESPONSE_MAX]))
        data = msgspec.json.encode(request, order="sorted")
        until, pause = time.monotonic() + self.patience_s, PAUSE_SECONDS
        while True:
            try:
                return self._ask(data)
            except NoRewardError as error:
                if time.monotonic() + pause > until:
                    raise NoRewardError(f"{error}; gave up after {self.patience_s:g} s") from error
            time.sleep(pause)
            pause = min(2 * pause, PAUSE_SECONDS_MAX)

    def _ask(self, data: bytes) -> Reward:
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        request = urllib.request.Request(f"{self.url.rstrip('/')}/reward", data, headers)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=self.timeout_s) as answer:
                reward = msgspec.json.decode(answer.read(ANSWER_MAX), type=Reward)
        except urllib.error.HTTPError as error:
            text = _text_of(error)
            if error.code in (500, 502, 503, 504):
                raise NoRewardError(f"the reward server answered {error.code}: {text}") from error
            raise UsageError(f"the reward server refused the request with {error.code}: {text}") from error
        except (OSError, ValueError, http.client.HTTPException, *UNREADABLE) as error:
            raise NoRewardError(f"no answer from the reward server at {self.url}: {error}") from error
        if reward.score is None:
            raise NoRewardError(f"no reward: {reward.reason}")
        return reward


def _text_of(error: urllib.error.HTTPError) -> str:
    """The text of an answer with an error status, or why it could not be read."""
    try:
        return one_line(error.read(ANSWER_MAX).decode("utf-8", "replace"))
    except (OSError, ValueError, http.client.HTTPException) as cut:
        return f"its text was cut off: {cut}"
