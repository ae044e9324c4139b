"""The calls of one case: some to warm up, then two that are recorded."""

from __future__ import annotations

import gc
import time
from collections.abc import Mapping, Sequence

from ...inline.contract import InlineOrder
from ...inline.run import prepare
from ...problem.spec import CaseSpec, Role
from ...region import Memory, RegionError, region, region_range
from .driver import Driver
from .entry import Call
from .memory import CaseMemory
from .reporting import Reporter, SubmissionError
from .returned import outputs_of

REGIONS = 2


class Rounds:
    """`number` is the case's index, which names its regions. Raises what the submission raises, and SubmissionError."""

    def __init__(self, driver: Driver, number: int, case: CaseSpec, memory: CaseMemory, call: Call) -> None:
        self._driver, self._number, self._case = driver, number, case
        self._memory, self._call = memory, call
        self._given: Mapping[str, Memory] = {each.name: memory.given(each.name) for each in case.buffers}

    def warm_up(self, calls: int) -> float:
        """So that what is compiled, tuned and allocated at first is done. Returns the last call's seconds."""
        seconds = 0.0
        for _ in range(calls):
            self._memory.prepare(0)
            began = time.monotonic()
            returned = self._call()
            self._settle()
            seconds = time.monotonic() - began
            outputs_of(self._case, self._given, returned)
            del returned  # its memory is for the next call
        return seconds

    def record(self) -> None:
        """Regions CASE/0 and CASE/1, on throw-away set 0 and 1."""
        for number in range(REGIONS):
            gc.collect()  # what the last call left would be in the recording, or freed within it
            self._memory.prepare(number)
            gc.disable()
            try:
                self._record(f"{self._number}/{number}")
            except RegionError as error:
                raise SubmissionError(f"the call cannot be recorded: {error}", unreplayable=True) from error
            finally:
                gc.enable()
            self._settle()

    def _record(self, name: str) -> None:
        """What the call makes must live until the region ends: only then is its memory in the recording."""
        with region(name, inputs=self._named("input", "inout"), state=self._named("constant"), required=True):
            returned = self._call()
            for output, memory in outputs_of(self._case, self._given, returned).items():
                if memory.bytes:
                    region_range(output, memory, "output")
        del returned

    def _named(self, *roles: Role) -> dict[str, Memory]:
        """What is in place is named once, as an input (grade/specification.py)."""
        return {
            each.name: self._given[each.name]
            for each in self._case.buffers
            if each.role in roles and each.bytes
        }

    def _settle(self) -> None:
        """The device is done, in the context that is ours; what a kernel did wrong is said now."""
        try:
            self._driver.make_current()
            self._driver.synchronise()
        except SubmissionError as failure:
            raise SubmissionError(f"case {self._case.name}: after the call {failure.text}") from failure


class InlineRounds:
    """Made before a byte of the submission is loaded: what is secret goes where it cannot see it."""

    def __init__(self, order: InlineOrder, cases: Sequence[CaseSpec], reporter: Reporter) -> None:
        reporter.begin("arm")
        self._cases, self._reporter = cases, reporter
        self._session = prepare(order, cases)

    def time(self, number: int, memory: CaseMemory, call: Call) -> None:
        """All samples of a case that was warmed up. Raises what the submission raises, InlineError, SubmissionError."""
        case = self._cases[number]
        given = {each.name: memory.given(each.name) for each in case.buffers}
        addresses = {name: place.address for name, place in given.items()}

        def outputs(returned: object) -> dict[str, int]:
            return {name: place.address for name, place in outputs_of(case, given, returned).items()}

        self._reporter.begin("time", number)
        memory.prepare(0)
        returns = call() is not None  # only then is there something to look at behind each call
        self._session.run(number, call, addresses, outputs if returns else None)
