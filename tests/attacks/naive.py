"""A grader as there are many: python naive.py PROBLEM SUBMISSION [--case NAME]. It prints one line of JSON.

Attacks are proven on it. It does what graders in the field do, and no less than they (threat notes, read 2026-11):

- The submission is imported into the grader's own process (KernelBench's eval.py; most of kernelbot's tasks).
- Inputs are made once, from a seed that is in the source (KernelBench: 42), and are the same for every call
  (KernelBench's timing.py, kernelbot's benchmark mode, triton.testing.do_bench).
- The reference ran before, twice, since it is timed for the speed-up, and left its results in device memory
  (KernelBench; flashinfer-bench lends them to the submission's process).
- What the first call wrote to the first output is compared by allclose with 1e-2 (KernelBench; pygpubench has one
  output); what is timed is not looked at (KernelBench, flashinfer-bench, do_bench).
- Some warm-up, then a pair of events around each call on the default stream (do_bench, KernelBench's
  time_execution_with_cuda_event, kernelbot's eval.py); the median is the time.
- The result is a line on that process's standard output (kernelbot: on a pipe that it has open). With --isolated the
  submission has a process of its own, whose pickled result is believed (kernelbot's pools, flashinfer-bench's runner).

Events are torch.cuda.Event where the submission uses torch on a GPU, else the driver's.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import multiprocessing
import os
import statistics
import tempfile
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from benchguard.problem.load import load
from benchguard.problem.spec import Buffer
from benchguard.quarantine.contract import Confine, Order
from benchguard.quarantine.runner.arrays import DeviceArray, torch_in_use
from benchguard.quarantine.runner.cuda_entry import load_cuda
from benchguard.quarantine.runner.driver import Driver
from benchguard.quarantine.runner.python_entry import load_python
from benchguard.quarantine.runner.reporting import Reporter
from benchguard.quarantine.runner.returned import outputs_of
from benchguard.region import Memory

SEED = 42
WARM_UP = 5
TRIALS = 15
TOLERANCE = 1e-2


class DriverEvent:
    """As torch.cuda.Event: on the default stream, times in milliseconds."""

    cuda = ctypes.CDLL("libcuda.so.1")

    def __init__(self, enable_timing: bool = True) -> None:
        self._event = ctypes.c_void_p()
        self.cuda.cuEventCreate(ctypes.byref(self._event), 0 if enable_timing else 2)

    def record(self) -> None:
        self.cuda.cuEventRecord(self._event, None)

    def elapsed_time(self, end: DriverEvent) -> float:
        elapsed = ctypes.c_float()
        self.cuda.cuEventElapsedTime(ctypes.byref(elapsed), self._event, end._event)
        return elapsed.value


class Naive:
    """One case of a problem, and one submission. `arrays` are its buffers on the device."""

    tensors = False
    """A field of CaseMemory, which an entry binds: this suite does not ask for torch's tensors."""

    def __init__(self, problem: str, submission: Path, wanted: str | None) -> None:
        suite = load(problem)
        self.case = next(each for each in suite.cases if wanted in (None, each.spec.name))
        order = order_of(submission, suite.entry)
        self.driver = Driver()
        is_cuda = submission.suffix == ".cu"
        reporter = Reporter(os.open(os.devnull, os.O_WRONLY))
        self.entry = load_cuda(order, self.driver, reporter) if is_cuda else load_python(order)
        self.torch = torch_in_use()
        self.inputs: Mapping[str, Any] = self.case.inputs(SEED, self.case.distributions[0])
        self.arrays: dict[str, DeviceArray] = {}
        for each in self.case.spec.buffers:
            self.arrays[each.name] = DeviceArray(self.driver.allocate(each.bytes), each)
            if each.is_read:
                host = np.ascontiguousarray(self.inputs[each.name])
                self.driver.write(self.arrays[each.name].data_ptr(), host.ctypes.data, each.bytes)
        self.expected = self.reference()

    def run(self) -> dict[str, Any]:
        call = self.entry.bind(self.case.spec, self)  # type: ignore[arg-type]
        passed = self.check(call())
        for _ in range(WARM_UP):
            call()
        self.driver.synchronise()
        return {"passed": passed, "time_us": statistics.median(self.times(call))}

    def reference(self) -> dict[str, Any]:
        """Its results on the device. Those of the first run are free memory then."""
        expected: dict[str, Any] = {}
        for _ in range(2):
            results = self.case.expected(self.inputs)
            before = expected
            expected = {
                each.name: self.on_device(results[each.name], each) for each in self.case.spec.checked
            }
            for array in before.values():
                if isinstance(array, DeviceArray):
                    self.driver.free(array.data_ptr())
        return expected

    def on_device(self, value: Any, buffer: Buffer) -> Any:
        host = np.ascontiguousarray(value).astype(buffer.dtype)
        if self.torch is not None:
            return self.torch.from_numpy(host.view(np.uint8)).cuda()
        array = DeviceArray(self.driver.allocate(buffer.bytes), buffer)
        self.driver.write(array.data_ptr(), host.ctypes.data, buffer.bytes)
        return array

    def check(self, returned: object) -> bool:
        self.driver.synchronise()
        inputs = {name: Memory(array.data_ptr(), array.nbytes) for name, array in self.arrays.items()}
        first = self.case.spec.checked[0]
        memory = outputs_of(self.case.spec, inputs, returned).get(first.name, inputs[first.name])
        actual, expected = (
            on_host(memory.address, first),
            on_host(self.expected[first.name].data_ptr(), first),
        )
        return bool(np.allclose(actual, expected, rtol=TOLERANCE, atol=TOLERANCE))

    def times(self, call: Callable[[], object]) -> list[float]:
        """In microseconds."""
        event = DriverEvent if self.torch is None else self.torch.cuda.Event
        times = []
        for _ in range(TRIALS):
            start, end = event(enable_timing=True), event(enable_timing=True)
            start.record()
            call()
            end.record()
            self.driver.synchronise()
            times.append(1e3 * start.elapsed_time(end))
        return times


def on_host(address: int, buffer: Buffer) -> Any:
    host = np.empty(buffer.shape, buffer.dtype)
    size = ctypes.c_size_t(buffer.bytes)
    status = DriverEvent.cuda.cuMemcpyDtoH_v2(
        ctypes.c_void_p(host.ctypes.data), ctypes.c_uint64(address), size
    )
    if status:
        raise RuntimeError(f"cuMemcpyDtoH returned {status}")
    return host


def order_of(submission: Path, entry: str) -> Order:
    """As the runner of a quarantine is asked; nothing is confined here."""
    return Order(
        submission=str(submission.resolve()),
        language="cuda" if submission.suffix == ".cu" else "python",
        entry=entry,
        convention="arguments",
        confine=Confine(scratch=tempfile.mkdtemp(prefix="naive-"), readable=()),
    )


def isolated(*given: Any) -> Any:
    """In a process of its own, which sends its result."""
    ours, theirs = multiprocessing.Pipe()
    worker = multiprocessing.get_context("spawn").Process(target=work, args=(theirs, *given))
    worker.start()
    theirs.close()
    result = ours.recv()
    worker.join()
    return result


def work(sender: Connection, *given: Any) -> None:
    sender.send(Naive(*given).run())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("problem")
    parser.add_argument("submission", type=Path)
    parser.add_argument("--case")
    parser.add_argument("--isolated", action="store_true")
    options = parser.parse_args()
    if options.isolated:
        result = isolated(options.problem, options.submission, options.case)
    else:
        result = Naive(options.problem, options.submission, options.case).run()
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
