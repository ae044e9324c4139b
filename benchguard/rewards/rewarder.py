"""From a model's response to a reward: find the code, grade it, score the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from ..errors import BenchguardError, UsageError
from ..grade.result import GradeResult
from ..quarantine.contract import Language
from .response import Code, code_in, listed
from .reward import Baseline, Reward, no_reward, reward_of, reward_without_code
from .scale import Scale

Grade: TypeAlias = Callable[[str, Code], GradeResult]
"""Grades code as an answer to a problem (PATH or PATH:NAME); raises BenchguardError if the machine failed. Several
threads call it."""


@dataclass(frozen=True)
class RewardTask:
    """A problem that submissions answer.

    Attributes:
        problem: PATH or PATH:NAME of the problem.
        baseline: the time that gives the middle of the scale; None: every pass scores the same.
        language: language of the submissions; None: the language behind the fence.
    """

    problem: str
    baseline: Baseline | None = None
    language: Language | None = None


@dataclass(frozen=True)
class Rewarder:
    """Rewards submissions to named problems. A client chooses among the names, and never gives a path."""

    tasks: Mapping[str, RewardTask]
    grade: Grade
    scale: Scale = field(default_factory=Scale)
    languages: frozenset[Language] = frozenset({"cuda", "ptx", "python"})
    """The languages that `grade` takes."""

    def task(self, name: str) -> RewardTask:
        """Raises UsageError for an unknown name."""
        if name not in self.tasks:
            raise UsageError(f"unknown problem {name!r}; the problems are {', '.join(sorted(self.tasks))}")
        return self.tasks[name]

    def of_response(self, name: str, text: str) -> Reward:
        """The reward of a model's response, in which the code is a fenced block. Raises UsageError as task()."""
        code = code_in(text, self.task(name).language, self.languages)
        return reward_without_code(code, self.scale) if isinstance(code, str) else self.of_code(name, code)

    def of_code(self, name: str, code: Code) -> Reward:
        """The reward of a submission. Without a score if the machine failed.

        Raises UsageError as task(), and for a language that is not graded.
        """
        task = self.task(name)
        if code.language not in self.languages:
            raise UsageError(
                f"no reward for a submission in {code.language}; send one in {listed(self.languages)}"
            )
        try:
            result = self.grade(task.problem, code)
        except (BenchguardError, OSError) as error:
            return no_reward(str(error))
        return reward_of(result, task.baseline, self.scale)
