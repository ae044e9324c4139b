"""Load a submission in the sandboxed process, call it for each case, and record two of the calls.

The submission can change this code in its process, so no verdict of pass rests on it (docs/threat-model.md).
It serves honest submissions: it calls them, and explains their failures.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from pathlib import Path
from typing import NoReturn

from ..cases import receive_cases
from ..contract import Cases, Gave, Order
from .cuda_entry import cuda_driver, load_cuda, load_ptx
from .driver import Driver
from .entry import Entry
from .hip_entry import hip_driver, load_hip
from .memory import CaseMemory, Inputs
from .python_entry import load_python
from .reporting import Reporter, SubmissionError, broke
from .rounds import Rounds

STATUS_BROKE = 1


def main(order: Order, events: int) -> NoReturn:
    """Carry out `order`, send events to the descriptor `events`, and end the process."""
    reporter, status = Reporter(events), 0
    try:
        _run(order, reporter)
    except BaseException as error:  # submissions may raise anything, including SystemExit
        status = STATUS_BROKE
        reporter.send(broke(error, reporter.phase, Path(order.submission).parent))
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:  # the submission may have replaced the stream
                continue
        # Skip exit handlers: frameworks may hang in them.
        os._exit(status)


def _run(order: Order, reporter: Reporter) -> None:
    """With inline timing the secrets are hidden before the submission is loaded, so the cases are needed first."""
    inline, cases = None, None
    if order.inline_order is not None:
        from .inline_rounds import InlineRounds  # noqa: PLC0415 - its imports take a seventh of the runner's

        cases = _cases(order)
        inline = InlineRounds(order.inline_order, cases.cases, reporter)
    entry, driver = _load(order, reporter)
    reporter.rest()  # the judge's time is not the submission's
    cases = cases or _cases(order)
    gc.freeze()  # modules: torch's objects take a collection 0.1 s, and one precedes each recorded call
    inputs = Inputs(cases.inputs)
    for number, case in enumerate(cases.cases):
        reporter.begin("warm-up", number)
        memory = CaseMemory(driver, case, inputs, cases.layouts[number], cases.offsets[number], cases.tensors)
        memory.prepare(0)  # a module copies its constants when it is bound
        call = entry.bind(case, memory, cases.init)
        rounds = Rounds(driver, number, case, memory, call)
        reporter.called(number, rounds.warm_up(order.warm_up))
        if inline is not None:
            inline.time(number, memory, call)
        else:
            reporter.begin("record", number)
            rounds.record(order.are_captures_kept)
            if rounds.returned is not None:
                reporter.send(Gave(number, rounds.returned))
        memory.release()
    reporter.finish()


def _cases(order: Order) -> Cases:
    cases = receive_cases(order.channel)
    if cases is None:
        raise SubmissionError("the problem could not be opened, so the submission cannot be called")
    return cases


def _load(order: Order, reporter: Reporter) -> tuple[Entry, Driver]:
    if order.language == "python":
        reporter.begin("import")
        entry = load_python(order)
        began = time.monotonic()
        driver = Driver()  # after the import, which may set variables that the driver reads at start
        took = time.monotonic() - began
        reporter.overlapped("driver", took, took)
        return entry, driver
    reporter.begin("driver")
    driver = {"cuda": cuda_driver, "ptx": Driver, "hip": hip_driver}[order.language]()
    reporter.begin("compile")
    if order.language == "cuda":
        return load_cuda(order, driver, reporter), driver
    load = load_ptx if order.language == "ptx" else load_hip
    return load(order, driver), driver
