"""The timed calls of --inline."""

from __future__ import annotations

from collections.abc import Sequence

from ...inline.contract import InlineOrder
from ...inline.run import prepare
from ...problem.spec import CaseSpec
from .entry import Call
from .memory import CaseMemory
from .reporting import Reporter
from .returned import outputs_of


class InlineRounds:
    """Timed calls. Construct it before loading the submission, because it hides the secrets."""

    def __init__(self, order: InlineOrder, cases: Sequence[CaseSpec], reporter: Reporter) -> None:
        reporter.begin("arm")
        self._cases, self._reporter = cases, reporter
        self._session = prepare(order, cases)

    def time(self, number: int, memory: CaseMemory, call: Call) -> None:
        """Take all samples of a case, after warm-up.

        Raises InlineError, SubmissionError, and the submission's exceptions.
        """
        case = self._cases[number]
        buffers = {each.name: memory.memory_of(each.name) for each in case.buffers}
        addresses = {name: place.address for name, place in buffers.items()}

        def outputs(returned: object) -> dict[str, int]:
            return {name: place.address for name, place in outputs_of(case, buffers, returned).items()}

        memory.prepare(0)
        returns = call() is not None  # without a return value the outputs' addresses never change
        self._reporter.begin("time", number)
        self._session.run(number, call, addresses, outputs if returns else None)
