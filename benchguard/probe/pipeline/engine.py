"""Run an engine for a kernel: confined, on a deadline, and cached by content."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import os
import shlex
import shutil
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from ...errors import BenchguardError, UsageError
from ...ipc.json_text import UNREADABLE
from ...ipc.lines import LineError
from ...ipc.memory_file import memory_file
from ...ipc.text import one_line
from ...quarantine.confined import Program, run_confined, scratch_folder
from ...quarantine.contract import LINE_MAX, Confine, Task
from ...quarantine.sandbox import identity
from ...quarantine.sandbox.environment import quarantine_environment
from ...version import __version__
from .cache import Cache
from .info import KernelInfo, parse_info
from .worker import ANSWERS, CHUNK, CONTRACT, FILE_BYTES_MAX, PACKAGE, Done, Part, Request

WORKER = "benchguard.probe.pipeline.worker:run"
MEMORY_BYTES = 4 << 30
PROCESSES = 64
START_SECONDS = 20.0
"""Time for the sandbox and for the image, beside the engine's own."""

BUILT_IN = ("block-times", "count", "bounds", "memory")


@dataclass(frozen=True)
class Engine:
    """An engine's command. `identity` changes when its words, its files or its options do."""

    name: str
    words: tuple[str, ...]
    options: Mapping[str, str]
    readable: tuple[str, ...]
    identity: str


def find_engine(text: str, options: Mapping[str, str]) -> Engine:
    """The engine that `text` names: a built-in one, or a command with its words. Raises UsageError."""
    module = f"benchguard.probe.engines.{text.replace('-', '_')}"
    if text in BUILT_IN and importlib.util.find_spec(module) is not None:
        built_in = (sys.executable, "-m", module)
        return Engine(text, built_in, options, (), _identity(built_in, (), options))
    try:
        given = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"the engine {text!r} is not a command: {error}") from None
    if given and (given[0].endswith(".py") or given[0] in ("python", "python3")):
        # This Python: the sandbox may not reach another one.
        given = [sys.executable, *(given if given[0].endswith(".py") else given[1:])]
    program = shutil.which(given[0]) if given else None
    if program is None:
        known = ", ".join(each for each in BUILT_IN if _exists(each))
        raise UsageError(f"no such engine: {text}; name a program{f', or one of {known}' if known else ''}")
    words = (program, *(_absolute(word) for word in given[1:]))
    files = tuple(Path(word) for word in words if Path(word).is_file())
    folders = tuple(sorted({str(file.parent) for file in files}))
    return Engine(text, words, options, folders, _identity(words, files, options))


def _exists(name: str) -> bool:
    return importlib.util.find_spec(f"benchguard.probe.engines.{name.replace('-', '_')}") is not None


def _absolute(word: str) -> str:
    return str(Path(word).resolve()) if Path(word).is_file() else word


def _identity(words: tuple[str, ...], files: tuple[Path, ...], options: Mapping[str, str]) -> str:
    try:
        contents = [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]
    except OSError as error:
        raise UsageError(f"cannot read the engine {error.filename}: {error.strerror}") from error
    text = repr((CONTRACT, __version__, words, contents, sorted(options.items())))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


@dataclass(frozen=True)
class Outcome:
    """The result of an engine for a kernel. `problem` is empty if it succeeded; then `info` and `image` are set."""

    problem: str
    info: KernelInfo | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    said: str = ""
    seconds: float = 0.0
    cached: bool = False
    of_this_run: bool = False
    """It says something about this machine now, and not about the kernel: a deadline, a sandbox that does not start."""

    @property
    def image(self) -> bytes:
        return self.files.get("probed.bin", b"")

    @property
    def pruned(self) -> bytes:
        """The kernel without probes, as the engine writes it; empty if it does not."""
        return self.files.get("pruned.bin", b"")


@dataclass(frozen=True)
class Job:
    """A kernel to probe. `capability`: of the device, as 90, or 0. `benchmark`: the kernel without probes, too."""

    image: bytes
    kernel: str
    vendor: str
    capability: int
    seconds: float
    benchmark: bool = False


def cache_key(engine: Engine, task: Job) -> str:
    """The name of the outcome for a kernel in the cache: all that the engine's result may depend on."""
    digest = hashlib.sha256(task.image).hexdigest()
    facts = f"{engine.identity}\n{digest}\n{task.vendor}\n{task.capability}\n{task.kernel}"
    facts += "\nbenchmark" * task.benchmark
    return hashlib.sha256(facts.encode("utf-8", "surrogateescape")).hexdigest()


