"""The calls of a case, timed where they are made (benchguard/inline)."""

from __future__ import annotations

from ...inline.run import prepare
from ..contract import Order
from .case_memory import CaseMemory
from .entry import Call
from .reporter import Reporter
from .returned import outputs_of


class InlineRounds:
    """Made before a byte of the submission is loaded: what is secret goes where it cannot see it."""

    def __init__(self, order: Order, reporter: Reporter) -> None:
        assert order.inline_order is not None
        reporter.begin("arm")
        self._order, self._reporter = order, reporter
        self._session = prepare(order.inline_order, order.cases)

    def time(self, number: int, memory: CaseMemory, call: Call) -> None:
        """All samples of a case that was warmed up. Raises what the submission raises, InlineError, SubmissionError."""
        case = self._order.cases[number]
        given = {each.name: memory.given(each.name) for each in case.buffers}
        addresses = {name: place.address for name, place in given.items()}

        def outputs(returned: object) -> dict[str, int]:
            return {name: place.address for name, place in outputs_of(case, given, returned).items()}

        self._reporter.begin("time", number)
        memory.prepare(0)
        returns = call() is not None  # only then is there something to look at behind each call
        self._session.run(number, call, addresses, outputs if returns else None)
