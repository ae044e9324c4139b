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

from ..cases import Receiver
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
    inline, cases, receiver = None, None, Receiver(order.channel)
    if order.inline_order is not None:
        from .inline_rounds import InlineRounds  # noqa: PLC0415 - its imports take a seventh of the runner's

        cases = _cases(receiver)
        inline = InlineRounds(order.inline_order, cases.cases, reporter)
    entry, driver = _load(order, reporter)
    reporter.rest()  # the judge's time is not the submission's
    cases = cases or _cases(receiver)
    gc.freeze()  # modules: torch's objects take a collection 0.1 s, and one precedes each recorded call
    for number, case in enumerate(cases.cases):
        inputs = _inputs(receiver, number)
        reporter.begin("warm-up", number)
        memory = CaseMemory(driver, case, inputs, cases.tensors)
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
        del (
            inputs,
            memory,
            call,
            rounds,
        )  # or their mapping of a batch of inputs would be there beside the next one
        reporter.rest()  # while the judge makes inputs
    reporter.finish()


def _cases(receiver: Receiver) -> Cases:
    cases = receiver.cases()
    if cases is None:
        raise SubmissionError("the problem could not be opened, so the submission cannot be called")
    return cases


def _inputs(receiver: Receiver, case: int) -> Inputs:
    found = receiver.throwaway(case)
    if found is None:
        raise SubmissionError("the problem's inputs could not be made, so the submission cannot be called")
    return Inputs(*found)


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