def probe(engine: Engine, task: Job, cache: Cache | None) -> Outcome:
    """Have a kernel probed, or take the outcome of an earlier run, success or failure."""
    digest, key = hashlib.sha256(task.image).hexdigest(), cache_key(engine, task)
    stored = cache.get(key) if cache is not None else None
    if stored is not None:
        return _checked(stored.problem, stored.files, stored.said, task.kernel, 0.0, cached=True)
    began = time.monotonic()
    try:
        collected, problem = _run(engine, task, digest)
    except BenchguardError as error:
        return Outcome(str(error), seconds=time.monotonic() - began, of_this_run=True)
    files = {name: bytes(data) for name, data in collected.files.items()}
    outcome = _checked(problem, files, collected.said, task.kernel, time.monotonic() - began, cached=False)
    if collected.timed_out:
        return replace(outcome, of_this_run=True)
    if cache is not None:
        cache.put(key, outcome.problem, files, collected.said)
    return outcome


def _checked(
    problem: str, files: Mapping[str, bytes], said: str, kernel: str, seconds: float, cached: bool
) -> Outcome:
    if problem:
        return Outcome(problem, None, files, said, seconds, cached)
    missing = [name for name in ("kernel.info", "probed.bin") if not files.get(name)]
    if missing:
        return Outcome(f"the engine wrote no {missing[0]}", None, files, said, seconds, cached)
    try:
        return Outcome("", parse_info(files["kernel.info"], kernel), files, said, seconds, cached)
    except BenchguardError as error:
        return Outcome(str(error), None, files, said, seconds, cached)


def _run(engine: Engine, task: Job, digest: str) -> tuple[_Collected, str]:
    """Run the engine. Returns its files, and why it failed (empty: it succeeded)."""
    collected = _Collected()
    with (
        memory_file("neutrino-image", task.image) as code,
        identity.claimed_user() as user,
        scratch_folder(user) as scratch,
    ):
        confine = Confine(
            str(scratch),
            (*engine.readable, str(PACKAGE)),
            user=user,
            memory_bytes=MEMORY_BYTES,
            processes=PROCESSES,
            file_bytes=FILE_BYTES_MAX,
        )
        request = Request(
            list(engine.words), task.kernel, code, digest, task.vendor, task.capability,
            dict(engine.options), task.seconds, task.benchmark,
        )  # fmt: skip
        environment = quarantine_environment(os.environ, scratch, Path(engine.words[0]))
        order = Task(WORKER, msgspec.Raw(msgspec.json.encode(request)), (code,), confine)
        lines = len(ANSWERS) * (FILE_BYTES_MAX // CHUNK + 1) + 16
        deadline = time.monotonic() + task.seconds + START_SECONDS
        program = Program("the engine", order, environment, deadline, 2 * CHUNK + LINE_MAX, lines)
        ended = run_confined(program, "any", collected.handle)
    if ended.timed_out:
        collected.timed_out = True
        return collected, f"the engine took more than {task.seconds:g} s"
    problem = ended.refusal or ended.excess or ended.trouble or collected.problem
    if problem is None:
        problem = f"the engine's process broke: {ended.describe()}"
    return collected, one_line(problem)


@dataclass
class _Collected:
    files: dict[str, bytearray] = field(default_factory=dict)
    problem: str | None = None
    said: str = ""
    timed_out: bool = False

    def handle(self, line: bytes) -> bool:
        try:
            event = msgspec.json.decode(line, type=Part | Done)
            data = base64.b64decode(event.data, validate=True) if isinstance(event, Part) else b""
        except (ValueError, *UNREADABLE) as error:
            raise LineError(f"a malformed event: {one_line(str(error), 200)}") from None
        if isinstance(event, Done):
            self.problem, self.said, self.timed_out = event.problem, event.said, event.timed_out
            return False
        if event.name not in ANSWERS:
            raise LineError(f"a file that was not asked for: {one_line(event.name, 80)}")
        stored = self.files.setdefault(event.name, bytearray())
        if len(stored) + len(data) > FILE_BYTES_MAX:
            raise LineError(f"{event.name} has more than {FILE_BYTES_MAX} bytes")
        stored += data
        return True
