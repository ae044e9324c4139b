"""A reward server whose grades need no GPU: the source of a submission is the verdict."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from benchguard.errors import BenchguardError
from benchguard.grade.result import GradeResult
from benchguard.rewards.response import Code
from benchguard.rewards.reward import Baseline
from benchguard.rewards.rewarder import Rewarder, RewardTask
from benchguard.rewards.server import RewardServer, ServerOptions
from tests.support.results import graded_result

PROBLEM = "/problems/add.py"


def response(source: str) -> str:
    return f"My kernel:\n```cuda\n{source}\n```\n"


def grade(problem: str, code: Code) -> GradeResult:
    assert problem == PROBLEM
    verdict = code.source.strip()
    if verdict == "error":
        raise BenchguardError("the node is lost")
    return graded_result(verdict, reason="" if verdict == "pass" else "a reason")  # type: ignore[arg-type]


@contextmanager
def serving_rewards() -> Iterator[str]:
    """The address of a server with the problem "add", whose passes are as fast as the baseline."""
    tasks = {"add": RewardTask(PROBLEM, Baseline(10e-6))}
    with RewardServer(Rewarder(tasks, grade), ServerOptions(), [].append) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server.url
        finally:
            server.shutdown()
            thread.join()
