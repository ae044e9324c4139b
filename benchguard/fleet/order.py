"""Messages between the driver of a fleet and a machine: an order as msgpack, an answer as one line of JSON.

Both ends are ours. An answer is parsed against its schema all the same: it holds text of a submission.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from ..errors import BenchguardError
from ..grade.options import GradeOptions
from ..grade.result import GradeResult
from ..ipc.json_text import UNREADABLE
from .job import Job

ANSWER_MAX = 64 << 20
"""Bytes of an answer."""


class Order(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Grade a job. `options` are the fields of GradeOptions that differ from the defaults.

    `archive` is the folder for its bundle; empty for none.
    """

    job: Job
    options: dict[str, Any]
    archive: str = ""

    def grade_options(self) -> GradeOptions:
        return GradeOptions.of_changed(self.options)


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Either a result, or the reason why this machine has none. `stage`: the stage of a cascade that decided.

    `bundle` is the id of the stored bundle, if one was asked for.
    """

    result: GradeResult | None = None
    trouble: str = ""
    stage: Literal["cpu", "final"] = "final"
    bundle: str = ""


def order_bytes(job: Job, options: GradeOptions, archive: str = "") -> bytes:
    """An order as bytes."""
    return msgspec.msgpack.encode(Order(job, options.changed(), archive))


def parse_order(data: bytes) -> Order:
    """Raises BenchguardError for anything but an order."""
    try:
        return msgspec.msgpack.decode(data, type=Order)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BenchguardError(f"invalid order: {error}") from error


def parse_answer(data: bytes) -> Answer:
    """Raises BenchguardError for anything but an answer."""
    try:
        answer = msgspec.json.decode(data, type=Answer)
    except UNREADABLE as error:
        raise BenchguardError(f"invalid answer: {error}") from error
    if (answer.result is None) == (not answer.trouble):
        raise BenchguardError("invalid answer: it has neither a result nor a reason")
    return answer
