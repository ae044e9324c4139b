"""Launch cases on a driver and compare the outputs with their references."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tests.corpus.bound import Exact
from tests.corpus.capture import captured
from tests.corpus.case import Argument, Array, Case, In, Out, Struct
from tests.corpus.driver import Driver, DriverError, Module
from tests.corpus.families import cases_of, images_of, target_of, text_of
from tests.corpus.nvrtc import NvrtcError, compile_source

CHILD = "CORPUS_CHILD"
"""Environment variable of the process that runs a case which must fail."""
TIMEOUT_MS = "20000"
"""Time limit of the CPU driver for a kernel that does not end."""


@dataclass(frozen=True)
class Output:
    """One output buffer. `used` is the largest error of an element as a fraction of its bound."""

    sha256: str
    exact: bool
    bound: str
    used: float


@dataclass
class Result:
    family: str
    image: str
    case: str
    problem: str = ""
    outputs: list[Output] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return not self.problem

    def document(self) -> dict[str, Any]:
        return {**asdict(self), "passed": self.passed}


class Session:
    """A driver and the cases that run on it."""

    def __init__(self, path: Path | None = None) -> None:
        os.environ.setdefault("SIM_KERNEL_TIMEOUT_MS", TIMEOUT_MS)
        self.path = path
        self.driver = Driver(path)
        self._lost = False
        """A kernel failed unexpectedly: on a GPU the process cannot launch any more."""

    def family(self, family: str, images: list[str] | None = None, only: str | None = None) -> list[Result]:
        actual: list[Result] = []
        for image in images or images_of(family):
            cases = [
                c for c in cases_of(family) if c.minimum_target <= target_of(image) and only in (None, c.name)
            ]
            actual += self.image(family, image, cases)
        return actual

    def image(self, family: str, image: str, cases: list[Case]) -> list[Result]:
        """Run cases on one module. If the module is refused, all of them fail."""
        results = [Result(family, image, case.name) for case in cases]
        if not cases:
            return []
        if self._lost:
            return [_in_a_child(result, self.path) for result in results]
        try:
            module = self.driver.load(_text(family, image))
        except (DriverError, NvrtcError) as error:
            for result in results:
                result.problem = str(error)
            return results
        for place, case in enumerate(cases):
            result = results[place]
            if (case.fails or self._lost) and not os.environ.get(CHILD):
                results[place] = _in_a_child(result, self.path)
                continue
            try:
                self._run(module, case, result)
            except DriverError as error:
                result.problem = "" if error.code == case.fails else str(error)
                self._lost = True
        if not self._lost:
            module.unload()
        return results

    def _run(self, module: Module, case: Case, result: Result) -> None:
        launch = Launch(module, case)
        printed = captured(launch.run)
        result.outputs, result.problem = launch.judge()
        if printed != list(case.prints):
            result.problem = f"printed {printed}, not {list(case.prints)}"
        if case.fails:
            result.problem = "it ended well"


def _in_a_child(result: Result, driver: Path | None) -> Result:
    """Run a case that must fail in its own process: after some faults a process cannot launch any more."""
    with tempfile.TemporaryDirectory() as folder:
        results_file = Path(folder) / "results.json"
        command = [sys.executable, str(Path(__file__).with_name("run.py")), "--json", str(results_file)]
        command += ["--image", result.image, "--case", result.case, result.family]
        command += ["--driver", str(driver)] if driver else []
        environment = {**os.environ, CHILD: "1"}
        outcome = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if not results_file.is_file():
            return replace(
                result, problem=f"ended with {outcome.returncode}: {outcome.stderr.strip()[-200:]}"
            )
        document = json.loads(results_file.read_text())["results"][0]
        outputs = [Output(**output) for output in document["outputs"]]
        return replace(result, problem=str(document["problem"]), outputs=outputs)


def _text(family: str, image: str) -> bytes:
    if image.startswith("nvrtc"):
        return compile_source(family, target_of(image))
    return text_of(family, image).encode() + b"\0"


class Launch:
    """One launch with its own buffers."""

    def __init__(self, module: Module, case: Case) -> None:
        self.module, self.case, self.driver = module, case, module.driver
        self.outs: list[tuple[Out, Any]] = []
        self.addresses: list[Any] = []
        self.got: list[Array] = []

    def _packed(self, argument: Argument) -> bytes:
        if isinstance(argument, In | Out):
            data = argument.data if isinstance(argument, In) else argument.start()
            address = self.driver.allocate(np.ascontiguousarray(data).tobytes())
            self.addresses.append(address)
            if isinstance(argument, Out):
                self.outs.append((argument, address))
            return int(address.value).to_bytes(8, "little")
        if isinstance(argument, Struct):
            whole = bytearray(argument.size)
            for offset, each in argument.fields.items():
                part = self._packed(each)
                whole[offset : offset + len(part)] = part
            return bytes(whole)
        return argument.tobytes()

    def run(self) -> None:
        case = self.case
        try:
            parameters = [self._packed(each) for each in case.arguments]
            for name, data in case.globals.items():
                self.driver.write(self.module.global_address(name), data.tobytes())
            self.module.launch(case.kernel, case.grid, case.block, parameters, case.shared, case.cooperative)
            self.driver.synchronize()
            for out, address in self.outs:
                read = self.driver.read(address, out.expected.nbytes)
                self.got.append(np.frombuffer(read, out.expected.dtype).reshape(out.expected.shape))
        finally:
            if len(self.got) == len(self.outs):
                for address in self.addresses:
                    self.driver.free(address)

    def judge(self) -> tuple[list[Output], str]:
        outputs, problems = [], []
        for place, ((out, _), actual) in enumerate(zip(self.outs, self.got, strict=True)):
            used = out.bound.worst(actual, out.expected)
            digest = hashlib.sha256(actual.tobytes()).hexdigest()
            outputs.append(Output(digest, isinstance(out.bound, Exact), str(out.bound), used))
            if not used <= 1:
                problems.append(
                    f"output {place} is not {out.bound} ({used:.3g} times): {_first(out, actual)}"
                )
        return outputs, "; ".join(problems)


def _first(out: Out, got: Array) -> str:
    """Describe the first difference and count the differing elements."""
    differs = np.flatnonzero((got != out.expected).ravel())
    if len(differs) == 0:
        return "signs of zeros differ"
    at = int(differs[0])
    where = np.unravel_index(at, got.shape)
    return (
        f"{len(differs)} of {got.size} differ, first at {tuple(map(int, where))}: "
        f"{got.ravel()[at]!r} instead of {out.expected.ravel()[at]!r}"
    )
