"""The calls of one case: warm-up, then two recorded calls."""

from __future__ import annotations

import gc
import time
from collections.abc import Mapping

from ...problem.spec import CaseSpec, Returned, Role
from ...region import Memory, RegionError, region, region_range
from .driver import Driver
from .entry import Call
from .memory import CaseMemory
from .reporting import SubmissionError
from .results import find_results
from .returned import outputs_of
from .unused_memory import fill_unused

REGIONS = 2
CALLS, CALLS_MAX = 2, 4
SHORT_SECONDS = 0.05
"""Some submissions capture a CUDA graph in their second call and once more in their third; the suites' own harnesses
call them more than twice before they measure."""


class Rounds:
    """`number` is the case's index, which names its regions. Raises the submission's exceptions too."""

    def __init__(self, driver: Driver, number: int, case: CaseSpec, memory: CaseMemory, call: Call) -> None:
        self._driver, self._number, self._case = driver, number, case
        self._memory, self._call = memory, call
        self._buffers: Mapping[str, Memory] = {
            each.name: memory.memory_of(each.name) for each in case.buffers
        }
        self._returned: Returned | None = None
        self._results: tuple[Memory, ...] = ()
        """Where the last call's results were. They are freed by now."""

    def warm_up(self, calls: int | None) -> float:
        """Call the submission until it has compiled, tuned and allocated. Return the last call's seconds.

        `calls`: None for CALLS, and more up to CALLS_MAX while a call is short.
        """
        seconds, count = 0.0, 0
        while count < (calls or CALLS) or (calls is None and count < CALLS_MAX and seconds < SHORT_SECONDS):
            self._memory.prepare(0, warm_up=True)
            began = time.monotonic()
            returned = self._call()
            self._settle()
            seconds = time.monotonic() - began
            count += 1
            self._outputs(returned)
            del returned  # frees memory for the next call
        return seconds

    def record(self, are_kept: bool) -> None:
        """Record regions CASE/0 and CASE/1, on throw-away sets 0 and 1.

        If `are_kept`, with the inputs' content, which the judge's sets replace in a grade, and the memory after them.
        """
        self._returned = None
        for number in range(REGIONS):
            gc.collect()  # or garbage of the last call would be in the capture, or freed in the region
            fill_unused(self._driver, self._results)
            self._memory.prepare(number)
            gc.disable()
            try:
                self._record(f"{self._number}/{number}", are_kept)
            except RegionError as error:
                raise SubmissionError(f"the call cannot be recorded: {error}", unreplayable=True) from error
            finally:
                gc.enable()
            self._settle()

    @property
    def returned(self) -> Returned | None:
        """The results of the recorded calls, for a case with `returns`."""
        return self._returned

    def _outputs(self, value: object) -> Mapping[str, Memory]:
        """The ranges of the outputs. Raises SubmissionError, also if a call returns another structure than the last."""
        if self._case.returns is None:
            found = outputs_of(self._case, self._buffers, value)
            self._results = tuple(found.values())
            return found
        results = find_results(self._case, self._buffers, value)
        if self._returned is not None and results.returned != self._returned:
            raise SubmissionError(
                "two calls returned results of different structures, shapes or strides, which a replay cannot repeat",
                unreplayable=True,
            )
        self._returned = results.returned
        self._results = tuple(results.memory.values())
        return results.memory

    def _record(self, name: str, are_kept: bool) -> None:
        """Record one call. `returned` must live until the region ends, or its memory is missing in the capture."""
        inputs, state = self._named("input", "inout"), self._named("constant")
        with region(
            name,
            inputs=inputs,
            state=state,
            required=True,
            memory_after=are_kept,
            memory_of_inputs=are_kept,
        ):
            returned = self._call()
            for output, memory in self._outputs(returned).items():
                if memory.bytes:
                    region_range(output, memory, "output")
        del returned

    def _named(self, *roles: Role) -> dict[str, Memory]:
        """Ranges for the region. A buffer updated in place is named once, as an input (grade/specification.py)."""
        return {
            each.name: self._buffers[each.name]
            for each in self._case.buffers
            if each.role in roles and each.bytes
        }

    def _settle(self) -> None:
        """Wait for the device in the runner's context. Raises SubmissionError for a kernel's fault."""
        try:
            self._driver.make_current()
            self._driver.synchronise()
        except SubmissionError as failure:
            raise SubmissionError(f"case {self._case.name}: {failure.text} after the call") from failure
