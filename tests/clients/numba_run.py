"""Run numba-cuda's own test modules on the CPU driver, each in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLUGIN = Path(__file__).parent
FOLDERS = ("cudadrv", "cudapy", "nrt", "core", "nocuda", "doc_examples")
TAIL = 8_000


@dataclass
class Test:
    """One test: passed, failed, skipped, xfailed, crashed or timeout."""

    name: str
    outcome: str
    seconds: float = 0.0
    launches: int = 0
    text: str = ""


@dataclass
class Settings:
    python: str
    shim: bool
    limit: float
    """Seconds a test may take."""
    tests: Path
    """The folder numba.cuda.tests."""
    scratch: Path
    stopped: threading.Event = field(default_factory=threading.Event)
    """Set to end the run; what is running is ended too."""


@dataclass
class Module:
    """The outcome of one test module."""

    name: str
    tests: list[Test] = field(default_factory=list)
    seconds: float = 0.0
    ran: int = 0
    """Launches that the driver ran, those outside of tests included."""
    seen: int | None = None
    """Launches that the shim wrote to its log, graphs included; None without it."""


def find_tests(python: str) -> Path:
    """The installed folder numba.cuda.tests; importing numba.cuda starts no driver."""
    find = "import numba.cuda.tests, os; print(os.path.dirname(numba.cuda.tests.__file__))"
    result = subprocess.run([python, "-c", find], capture_output=True, text=True, check=True)
    return Path(result.stdout.strip())


def find_modules(tests: Path) -> list[str]:
    """The names of the test modules, as cudapy/test_math.py."""
    return sorted(
        str(path.relative_to(tests)) for name in FOLDERS for path in tests.glob(f"{name}/**/test_*.py")
    )


def run_module(name: str, settings: Settings, only: list[str] | None = None) -> Module:
    """Run one module; after a crash or a time-out, run its remaining tests."""
    module = Module(name, seen=0 if settings.shim else None)
    start = time.monotonic()
    left = only
    while (left is None or left) and not settings.stopped.is_set():
        before = len(module.tests)
        collected = _run_once(module, settings, left)
        result = {test.name for test in module.tests}
        left = [test for test in collected if test not in result]
        if len(module.tests) == before:
            module.tests += [Test(test, "crashed", text="its process ended before it ran") for test in left]
            break
    module.seconds = time.monotonic() - start
    return module


def _run_once(module: Module, settings: Settings, only: list[str] | None) -> list[str]:
    """Run one process; the tests it collected."""
    with tempfile.TemporaryDirectory(dir=settings.scratch) as scratch:
        folder = Path(scratch)
        outcomes, output = folder / "outcomes", folder / "output"
        outcomes.touch()
        command = _command(module.name, settings, folder, only)
        environment = _environment(settings, folder)
        with output.open("wb") as writes:
            process = subprocess.Popen(
                command,
                env=environment,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=writes,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            slow = _watch(process, outcomes, settings)
        text = output.read_text(errors="replace")[-TAIL:]
        collected = _read(module, outcomes, slow, process.returncode, text)
        launches = folder / "launches"
        module.ran += launches.read_bytes().count(b"\n") if launches.exists() else 0
        if settings.shim:
            module.seen = (module.seen or 0) + _seen(folder / "log")
        return collected


def _command(name: str, settings: Settings, folder: Path, only: list[str] | None) -> list[str]:
    command = [settings.python, "-m", "pytest", "-q", "-p", "numba_plugin", "-p", "no:cacheprovider"]
    command += ["-o", "consider_namespace_packages=true", "-c", os.devnull, "--rootdir", str(settings.tests)]
    command += ["-W", "ignore:cuda.bindings.nvjitlink is not available:RuntimeWarning"]
    command += ["--outcomes", str(folder / "outcomes"), str(settings.tests / name)]
    if only is not None:
        chosen = folder / "only"
        chosen.write_text("\n".join(only))
        command += ["--only", str(chosen)]
    if settings.shim:
        observe = [sys.executable, "-m", "benchguard", "--driver", "sim", "--log", str(folder / "log"), "--"]
        command = observe + command
    return command


def _environment(settings: Settings, folder: Path) -> dict[str, str]:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "SIM_"))
    }
    environment["PYTHONPATH"] = os.pathsep.join([str(PLUGIN), *([str(ROOT)] if settings.shim else [])])
    environment["SIM_LAUNCH_LOG"] = str(folder / "launches")
    environment["TMPDIR"] = str(folder)
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    if not settings.shim:
        environment["LD_LIBRARY_PATH"] = str(ROOT / "benchguard" / "native" / "sim")
    return environment


def _watch(process: subprocess.Popen[bytes], outcomes: Path, settings: Settings) -> bool:
    """Wait for the end. If it writes no line for longer than a test may take, end it; whether that was so."""
    size, since = 0, time.monotonic()
    while True:
        try:
            process.wait(timeout=0.2)
            return False
        except subprocess.TimeoutExpired:
            now = outcomes.stat().st_size
            if now != size:
                size, since = now, time.monotonic()
            elif settings.stopped.is_set() or time.monotonic() - since > settings.limit:
                _end(process)
                return True


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and those it started: kindly first, since the shim's supervisor passes the signal on."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(timeout=5)
        except ProcessLookupError:
            break
        except subprocess.TimeoutExpired:
            continue
    process.wait()


def _read(module: Module, outcomes: Path, slow: bool, status: int, output: str) -> list[str]:
    """Add what the plugin wrote to `module`; the tests it collected."""
    collected: list[str] = []
    running: str | None = None
    tests: dict[str, Test] = {}
    for line in outcomes.read_text(encoding="utf-8").splitlines():
        fields = json.loads(line)
        if "collected" in fields:
            collected = fields["collected"]
        elif "begins" in fields:
            running = fields["begins"]
        elif "ends" in fields:
            running = None
            if test := tests.get(fields["ends"]):
                test.seconds, test.launches = fields["seconds"], fields["launches"]
        elif "test" in fields:
            _add(tests, fields)
        elif "uncollected" in fields:
            outcome = "skipped" if "reason" in fields else "failed"
            text = fields.get("reason") or fields["text"]
            tests[module.name] = Test(module.name, outcome, text=text)
    if running is not None:
        outcome = "timeout" if slow else "crashed"
        tests[running] = Test(running, outcome, text=f"status {status}\n{output}")
    elif not collected and not tests and status not in (0, 5):
        tests[module.name] = Test(module.name, "crashed", text=f"status {status}\n{output}")
    module.tests += tests.values()
    return collected


def _add(tests: dict[str, Test], fields: dict[str, str]) -> None:
    """Keep a test's worst report: a test that passes and then fails to tear down has failed."""
    name, outcome = fields["test"], fields["outcome"]
    if name in tests and outcome != "failed":
        return
    text = fields.get("reason") or (fields.get("text", "") + "\n" + fields.get("written", "")).strip()
    tests[name] = Test(name, outcome, text=text)


def _seen(log: Path) -> int:
    """The launches in the shim's log, which holds those of every process it followed."""
    sys.path.insert(0, str(ROOT))
    from benchguard.audit.summary import summarise

    summary = summarise(log)
    return summary.launches + summary.graph_launches
