"""A request for a reward, as a client of the reward server sends it. Hostile bytes."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from ..errors import UsageError
from ..ipc.json_text import UNREADABLE, unique, without_halves
from ..ipc.text import one_line
from ..quarantine.contract import Language
from .response import TEXT_MAX, Code
from .reward import Reward
from .rewarder import Rewarder

BODY_MAX = 8 << 20
"""Bytes of a request: TEXT_MAX characters, each escaped in JSON."""

RESPONSE_MAX = TEXT_MAX + 1
"""Characters of a response. A longer one than TEXT_MAX is graded as failed, not refused."""

Text = Annotated[str, Meta(max_length=TEXT_MAX)]


class RewardRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Either `response`, a model's text with a fenced block, or `source` with its `language`."""

    problem: Annotated[str, Meta(max_length=256)]
    response: Annotated[str, Meta(max_length=RESPONSE_MAX)] | None = None
    source: Text | None = None
    language: Language | None = None

    def __post_init__(self) -> None:
        if (self.response is None) == (self.source is None):
            raise ValueError("give either `response` or `source`")
        if (self.source is None) != (self.language is None):
            raise ValueError("give `language` with `source`, and only then")


def parse_request(data: bytes) -> RewardRequest:
    """Raises UsageError for anything but a valid request."""
    try:
        request = msgspec.json.decode(without_halves(data), type=RewardRequest)
        unique(data)
    except UNREADABLE as error:
        raise UsageError(f"invalid request: {one_line(str(error))}") from error
    return request


def answer(rewarder: Rewarder, request: RewardRequest) -> Reward:
    """Grade a request. Raises UsageError for an unknown problem, and for a language that is not graded."""
    if request.source is not None and request.language is not None:
        return rewarder.of_code(request.problem, Code(request.source, request.language))
    return rewarder.of_response(request.problem, request.response or "")
