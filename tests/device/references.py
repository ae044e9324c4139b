"""Judge the answers of problems' own references: python tests/device/references.py FORM PATH...

PATH is a problem, or a folder that is searched for problems of FORM. No GPU is needed. The tool takes the smallest
case of each problem, and judges the reference's outputs in the submission's precision as a submission's: as the
reference computes them, in another order of summation, and (KernelBench, LeetGPU) with operands rounded to TF32. It
prints a line for each problem, and how many are right, wrong, refused (cannot be opened) and not judged. It exits with
1 if one is wrong.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import multiprocessing
import re
import resource
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run as a script, not as a module of tests/

from benchguard.adapters import load_suite
from benchguard.adapters.host import torch_module
from benchguard.errors import BenchguardError
from benchguard.ipc.shared_memory import SharedMemory
from benchguard.ipc.text import one_line
from benchguard.judge.arrays import as_numbers, elements_of, memory_of
from benchguard.judge.compare import compare
from benchguard.judge.making import Order, made_of
from benchguard.judge.reference import as_output
from benchguard.judge.slack import widened
from benchguard.problem.arrays import to_numpy
from benchguard.problem.spec import layout_of
from benchguard.problem.suite import TestCase

PATTERNS = {
    "gpumode": "task.yml",
    "kernelbench": "*.py",
    "leetgpu": "challenge.py",
    "problem": "def.py",
}
"""Names of problem files, by adapter. `problem` opens Tensara's."""

Answers = Mapping[str, np.ndarray[Any, Any]]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("form", choices=sorted(PATTERNS))
    parser.add_argument("paths", type=Path, nargs="+")
    parser.add_argument("--sets", type=int, default=2, help="input sets of each problem")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for each problem")
    parser.add_argument("--memory", type=float, default=12.0, help="GiB for each problem")
    parser.add_argument("--batch-size", type=int, help="judge KernelBench's problems with this batch size")
    parser.add_argument("--threads", type=int, default=2, help="threads of torch")
    options = parser.parse_args(arguments)
    import_module("torch._subclasses.fake_tensor")  # once, for all processes
    files = [each for path in options.paths for each in found(options.form, path)]
    counts: collections.Counter[str] = collections.Counter()
    for file in files:
        started = time.monotonic()
        outcome, why = in_process(file, options)
        counts[outcome] += 1
        print(f"{outcome:10} {time.monotonic() - started:6.1f} s  {file}  {why}", flush=True)
    print(f"\n{len(files)} problems: " + ", ".join(f"{count} {name}" for name, count in counts.most_common()))
    return int(counts["wrong"] > 0)


def found(form: str, path: Path) -> list[Path]:
    return [path] if path.is_file() else sorted(path.rglob(PATTERNS[form]))


def in_process(file: Path, options: argparse.Namespace) -> tuple[str, str]:
    """Judge a problem in a process of its own, forked after the import of torch. The outcome, and a reason."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    with tempfile.TemporaryDirectory() as folder:
        if options.batch_size is not None and options.form == "kernelbench":
            text = re.sub(r"(?m)^batch_size = .*$", f"batch_size = {options.batch_size}", file.read_text())
            file = Path(folder) / file.name
            file.write_text(text)
        child = multiprocessing.get_context("fork").Process(target=judge, args=(file, options, sender))
        child.start()
        sender.close()
        try:
            if not receiver.poll(options.timeout):
                return "not judged", f"takes over {options.timeout:g} s"
            return receiver.recv()  # type: ignore[no-any-return]
        except EOFError:
            child.join()
            return "not judged", f"its process ended with {child.exitcode}"
        finally:
            child.kill()
            child.join()


def judge(file: Path, options: argparse.Namespace, sender: Connection) -> None:
    limit = int(options.memory * 2**30)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    torch_module().set_num_threads(options.threads)
    warnings.simplefilter("ignore")  # of TF32 on Intel's GPUs
    try:
        sender.send(judged(file, options))
    except (MemoryError, RuntimeError) as error:  # torch raises RuntimeError if memory is short
        sender.send(("not judged", one_line(str(error))))


def judged(file: Path, options: argparse.Namespace) -> tuple[str, str]:
    try:
        suite = load_suite(str(file), options.form, {})
        case = min(suite.cases, key=lambda each: each.input_bytes)
        reasons = [reason for number in range(options.sets) for reason in judged_set(case, number)]
    except BenchguardError as error:
        return "refused", str(error)
    if reasons:
        return "wrong", reasons[0]
    return "right", "by its own check" if case.own_verdict else ""


def judged_set(case: TestCase, number: int) -> Iterator[str]:
    """Why own answers to an input set are wrong."""
    layout = layout_of(case.spec.read)
    pool = SharedMemory("neutrino-references", max(1, layout.stride))
    names = case.distributions
    order = Order(0, names[number % len(names)], 1000 + number, 0, answers=True)
    made = made_of(case, order, pool)
    expected, factors = made.answers, made.factors
    inputs = {
        each.name: as_numbers(
            each, elements_of(each, pool.view()[layout.places[each.name][0] :][: each.bytes])
        )
        for each in case.spec.read
    }
    tolerances = widened(case.tolerances, factors)
    for name, answers in own_answers(case, inputs, expected):
        for buffer in case.spec.checked:
            stored = elements_of(buffer, memory_of(buffer, answers[buffer.name])).reshape(-1)
            if case.own_verdict:
                continue
            result = compare(stored, expected[buffer.name], buffer.dtype, tolerances[buffer.name])
            if result.wrong:
                yield f"{made.distribution}, {name}: {result.wrong} of {result.elements} wrong, first {result.first}"
        if case.own_verdict:
            targets = {each.name: expected[each.name].reshape(each.shape) for each in case.spec.checked}
            reason = case.verify(inputs, targets, {key: to_numpy(each) for key, each in answers.items()})
            if reason is not None:
                yield f"{made.distribution}, {name}: {reason}"


def own_answers(
    case: TestCase, inputs: Mapping[str, Any], expected: Answers
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The reference's outputs in the submission's precision, each with how they were computed."""

    def native() -> Mapping[str, Any]:
        if hasattr(case, "results"):
            return dict(case.results(inputs, wide=False))
        given = dict(case.native(inputs)) if hasattr(case, "native") else {}
        return {
            each.name: given.get(each.name, as_numbers(each, as_output(each, expected[each.name])))
            for each in case.spec.checked
        }

    yield "as computed", native()
    with other_order():
        yield "in another order", native()
    if getattr(case, "computes_in_tf32", False):
        rounded = case.baseline(inputs)  # type: ignore[attr-defined]
        if rounded:
            yield "in TF32", rounded


@contextlib.contextmanager
def other_order() -> Iterator[None]:
    """A context in which torch adds in another order, without oneDNN and with one thread."""
    torch = torch_module()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.backends.mkldnn.flags(enabled=False):
            yield
    finally:
        torch.set_num_threads(threads)


if __name__ == "__main__":
    sys.exit(main())
