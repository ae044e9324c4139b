"""Machine code of a kernel as text, by NVIDIA's nvdisasm, in the sandbox of a submission: the cubin is hostile."""

from __future__ import annotations

import os
import shutil
import site
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from ..errors import BenchguardError, UsageError
from ..ipc.json_text import UNREADABLE
from ..ipc.lines import LineError
from ..ipc.memory_file import memory_file
from ..ipc.text import one_line
from ..quarantine.confined import Program, run_confined, scratch_folder
from ..quarantine.contract import LINE_MAX, Confine, Task, missing_features
from ..quarantine.sandbox import identity
from ..quarantine.sandbox.environment import quarantine_environment
from .disassembler import CHUNK, TEXT_MAX, Done, Request, Text

WORKER = "benchguard.images.disassembler:run"
SECONDS = 60.0
MEMORY_BYTES = 4 << 30
PROCESSES = 64
LINES_MAX = TEXT_MAX // CHUNK * 8


@dataclass(frozen=True)
class Disassembly:
    """`sandbox` names the protections that are off; it is empty if all are on."""

    text: str
    sandbox: str


def find_nvdisasm() -> Path | None:
    """From PATH, a CUDA toolkit, or the package nvidia-cuda-nvdisasm."""
    return next(_tools(), None)


def _tools() -> Iterator[Path]:
    on_path = shutil.which("nvdisasm")
    if on_path:
        yield Path(on_path).resolve()
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    places = [Path(home) / "bin" / "nvdisasm" for home in homes if home]
    for folder in site.getsitepackages():
        places += sorted(Path(folder).glob("nvidia/*/bin/nvdisasm"))
    yield from (path.resolve() for path in places if os.access(path, os.X_OK))


def disassemble(cubin: bytes, symbol: int, seconds: float = SECONDS) -> Disassembly:
    """Disassemble the function of a symbol.

    Raises UsageError if nvdisasm is not installed, and BenchguardError if it fails or takes more than `seconds`.
    """
    tool = find_nvdisasm()
    if tool is None:
        raise UsageError(
            "--sass needs nvdisasm; install it with `pip install nvidia-cuda-nvdisasm`, or put a CUDA toolkit in PATH"
        )
    collected = _Collected()
    with (
        memory_file("neutrino-cubin", cubin) as code,
        identity.claimed_user() as user,
        scratch_folder(user) as scratch,
    ):
        confine = Confine(
            str(scratch), (str(tool.parent),), user=user, memory_bytes=MEMORY_BYTES, processes=PROCESSES
        )
        request = msgspec.Raw(msgspec.json.encode(Request(str(tool), code, symbol)))
        environment = quarantine_environment(os.environ, scratch, tool)
        order = Task(WORKER, request, (code,), confine)
        deadline = time.monotonic() + seconds
        program = Program("nvdisasm", order, environment, deadline, LINE_MAX, LINES_MAX)
        ended = run_confined(program, "any", collected.handle)
    if ended.timed_out:
        raise BenchguardError(
            f"nvdisasm took more than {seconds:g} s and was killed; the image may be hostile"
        )
    problem = ended.refusal or ended.excess or ended.trouble or collected.problem
    if problem is None:
        problem = ended.describe()
    if problem:
        raise BenchguardError(f"nvdisasm could not read the kernel: {one_line(problem)}")
    return Disassembly("".join(collected.parts), missing_features(ended.features, False))


@dataclass
class _Collected:
    parts: list[str] = field(default_factory=list)
    problem: str | None = None

    def handle(self, line: bytes) -> bool:
        try:
            event = msgspec.json.decode(line, type=Text | Done)
        except UNREADABLE as error:
            raise LineError(f"a malformed event: {one_line(str(error), 200)}") from None
        if isinstance(event, Done):
            self.problem = event.problem
            return False
        self.parts.append(event.text)
        return True
