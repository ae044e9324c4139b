"""Runs of every command whose results show that each of its options has an effect.

A run has words with options, the words of a baseline without them, and a check per option. A check must hold for the
run and must not hold for the baseline, so that no check can pass by itself.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from benchguard.archive import open_bundle
from benchguard.audit.log import FORMAT, LogWriter
from benchguard.capture import Capture
from benchguard.capture.layout import ARENA
from benchguard.capture.model import Launch
from benchguard.gpu.turns import Turns
from benchguard.ipc.json_text import json_line
from benchguard.ipc.lock_file import FOLDER
from tests.conftest import ROOT
from tests.support import logs
from tests.support.captures import CAPTURES, GRANULE, Builder, Memory, floats, saxpy_launch, saxpy_values
from tests.support.kernels import SAXPY
from tests.support.results import graded_result
from tests.support.window_logs import WindowLog

PTX = ROOT / "examples" / "problems" / "submissions" / "vector_add" / "kernel.ptx"
CUBIN = ROOT / "tests" / "unit" / "hook" / "images" / "sm_90.cubin"
PROBLEM = "task/problem.py"
SECONDS = 200
VALUES = 1024
SLEEP = (sys.executable, "-c", "import time; time.sleep(30)")

PROGRAM = '''
"""Launches saxpy twice in a region, then three times between two events, by a library of its own."""

import ctypes
from pathlib import Path

from benchguard import region

cuda = ctypes.CDLL("libcuda.so.1")


def call(name, *words):
    status = getattr(cuda, name)(*words)
    assert status == 0, (name, status)


def word(value=0):
    return ctypes.c_uint64(value)


device, context, module, function = ctypes.c_int(), word(), word(), word()
call("cuInit", 0)
call("cuDeviceGet", ctypes.byref(device), 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
call("cuCtxSetCurrent", context)
call("cuModuleLoadData", ctypes.byref(module), Path("saxpy.ptx").read_bytes() + b"\\0")
call("cuModuleGetFunction", ctypes.byref(function), module, b"saxpy")
x, y = word(), word()
for each in (x, y):
    call("cuMemAlloc_v2", ctypes.byref(each), ctypes.c_size_t(4096))
    call("cuMemsetD8_v2", each, 0, ctypes.c_size_t(4096))
events = word(), word()
for each in events:
    call("cuEventCreate", ctypes.byref(each), 0)


def saxpy():
    values = ctypes.c_float(2.0), x, y, ctypes.c_uint32(1024)
    places = (ctypes.c_void_p * 4)(*(ctypes.addressof(each) for each in values))
    call("cuLaunchKernel", function, 8, 1, 1, 128, 1, 1, 0, None, places, None)


with region("own"):
    saxpy()
    saxpy()
call("cuEventRecord", events[0], None)
for _ in range(3):
    saxpy()
call("cuEventRecord", events[1], None)
call("cuCtxSynchronize")
'''

POLICY = """
format = "neutrino-bench/policy/1"
name = "launches"

[[rule]]
name = "launches"
action = "log"
call = ["cuLaunchKernel"]
"""

NESTED_PROGRAM = """
import ctypes, subprocess, sys

assert ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
subprocess.run([sys.executable, "program.py"], check=True)
"""

SUBMISSION = '''
import socket, time
import ctypes

cuda = ctypes.CDLL("libcuda.so.1")


def renamed(*arguments):
    """Print what the options change, and compute no output."""
    print(f"arguments: {len(arguments)}")
    try:
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("127.0.0.1", 9))
        print("network on")
    except OSError:
        print("network off")
    return [each for each in arguments[0] if hasattr(each, "data_ptr")][-1]


def profiled(*arguments):
    print("profiler:", cuda.cuProfilerStart())


def greedy(*arguments):
    kept = bytearray(800 << 20)
    kept[:: 4096] = b"1" * len(kept[:: 4096])
    time.sleep(20)


def slow(*arguments):
    time.sleep(30)


def solution(*arguments):
    pass
'''

TASK = """
import numpy as np

import benchguard


class Add(benchguard.Problem):
    parameters = [
        {"name": "a", "type": "float", "pointer": True, "const": True},
        {"name": "b", "type": "float", "pointer": True, "const": True},
        {"name": "c", "type": "float", "pointer": True, "const": False},
        {"name": "n", "type": "size_t", "pointer": False, "const": True},
    ]

    def __init__(self):
        super().__init__("add")

    def generate_test_cases(self):
        return [self.case("one", 100), self.case("two", 200)]

    def generate_sample(self):
        return self.case("sample", 50)

    def case(self, name, n):
        return {"name": name, "n": n, "create_inputs": lambda: tuple(np.random.random((2, n)).astype(np.float32))}

    def reference_solution(self, a, b):
        return a + b

    def get_outputs(self, test_case):
        return [((test_case["n"],), "float")]

    def get_extra_params(self, test_case):
        return [test_case["n"]]
"""
TYPED = TASK.replace('"float", "pointer"', '"[VAR]", "pointer"')


ASK = """
import http.client, json, os, sys
from pathlib import Path

place = os.environ["NEUTRINO_REWARDS"].removeprefix("http://")
print(place)
HANG = "import time\\n\\n\\ndef solution(*values):\\n    time.sleep(60)\\n"
code = {"source": Path("kernel.ptx").read_text(), "language": "ptx"}
if "hang" in sys.argv:
    code = {"source": HANG, "language": "python"}
for ask in (code, {"response": "no code"}):
    client = http.client.HTTPConnection(place)
    client.request("POST", "/reward", json.dumps({"problem": "add", **ask}), {"Content-Type": "application/json"})
    print(client.getresponse().read().decode())
"""
"""Prints the address of a reward server, and its answers for an honest or a hanging kernel and for no code."""


COMPARED = {
    "schema": "neutrino-bench/compare/1",
    "call": "FASTER",
    "reason": "",
    "cases": [{"name": "one", "ratio": 0.5}],
}

IMPORT = ("import", "traces.jsonl", "--result", "baseline.json")
FLASHINFER_SOLUTION = {
    "name": "submission",
    "definition": "problem",
    "spec": {"entry_point": "k.cu::k"},
    "sources": [{"path": "k.cu", "content": "not the content that was graded"}],
}
FLASHINFER_TRACE = {
    "definition": "problem",
    "workload": {"axes": {}, "inputs": {}, "uuid": "one"},
    "solution": "submission",
    "evaluation": {
        "status": "PASSED",
        "environment": {"hardware": "NVIDIA H100"},
        "timestamp": "2026",
        "correctness": {},
        "performance": {"latency_ms": 0.002},
    },
}


@dataclass(frozen=True)
class Ran:
    """A finished command and the folder in which it ran."""

    status: int
    out: str
    err: str
    folder: Path

    def text(self, name: str) -> str:
        return (self.folder / name).read_text()

    @cached_property
    def result(self) -> Any:
        """The JSON in the file that --json names, or on standard output."""
        paths = [self.folder / name for name in ("other.json", "result.json")]
        return json.loads(next((path.read_text() for path in paths if path.exists()), self.out))

    @property
    def case(self) -> Any:
        return self.result["cases"][0]

    @property
    def compared(self) -> Any:
        """The second capture of a comparison."""
        return self.result["pairs"][0]["b"]

    def log(self, name: str, kind: str) -> list[Any]:
        return [line for line in map(json.loads, self.text(name).splitlines()) if line["kind"] == kind]

    def captured_launches(self, name: str = "x.ncap") -> int:
        with Capture.open(self.folder / name) as capture:
            return sum(isinstance(each, Launch) for each in capture.operations)


Check = Callable[[Ran], Any]


@dataclass(frozen=True)
class OptionRun:
    """`words` with the options in `checks`, `baseline` without them. `slow`: it takes more than ten seconds."""

    words: tuple[str, ...]
    baseline: tuple[str, ...]
    checks: Mapping[str, Check] = field(default_factory=dict)
    slow: bool = False
    gpu_in_use: bool = False
    """Another process uses the CPU driver, which then has a lock, while the words run."""

    @property
    def command(self) -> str:
        return self.words[0]


def prepare(folder: Path) -> None:
    """The files that the words name."""
    x, _, _ = map(floats, saxpy_values(VALUES))
    files = {
        "program.py": PROGRAM,
        "nested.py": NESTED_PROGRAM,
        "saxpy.ptx": SAXPY,
        "policy.toml": POLICY,
        "submission.py": SUBMISSION,
        "submission.txt": SUBMISSION,
        "slow.py": SUBMISSION.replace("def solution", "def other").replace("def slow", "def solution"),
        "kernel.ptx": PTX.read_text(),
        "slower.ptx": f"// launch: grid=(ceil(n/256) * 1000, 1, 1) block=256\n{PTX.read_text()}",
        "task/problem.py": TASK,
        "compared/one.json": json.dumps(COMPARED),
        "task/typed.py": TYPED,
        "ask.py": ASK,
        "baseline.json": graded_result(medians=(1.0,), device=None).to_json(),
        "solution.json": json.dumps(FLASHINFER_SOLUTION),
        "traces.jsonl": json.dumps(FLASHINFER_TRACE) + "\n",
        "token.txt": "a token of 24 characters".replace(" ", "-"),
        "old.jsonl": "old\n",
        "old.ncap": "old\n",
    }
    for name in ("task", "compared"):
        (folder / name).mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    log = LogWriter(folder / "valid.jsonl")
    for line in ({"kind": "session", "format": FORMAT}, {"kind": "end"}):
        log.write(json_line(line))
    log.close()
    windows = WindowLog(folder / "windows.jsonl")
    windows.call("cuStreamCreate", phStream=64, Flags=1)
    with windows.window():
        windows.launch(64)
    windows.close()
    kernels = "".join(f".visible .entry k{number}() {{ ret; }}\n" for number in range(30))
    many = f".version 8.0\n.target sm_90\n.address_size 64\n{kernels}".encode()
    digest = hashlib.sha256(many).hexdigest()
    (folder / "kept").mkdir()
    (folder / "kept" / digest).write_bytes(many)
    (folder / "many.ptx").write_bytes(many)
    (folder / "sm_90.cubin").write_bytes(CUBIN.read_bytes())
    lines = [logs.session(), logs.image(sha256=digest), logs.launch(10), logs.end()]
    logs.write_log(folder / "launches.jsonl", lines)
    logs.write_log(folder / "cut.jsonl", [logs.session(), logs.image(), logs.launch(10)])
    (folder / "x1.bin").write_bytes(x)
    (folder / "x2.bin").write_bytes(bytes(len(x)))
    CAPTURES["saxpy"](folder / "saxpy.ncap")
    CAPTURES["refused"](folder / "refused.ncap")
    with Builder(folder / "many.ncap") as builder:
        builder.device()
        builder.saxpy()
        builder.stream()
        for number in range(30):
            builder.memory(Memory(ARENA + number * GRANULE, x, x))
        builder.operation(saxpy_launch(ARENA, ARENA + GRANULE, VALUES))
        builder.end()


def prepare_bundle(folder: Path) -> None:
    """An archive with a grade of the problem's case `one`, and its result."""
    for name, data in archive_of_a_grade().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


@cache
def archive_of_a_grade() -> dict[str, bytes]:
    """The files, by their path. One grade serves all runs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "graded"
        ran = run(folder, (*GRADE, "--bundle", "archive"))
        assert ran.status == 0, ran.err
        (folder / "result.json").rename(folder / "graded.json")
        files = [
            folder / "graded.json",
            *(path for path in (folder / "archive").rglob("*") if path.is_file()),
        ]
        return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def run(folder: Path, words: tuple[str, ...], cache: Path | None = None, *, gpu_in_use: bool = False) -> Ran:
    """Run a command in a folder of its own. POPCORN_FD is open; torch sees no GPU."""
    folder.mkdir()
    prepare(folder)
    if words[0] == "regrade":
        prepare_bundle(folder)
    with ExitStack() as stack:
        popcorn = stack.enter_context((folder / "popcorn.txt").open("w"))
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80", "CUDA_VISIBLE_DEVICES": ""}
        environment["POPCORN_FD"] = str(popcorn.fileno())
        environment.update({"XDG_CACHE_HOME": str(cache)} if cache is not None else {})
        if gpu_in_use:
            environment[FOLDER] = str(folder)
            stack.enter_context(Turns(("cpu-driver",), 0.0, folder).take("alone"))
        done = subprocess.run(
            [sys.executable, "-m", "benchguard", *words],
            cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False,
            pass_fds=[popcorn.fileno()],
        )  # fmt: skip
    return Ran(done.returncode, done.stdout, done.stderr, folder)


PY = (sys.executable, "program.py")
LOOKUP = (
    sys.executable,
    "-c",
    "import ctypes, sys; found = ctypes.c_void_p(); ask = ctypes.CDLL('libcuda.so.1').cuGetProcAddress\n"
    "for _ in range(int([*sys.argv, 1][1])):\n"
    "    ask(b'cuInit', ctypes.byref(found), 12000, ctypes.c_ulonglong())",
)
OBSERVE = ("observe", "--driver", "sim", "--log", "run.jsonl")
RECORD = ("record", "--driver", "sim", "-o", "x.ncap")
TRACE = ("trace", "--driver", "sim")
TRACE_LOG = ("trace", "launches.jsonl")
REPLAY = ("replay", "saxpy.ncap", "--driver", "sim", "--json", "result.json")
REPLAY_COMMAND = ("replay", "--driver", "sim", "--json", "result.json", "--samples", "3")
SIM = ("--driver", "sim")
JSON = ("--json", "result.json")
GRADE = ("grade", PROBLEM, "kernel.ptx", *SIM, *JSON, "--samples", "3")
PYTHON = ("grade", PROBLEM, "submission.py", *SIM, *JSON, "--samples", "3")
BATCH = ("batch", "--problem", PROBLEM, *SIM)
STORED = (*BATCH, "--results", "r.jsonl", "--samples", "3", "kernel.ptx")
REGRADE = (
    "regrade",
    "graded.json",
    "--bundles",
    "archive",
    "--problem",
    PROBLEM,
    *SIM,
    *JSON,
    "--samples",
    "3",
)
COMPARE_CAPTURES = ("compare", "saxpy.ncap", "saxpy.ncap", *SIM, *JSON, "--blocks", "3", "--samples", "3")
COMPARE_COMMAND = ("compare", "saxpy.ncap", *SIM, *JSON, "--blocks", "3", "--samples", "3")
COMPARE = ("compare", PROBLEM, "kernel.ptx", "submission.py", *SIM, *JSON, "--samples", "3")


def stored(name: str, value: Any) -> Check:
    """A batch stores this option with its first result."""
    return lambda ran: json.loads(ran.text("r.jsonl").splitlines()[0])["options"][name] == value


def differs(name: str, value: str) -> Check:
    """A regrade says that this option is another than in the grade."""
    return lambda ran: (
        {"what": f"option: {name}", "stored": "default", "now": value} in ran.result["differences"]
    )


def regraded_inputs(ran: Ran) -> Any:
    return ran.result["result"]["cases"][0]["inputs"]


def ended_with(status: int, text: str = "") -> Check:
    return lambda ran: ran.status == status and text in ran.err


def names_device(ordinal: int) -> Check:
    return lambda ran: f"device {ordinal}" in ran.err


def launches_in(name: str) -> Check:
    return lambda ran: len(ran.log(name, "launch"))


def said_by(option: str) -> Check:
    """The program is recorded no longer, and the message names the option."""
    return lambda ran: f"raise {option}" in ran.err or f"a larger {option}" in ran.err


def served_lines(ran: Ran) -> list[Any]:
    """The lines of a service's only log."""
    (log,) = (ran.folder / "logs").glob("*.audit.jsonl")
    return [json.loads(line) for line in log.read_text().splitlines()]


def served_end(ran: Ran) -> Any:
    return served_lines(ran)[-1]


def first_reward(ran: Ran) -> Any:
    """The answer for the honest kernel."""
    return json.loads(ran.out.splitlines()[1])


PROBE = ("probe", "count", "--driver", "sim")
SERVE = ("serve", "--driver", "sim", "--log", "logs")
REWARDS = ("rewards", "--problem", f"add={PROBLEM}", "--driver", "sim", "--samples", "3")
ASKING = ("--", sys.executable, "ask.py")
SAY_SOCKET = ("sh", "-c", "echo $NEUTRINO_SERVE")
NESTED = (sys.executable, "nested.py")
GPU_IN_USE = ended_with(70, "wait longer with --wait-for-gpu")
NOWHERE = ended_with(2, "/nowhere/libcuda.so.1")

RUNS: dict[str, OptionRun] = {
    "version": OptionRun(("--version",), ("--help",), {"--version": lambda ran: "neutrino-bench 0" in ran.out}),
    "observe": OptionRun(
        ("observe", "--driver", "sim", "--log", "old.jsonl", "--force", "--keep-images", "images", "--summary",
         "summary.json", "--quiet", "--", *PY),
        (*OBSERVE, "--", *PY),
        {
            "--log": lambda ran: ran.log("old.jsonl", "end"),
            "--force": lambda ran: ran.status == 0 and ran.text("old.jsonl") != "old\n",
            "--keep-images": lambda ran: list((ran.folder / "images").iterdir()),
            "--summary": lambda ran: json.loads(ran.text("summary.json"))["schema"],
            "--quiet": lambda ran: not ran.err,
        },
    ),
    "observe, fail-on": OptionRun(
        (*OBSERVE, "--fail-on", "time-not-asked", "--", *PY),
        (*OBSERVE, "--", *PY),
        {"--fail-on": ended_with(3, "time-not-asked")},
    ),
    "findings": OptionRun(
        ("findings", "windows.jsonl", "--fail-on", "warning", "--json", "result.json", "--sarif", "x.sarif", "--quiet"),
        ("findings", "windows.jsonl"),
        {
            "--fail-on": ended_with(3, "unjoined-kernel"),
            "--json": lambda ran: (ran.folder / "result.json").exists() and ran.result["windows"] == 1,
            "--sarif": lambda ran: (ran.folder / "x.sarif").exists(),
            "--quiet": lambda ran: not ran.out,
        },
    ),
    "observe, filter": OptionRun(
        (*OBSERVE, "--filter", "libffi,_ctypes", "--", *PY),
        (*OBSERVE, "--", *PY),
        {"--filter": lambda ran: ran.log("run.jsonl", "end") and not ran.log("run.jsonl", "launch")},
    ),
    "observe, calls": OptionRun(
        (*OBSERVE, "--calls", "cuMemAlloc*", "--", *PY),
        (*OBSERVE, "--", *PY),
        {"--calls": lambda ran: {line["call"] for line in ran.log("run.jsonl", "call")} == {"cuMemAlloc_v2"}},
    ),
    "observe, no-lookups": OptionRun(
        (*OBSERVE, "--no-lookups", "--", *LOOKUP),
        (*OBSERVE, "--", *LOOKUP),
        {"--no-lookups": lambda ran: ran.log("run.jsonl", "end") and not ran.log("run.jsonl", "call")},
    ),
    "observe, log-size": OptionRun(
        (*OBSERVE, "--log-size", "64K", "--", *LOOKUP, "1000"),
        (*OBSERVE, "--", *LOOKUP, "1000"),
        {"--log-size": lambda ran: ran.log("run.jsonl.2", "part") and ran.log("run.jsonl", "continued")},
    ),
    "observe, log on standard output": OptionRun(
        ("observe", "--driver", "sim", "--log", "-", "--quiet", "--", "sh", "-c", 'echo hello; exec "$@"', "-", *PY),
        (*OBSERVE, "--", *PY),
        {"--log": lambda ran: ran.err == "hello\n" and json.loads(ran.out.splitlines()[-1])["complete"]},
    ),
    "observe, driver": OptionRun(
        ("observe", "--driver", "/nowhere/libcuda.so.1", "--", "true"), (*OBSERVE, "--", "true"), {"--driver": NOWHERE}
    ),
    "observe, timeout": OptionRun(
        (*OBSERVE, "--timeout", "0.5", "--", *SLEEP),
        (*OBSERVE, "--", "true"),
        {"--timeout": ended_with(124, "killed after 0.5 s")},
    ),
    "observe, policy": OptionRun(
        (*OBSERVE, "--policy", "policy.toml", "--", *PY),
        (*OBSERVE, "--", *PY),
        {"--policy": lambda ran: len(ran.log("run.jsonl", "decision")) == 5},
    ),
    "observe, gpu-time": OptionRun(
        (*OBSERVE, "--gpu-time", "--", *PY),
        (*OBSERVE, "--", *PY),
        {"--gpu-time": lambda ran: len(ran.log("run.jsonl", "launch_time")) == 5},
    ),
    "record, policy": OptionRun(
        (*RECORD, "--policy", "policy.toml", "--", *PY),
        (*RECORD, "--", *PY),
        {"--policy": lambda ran: len(ran.log("x.audit.jsonl", "decision")) == 5},
    ),
    "rewards": OptionRun(
        (*REWARDS[:3], "--problem", f"other={PROBLEM}", "--driver", "sim", "--samples", "48", "--baseline",
         "add=baseline.json", "--failed", "0.25", "--wrong", "0.25", "--slow-pass", "2", "--fast-pass", "3", "--host",
         "127.0.0.2", "--quiet", *ASKING),
        (*REWARDS, *ASKING),
        {
            "--baseline": lambda ran: first_reward(ran)["speedup"] > 0,
            "--failed": lambda ran: json.loads(ran.out.splitlines()[2])["score"] == 0.25,
            "--slow-pass": lambda ran: first_reward(ran)["score"] > 2,
            "--host": lambda ran: ran.out.startswith("127.0.0.2:"),
            "--samples": lambda ran: "carried results" not in ran.out,
            "--quiet": lambda ran: not ran.err,
        },
    ),
    "rewards, fast pass": OptionRun(
        (*REWARDS, "--fast-pass", "3", *ASKING),
        (*REWARDS, *ASKING),
        {"--fast-pass": lambda ran: first_reward(ran)["score"] == 3},
    ),
    "rewards, problem": OptionRun(
        (*REWARDS, "--problem", f"other={PROBLEM}", *ASKING),
        (*REWARDS, *ASKING),
        {"--problem": lambda ran: "problems: add, other" in ran.err},
    ),
    "rewards, timeout": OptionRun(
        (*REWARDS, "--timeout", "6", *ASKING, "hang"),
        (*REWARDS, *ASKING),
        {"--timeout": lambda ran: first_reward(ran)["verdict"] == "timeout"},
    ),
    "rewards, turn": OptionRun(
        (*REWARDS, "--wait-for-gpu", "-1", *ASKING),
        (*REWARDS, *ASKING),
        {"--wait-for-gpu": ended_with(2, "wait")},
    ),
    "rewards, token": OptionRun(
        (*REWARDS, "--token-file", "token.txt", *ASKING),
        (*REWARDS, *ASKING),
        {"--token-file": lambda ran: "Bearer" in first_reward(ran)["error"]},
    ),
    "rewards, sandbox": OptionRun(
        (*REWARDS, "--require-sandbox", "full", *ASKING),
        (*REWARDS, *ASKING),
        {"--require-sandbox": lambda ran: "no reward" in first_reward(ran)["error"]},
    ),
    "rewards, scale": OptionRun(
        (*REWARDS, "--violation", "9", "--wrong", "9", *ASKING),
        (*REWARDS, *ASKING),
        {"--violation": ended_with(2, "violation 9"), "--wrong": ended_with(2, "wrong 9")},
    ),
    "rewards, port": OptionRun(
        (*REWARDS, "--port", "70000", "--grades", "1", *ASKING),
        (*REWARDS, *ASKING),
        {"--port": ended_with(2, "port is 0 to 65535")},
    ),
    "rewards, grades": OptionRun(
        (*REWARDS, "--grades", "0", *ASKING), (*REWARDS, *ASKING), {"--grades": ended_with(2, "grades at least 1")}
    ),
    "rewards, engine": OptionRun(
        (*REWARDS, "--engine", "ray", *ASKING),
        (*REWARDS, *ASKING),
        {"--engine": lambda ran: "on a Ray cluster" in ran.err or "neutrino-bench[ray]" in ran.err},
        slow=True,
    ),
    "rewards, address": OptionRun(
        (*REWARDS, "--address", "auto", *ASKING), (*REWARDS, *ASKING), {"--address": ended_with(2, "engine ray")}
    ),
    "rewards, cascade": OptionRun(
        (*REWARDS, "--cascade", *ASKING), (*REWARDS, *ASKING), {"--cascade": ended_with(2, "ends on a GPU")}
    ),
    "rewards, driver": OptionRun(
        ("rewards", "--problem", f"add={PROBLEM}", "--driver", "/nowhere/libcuda.so.1", *ASKING),
        (*REWARDS, *ASKING),
        {"--driver": NOWHERE},
    ),
    "probe": OptionRun(
        (*PROBE, "--out", "p", "--callback", "wc -c", "--cache", "outcomes", "--quiet", "--", *PY),
        (*PROBE, "--", *PY),
        {
            "--out": lambda ran: (ran.folder / "p" / "traces.jsonl").exists(),
            "--callback": lambda ran: ".bin" in ran.out,
            "--cache": lambda ran: (ran.folder / "outcomes").is_dir(),
            "--quiet": lambda ran: not ran.err,
        },
    ),
    "probe, kernel": OptionRun(
        (*PROBE, "--kernel", "none*", "--", *PY),
        (*PROBE, "--", *PY),
        {"--kernel": ended_with(0, "--kernel none* does not match")},
    ),
    "probe, option": OptionRun(
        (*PROBE, "--option", "no_such=1", "--", *PY),
        (*PROBE, "--", *PY),
        {"--option": ended_with(0, "no_such")},
    ),
    "probe, benchmark": OptionRun(
        (*PROBE, "--out", "p", "--benchmark", "--", *PY),
        (*PROBE, "--out", "q", "--", *PY),
        {"--benchmark": lambda ran: (ran.folder / "p" / "benchmark.jsonl").exists()},
    ),
    "probe, engine-timeout": OptionRun(
        ("probe", "sh -c 'sleep 9'", "--driver", "sim", "--engine-timeout", "0.5", "--", *PY),
        (*PROBE, "--", *PY),
        {"--engine-timeout": ended_with(0, "took more than 0.5 s")},
    ),
    "probe, max-map-bytes": OptionRun(
        (*PROBE, "--max-map-bytes", "1", "--", *PY),
        (*PROBE, "--", *PY),
        {"--max-map-bytes": ended_with(0, "its maps exceed --max-map-bytes")},
    ),
    "probe, no-cache": OptionRun(
        (*PROBE, "--cache", "outcomes", "--no-cache", "--", "true"),
        (*PROBE, "--cache", "outcomes", "--", "true"),
        {"--no-cache": ended_with(2, "exclude each other")},
    ),
    "probe, driver": OptionRun(
        ("probe", "count", "--driver", "/nowhere/libcuda.so.1", "--", "true"),
        (*PROBE, "--", "true"),
        {"--driver": NOWHERE},
    ),
    "probe, timeout": OptionRun(
        (*PROBE, "--timeout", "0.5", "--", *SLEEP),
        (*PROBE, "--", "true"),
        {"--timeout": ended_with(124, "killed after 0.5 s")},
    ),
    "serve": OptionRun(
        ("serve", "--driver", "sim", "--log", "own_logs", "--socket", "own.sock", "--quiet", "--", *SAY_SOCKET),
        (*SERVE, "--", *SAY_SOCKET),
        {
            "--log": lambda ran: (ran.folder / "own_logs").is_dir(),
            "--socket": lambda ran: "/own.sock" in ran.out,
            "--quiet": lambda ran: not ran.err,
        },
    ),
    "serve, driver": OptionRun(
        ("serve", "--log", "logs", "--driver", "/nowhere/libcuda.so.1", "--", "true"),
        (*SERVE, "--", "true"),
        {"--driver": NOWHERE},
    ),
    "serve, policy": OptionRun(
        (*SERVE, "--policy", "policy.toml", "--", *PY),
        (*SERVE, "--", *PY),
        {"--policy": lambda ran: sum(line["kind"] == "decision" for line in served_lines(ran)) == 5},
    ),
    "serve, user": OptionRun(
        (*SERVE, "--any-user", "--", "stat", "-c", "%a", "logs/serve.sock"),
        (*SERVE, "--", "stat", "-c", "%a", "logs/serve.sock"),
        {"--any-user": lambda ran: ran.out == "777\n"},
    ),
    "serve, programs": OptionRun(
        (*SERVE, "--max-programs", "1", "--", *NESTED),
        (*SERVE, "--", *NESTED),
        {"--max-programs": said_by("--max-programs")},
    ),
    "serve, programs of a user": OptionRun(
        (*SERVE, "--max-programs-per-user", "1", "--", *NESTED),
        (*SERVE, "--", *NESTED),
        {"--max-programs-per-user": said_by("--max-programs-per-user")},
    ),
    "serve, log bytes": OptionRun(
        (*SERVE, "--max-log-bytes", "4K", "--", *PY),
        (*SERVE, "--", *PY),
        {"--max-log-bytes": lambda ran: served_end(ran)["truncated"]},
    ),
    "serve, log-size": OptionRun(
        (*SERVE, "--log-size", "64K", "--", *LOOKUP, "1000"),
        (*SERVE, "--", *LOOKUP, "1000"),
        {"--log-size": lambda ran: served_lines(ran)[-1]["kind"] == "continued" and list(ran.folder.glob("logs/*.2"))},
    ),
    "serve, total bytes": OptionRun(
        (*SERVE, "--max-total-bytes", "1K", "--", *PY),
        (*SERVE, "--", *PY),
        {"--max-total-bytes": said_by("--max-total-bytes")},
    ),
    "serve, images": OptionRun(
        (*SERVE, "--image-memory", "0", "--", *PY),
        (*SERVE, "--", *PY),
        {"--image-memory": lambda ran: served_end(ran)["images_dropped"] == 1},
    ),
    "serve, list": OptionRun(
        (*SERVE, "--", sys.executable, "-m", "benchguard", "serve", "--log", "logs", "--list"),
        (*SERVE, "--", "true"),
        {"--list": lambda ran: json.loads(ran.out)["schema"]},
    ),
    "env": OptionRun(
        ("env", "--log", "logs", *SIM, "--filter", "cublas", "--require", "--copy", "copies",
         "--format", "json"),
        ("env", "--socket", "s", *SIM),
        {
            "--log": lambda ran: json.loads(ran.out)["NEUTRINO_SERVE"].endswith("/logs/serve.sock"),
            "--filter": lambda ran: json.loads(ran.out)["NEUTRINO_FILTER"] == "cublas",
            "--require": lambda ran: json.loads(ran.out)["NEUTRINO_REQUIRE"] == "1",
            "--copy": lambda ran: (
                Path(json.loads(ran.out)["NEUTRINO_SHIM"]) == ran.folder / "copies" / "libcuda.so.1"
                and (ran.folder / "copies" / "libneutrino_preload.so").is_file()
            ),
            "--format": lambda ran: json.loads(ran.out),
        },
    ),
    "env, socket": OptionRun(
        ("env", "--socket", "own.sock", *SIM),
        ("env", "--log", "logs", *SIM),
        {"--socket": lambda ran: "own.sock" in ran.out},
    ),
    "env, policy": OptionRun(
        ("env", "--log", "logs", *SIM, "--policy", "policy.toml"),
        ("env", "--log", "logs", *SIM),
        {"--policy": lambda ran: "NEUTRINO_POLICY=" in ran.out and list(ran.folder.glob("logs/policies/*.toml"))},
    ),
    "env, driver": OptionRun(
        ("env", "--log", "logs", "--driver", "/nowhere/libcuda.so.1"),
        ("env", "--log", "logs", *SIM),
        {"--driver": NOWHERE},
    ),
    "record": OptionRun(
        ("record", "--driver", "sim", "-o", "old.ncap", "--log", "old.jsonl", "--force", "--keep-raw", "--quiet",
         "--", *PY),
        (*RECORD, "--", *PY),
        {
            "--output": lambda ran: ran.captured_launches("old.ncap") == 2,
            "--log": lambda ran: ran.log("old.jsonl", "end"),
            "--force": lambda ran: ran.status == 0 and ran.text("old.jsonl") != "old\n",
            "--keep-raw": lambda ran: "raw captures are in" in ran.err,
            "--quiet": lambda ran: "operations" not in ran.err,
        },
    ),
    "record, launches": OptionRun(
        (*RECORD, "--launches", "1:4", "--", *PY),
        (*RECORD, "--", *PY),
        {"--launches": lambda ran: ran.captured_launches() == 3},
    ),
    "record, kernel": OptionRun(
        (*RECORD, "--kernel", "sax*:2", "--", *PY),
        (*RECORD, "--", *PY),
        {"--kernel": lambda ran: ran.captured_launches() == 1},
    ),
    "record, window": OptionRun(
        (*RECORD, "--window", "1", "--", *PY),
        (*RECORD, "--", *PY),
        {"--window": lambda ran: ran.captured_launches() == 3},
    ),
    "record, log-size": OptionRun(
        (*RECORD, "--log-size", "64K", "--", *LOOKUP, "1000"),
        (*RECORD, "--", *LOOKUP, "1000"),
        {"--log-size": lambda ran: ran.log("x.audit.jsonl.2", "part") and ran.log("x.audit.jsonl", "continued")},
    ),
    "record, driver": OptionRun(
        ("record", "-o", "x.ncap", "--driver", "/nowhere/libcuda.so.1", "--", "true"),
        (*RECORD, "--", *PY),
        {"--driver": NOWHERE},
    ),
    "record, timeout": OptionRun(
        (*RECORD, "--timeout", "0.5", "--", *SLEEP), (*RECORD, "--", *PY), {"--timeout": ended_with(124, "0.5 s")}
    ),
    "inspect": OptionRun(
        ("inspect", "many.ncap", "--json", "--operations", "--check"),
        ("inspect", "many.ncap"),
        {
            "--json": lambda ran: ran.result["kernels"],
            "--operations": lambda ran: ran.result["operation_list"],
            "--check": lambda ran: "match their SHA-256" in ran.err,
        },
    ),
    "inspect, text": OptionRun(
        ("inspect", "many.ncap", "--memory", "--dump-images", "images"),
        ("inspect", "many.ncap"),
        {
            "--memory": lambda ran: "more" not in ran.out and hex(ARENA + 29 * GRANULE) in ran.out,
            "--dump-images": lambda ran: list((ran.folder / "images").glob("*.ptx")),
        },
    ),
    "trace": OptionRun(
        (*TRACE, "--verbose", "--no-time", "--no-returns", "--runtime", "--output", "table.txt", "--log", "run.jsonl",
         "--", *PY),
        (*TRACE, "--", *PY),
        {
            "--verbose": lambda ran: "[KERNEL]" in ran.text("table.txt"),
            "--no-time": lambda ran: ran.text("table.txt").startswith("PROCESS"),
            "--no-returns": lambda ran: "[EXIT]" not in ran.text("table.txt"),
            "--runtime": lambda ran: "cuMemAlloc_v2 (cudaMalloc)" in ran.text("table.txt"),
            "--output": lambda ran: "[ENTER]" in ran.text("table.txt") and "[ENTER]" not in ran.out,
            "--log": launches_in("run.jsonl"),
        },
    ),
    "trace, log-size": OptionRun(
        (*TRACE, "--log", "run.jsonl", "--log-size", "64K", "--", *LOOKUP, "1000"),
        (*TRACE, "--log", "run.jsonl", "--", *LOOKUP, "1000"),
        {"--log-size": lambda ran: ran.log("run.jsonl.2", "part") and ran.out.count("[EXIT]") >= 1000},
    ),
    "trace, call": OptionRun(
        (*TRACE_LOG, "--call", "cuStream*"), TRACE_LOG, {"--call": lambda ran: "cuLaunchKernel" not in ran.out}
    ),
    "trace, kernel": OptionRun(
        (*TRACE_LOG, "--kernel", "none*"), TRACE_LOG, {"--kernel": lambda ran: "cuLaunchKernel" not in ran.out}
    ),
    "trace, stream": OptionRun(
        (*TRACE_LOG, "--stream", "legacy"), TRACE_LOG, {"--stream": lambda ran: "cuLaunchKernel" not in ran.out}
    ),
    "trace, thread": OptionRun(
        (*TRACE_LOG, "--thread", "1"), TRACE_LOG, {"--thread": lambda ran: "cuLaunchKernel" not in ran.out}
    ),
    "trace, errors": OptionRun(
        (*TRACE_LOG, "--errors"), TRACE_LOG, {"--errors": lambda ran: "cuLaunchKernel" not in ran.out}
    ),
    "trace, follow": OptionRun(
        ("trace", "cut.jsonl", "--follow"), ("trace", "cut.jsonl"), {"--follow": ended_with(0)}
    ),
    "trace, summary": OptionRun(
        (*TRACE_LOG, "--summary"), TRACE_LOG, {"--summary": lambda ran: "audit log launches.jsonl" in ran.out}
    ),
    "trace, path": OptionRun(
        (*TRACE_LOG, "--path", "program.py"), TRACE_LOG, {"--path": lambda ran: "cuLaunchKernel" not in ran.out}
    ),
    "trace, pid": OptionRun(("trace", "--pid", "1"), ("trace",), {"--pid": lambda ran: "process 1" in ran.err}),
    "trace, driver": OptionRun(
        ("trace", "--driver", "/nowhere/libcuda.so.1", "--", *PY), (*TRACE, "--", *PY), {"--driver": NOWHERE}
    ),
    "trace, gpu-time": OptionRun(
        (*TRACE, "--gpu-time", "--", *PY), (*TRACE, "--", *PY), {"--gpu-time": lambda ran: ran.out.count("[GPU]") == 5}
    ),
    "trace, timeout": OptionRun(
        (*TRACE, "--timeout", "0.3", "--", *SLEEP), (*TRACE, "--", "true"), {"--timeout": ended_with(124)}
    ),
    "inspect, log": OptionRun(
        ("inspect", "launches.jsonl", "--kept", "kept", "--ptx", "k3"),
        ("inspect", "launches.jsonl"),
        {
            "--kept": lambda ran: ran.status == 0 and "ret;" in ran.out,
            "--ptx": lambda ran: ran.out.startswith(".visible .entry k3()"),
        },
    ),
    "inspect, lines": OptionRun(
        ("inspect", "launches.jsonl", "--lines", "-1:"),
        ("inspect", "launches.jsonl"),
        {"--lines": lambda ran: json.loads(ran.out)["kind"] == "end"},
    ),
    "inspect, all kernels": OptionRun(
        ("inspect", "many.ptx", "--all-kernels"),
        ("inspect", "many.ptx"),
        {"--all-kernels": lambda ran: "k29: " in ran.out and "more" not in ran.out},
    ),
    "inspect, machine code": OptionRun(
        ("inspect", "sm_90.cubin", "--sass", "saxpy"),
        ("inspect", "sm_90.cubin"),
        {"--sass": lambda ran: ".text.saxpy" in ran.out or "--sass needs nvdisasm" in ran.err},
    ),
    "report": OptionRun(
        ("report", "launches.jsonl", "--html", "x.html", "--perfetto", "x.json", "--csv", "csv", "--parquet",
         "parquet"),
        ("report", "launches.jsonl"),
        {
            "--html": lambda ran: "saxpy" in ran.text("x.html"),
            "--perfetto": lambda ran: json.loads(ran.text("x.json"))["traceEvents"],
            "--csv": lambda ran: "saxpy" in ran.text("csv/launches.csv"),
            "--parquet": lambda ran: list((ran.folder / "parquet").glob("*.parquet")),
        },
    ),
    "report, result": OptionRun(
        ("report", "launches.jsonl", "--html", "x.html", "--result", "absent.json"),
        ("report", "launches.jsonl", "--html", "x.html"),
        {"--result": ended_with(2, "cannot read absent.json")},
    ),
    "replay": OptionRun(
        ("replay", "saxpy.ncap", "--driver", "sim", "--cold", "rotate", "--rotating-count", "3", "--icache", "cold",
         "--no-prime", "--verify", "--samples", "9", "--json", "result.json", "--raw", "raw.csv", "--seed", "7",
         "--input", "x=x1.bin", "--input", "x=x2.bin", "--output", "x=out.bin", "--quiet"),
        ("replay", "saxpy.ncap", "--driver", "sim"),
        {
            "--cold": lambda ran: ran.result["settings"]["cold"] == "rotate",
            "--rotating-count": lambda ran: ran.result["settings"]["rotating_count"] == 3,
            "--icache": lambda ran: ran.result["settings"]["icache"] == "cold",
            "--no-prime": lambda ran: ran.result["settings"]["prime"] is False,
            "--verify": lambda ran: ran.result["verification"]["exact"],
            "--samples": lambda ran: len(ran.text("raw.csv").splitlines()) == 10,
            "--json": lambda ran: ran.result["schema"],
            "--raw": lambda ran: ran.text("raw.csv").startswith("n,"),
            "--seed": lambda ran: ran.result["settings"]["seed"] == 7,
            "--input": lambda ran: ran.result["settings"]["input_sets"] == 2,
            "--output": lambda ran: len((ran.folder / "out.bin").read_bytes()) == 4 * VALUES,
            "--quiet": lambda ran: not ran.out and not ran.err,
        },
    ),
    "replay, rule": OptionRun(
        (*REPLAY, "--until", "cv=1e-6", "--require-converged", "--flush-cache"),
        REPLAY,
        {
            "--until": lambda ran: ran.result["settings"]["until"] == "cv=1e-06",
            "--require-converged": lambda ran: ran.result["verdict"] == "unconverged" and ran.status == 5,
            "--flush-cache": lambda ran: ran.result["settings"]["flush_cache"],
        },
        slow=True,
    ),
    "replay, strict": OptionRun(
        (*REPLAY, "--cold", "none", "--strict", "--samples", "3", "--warm-samples", "4", "--require-evidence", "full"),
        REPLAY,
        {
            "--strict": lambda ran: ran.result["evidence"][0] == {"check": "outputs", "state": "held", "text": ""},
            "--warm-samples": lambda ran: ran.result["warm_us"] > 0,
            "--require-evidence": lambda ran: ran.result["verdict"] == "unproven" and ran.status == 8,
        },
    ),
    "replay, sandbox": OptionRun(
        (*REPLAY, "--cold", "none", "--strict", "--samples", "3", "--require-sandbox", "full"),
        (*REPLAY, "--cold", "none", "--strict", "--samples", "3"),
        {"--require-sandbox": lambda ran: "the replay did not start: sandbox: partial" in ran.result["reason"]},
    ),
    "replay, kernel": OptionRun(
        (*REPLAY_COMMAND, "--kernel", "sax*:2", "--keep", "kept", "--", *PY),
        (*REPLAY_COMMAND, "--", *PY),
        {
            "--kernel": lambda ran: ran.result["kernels"][0]["launches"] == 1,
            "--keep": lambda ran: ran.captured_launches("kept/capture.ncap") == 1,
        },
    ),
    "replay, launches": OptionRun(
        (*REPLAY_COMMAND, "--launches", "100:101", "--", *PY),
        (*REPLAY_COMMAND, "--", *PY),
        {"--launches": ended_with(70, "--launches 100:101 asks for more")},
    ),
    "replay, window": OptionRun(
        (*REPLAY_COMMAND, "--window", "9", "--", *PY),
        (*REPLAY_COMMAND, "--", *PY),
        {"--window": ended_with(70, "no stream saw 9 pairs")},
    ),
    "replay, warm": OptionRun(
        (*REPLAY, "--cold", "warm", "--samples", "3", "--warm-up-samples", "4"),
        (*REPLAY, "--samples", "3"),
        {
            "--cold": lambda ran: ran.result["settings"]["cold"] == "warm",
            "--warm-up-samples": lambda ran: ran.result["convergence"]["warm_up_samples"] == 4,
        },
    ),
    "replay, turn": OptionRun(
        (*REPLAY, "--wait-for-gpu", "0"), REPLAY, {"--wait-for-gpu": GPU_IN_USE}, gpu_in_use=True
    ),
    "replay, timeout": OptionRun((*REPLAY, "--timeout", "0.01"), REPLAY, {"--timeout": ended_with(124, "timeout")}),
    "replay, device": OptionRun((*REPLAY, "--device", "99"), REPLAY, {"--device": names_device(99)}),
    "replay, driver": OptionRun(
        ("replay", "saxpy.ncap", "--driver", "/nowhere/libcuda.so.1"), REPLAY, {"--driver": NOWHERE}
    ),
    "replay, refused": OptionRun(
        ("replay", "refused.ncap", "--driver", "sim", "--samples", "3", "--ignore-refusals"),
        ("replay", "refused.ncap", "--driver", "sim", "--samples", "3"),
        {"--ignore-refusals": lambda ran: ran.status == 0},
    ),
    "grade": OptionRun(
        ("grade", PROBLEM, "kernel.ptx", *SIM, "--json", "other.json", "--case", "two", "--cold", "flush",
         "--flush-cache", "--warm-up-samples", "4", "--samples", "7", "--sets", "4", "--one-use", "9", "--warm-up", "3",
         "--placements", "2", "--keep",
         "kept", "--bundle", "archive", "--popcorn", "--quiet"),
        GRADE,
        {
            "--bundle": lambda ran: len(open_bundle(*ran.folder.glob("archive/bundles/*")).manifest.cases) == 1,
            "--case": lambda ran: [case["name"] for case in ran.result["cases"]] == ["two"],
            "--cold": lambda ran: ran.result["settings"]["cold"] == "flush",
            "--flush-cache": lambda ran: ran.result["settings"]["flush_cache"],
            "--warm-up-samples": lambda ran: ran.result["settings"]["warm_up_samples"] == 4,
            "--samples": lambda ran: len(ran.case["samples"]) == 7,
            "--placements": lambda ran: ran.result["settings"]["processes"] == 2,
            "--sets": lambda ran: ran.case["inputs"]["sets"] - ran.case["inputs"]["one_use"] == 4,
            "--one-use": lambda ran: ran.case["inputs"]["one_use"] == 9,
            "--json": lambda ran: json.loads(ran.text("other.json"))["verdict"] == "pass",
            "--warm-up": lambda ran: len(ran.log("kept/audit.jsonl", "launch")) == 5,
            "--keep": lambda ran: len(list((ran.folder / "kept").glob("*.ncap"))) == 2,
            "--popcorn": lambda ran: "check: pass" in ran.text("popcorn.txt"),
            "--quiet": lambda ran: not ran.out and not ran.err,
        },
    ),
    "grade, call": OptionRun(
        ("grade", PROBLEM, "submission.txt", *SIM, *JSON, "--case", "one", "--language", "python", "--entry", "renamed",
         "--convention", "tuple", "--network", "--until", "cv=1", "--icache", "cold"),
        PYTHON,
        {
            "--language": lambda ran: ran.result["submission"]["path"].endswith("submission.txt"),
            "--entry": lambda ran: ran.result["submission"]["entry"] == "renamed",
            "--convention": lambda ran: "arguments: 1\n" in ran.result["output"],
            "--network": lambda ran: "network on" in ran.result["output"],
            "--until": lambda ran: ran.result["settings"]["until"] == "cv=1",
            "--icache": lambda ran: ran.result["settings"]["icache"] == "cold",
        },
    ),
    "grade, rule": OptionRun(
        ("grade", PROBLEM, "kernel.ptx", *SIM, "--case", "one", "--until", "cv=1e-6", "--require-converged"),
        GRADE,
        {"--require-converged": ended_with(5, "unconverged")},
        slow=True,
    ),
    "grade, timeout": OptionRun(
        (*PYTHON, "--entry", "slow", "--timeout", "3"), PYTHON, {"--timeout": ended_with(124, "--timeout")}
    ),
    "grade, memory": OptionRun(
        (*PYTHON, "--entry", "greedy", "--memory", "500M"), PYTHON, {"--memory": ended_with(65, "--memory")}
    ),
    "grade, sandbox": OptionRun(
        (*GRADE, "--require-sandbox", "full"), GRADE, {"--require-sandbox": lambda ran: ran.status == 70}
    ),
    "grade, library": OptionRun(
        (*GRADE, "--forbid-library", "sol*"), GRADE, {"--forbid-library": ended_with(3, "forbidden by 'sol*'")}
    ),
    "grade, images": OptionRun(
        (*GRADE, "--allow-images", "libcu*"), GRADE, {"--allow-images": ended_with(3, "is not allowed")}
    ),
    "grade, evidence": OptionRun(
        (*GRADE, "--require-evidence", "full"), GRADE, {"--require-evidence": ended_with(8)}
    ),
    "grade, cordon": OptionRun(
        (*GRADE, "--cordon-device"),
        GRADE,
        {"--cordon-device": lambda ran: (ran.case["cordon"] or {}).get("status") == "held"},
        slow=True,
    ),
    "grade, policy": OptionRun(
        (*PYTHON, "--entry", "profiled", "--policy", "strict"),
        PYTHON,
        {"--policy": lambda ran: "profiler: 800\n" in ran.result["output"]},
    ),
    "grade, inline": OptionRun(
        (*GRADE, "--inline"), GRADE, {"--inline": lambda ran: ran.result["trust"] == "inline"}
    ),
    "grade, reference": OptionRun(
        (*GRADE, "--reference-device", "cuda"), GRADE, {"--reference-device": ended_with(2, "cuda")}
    ),
    "grade, adapter": OptionRun((*GRADE, "--adapter", "pygpubench"), GRADE, {"--adapter": ended_with(2, "FUNCTION")}),
    "grade, adapter option": OptionRun(
        (*GRADE, "--adapter-option", "sample=yes"),
        GRADE,
        {"--adapter-option": lambda ran: ran.case["name"] == "sample"},
    ),
    "grade, turn": OptionRun(
        (*GRADE, "--wait-for-gpu", "0"), GRADE, {"--wait-for-gpu": GPU_IN_USE}, gpu_in_use=True
    ),
    "grade, driver": OptionRun(
        ("grade", PROBLEM, "kernel.ptx", "--driver", "/nowhere/libcuda.so.1"), GRADE, {"--driver": NOWHERE}
    ),
    "grade, device": OptionRun((*GRADE, "--device", "99"), GRADE, {"--device": names_device(99)}),
    "export": OptionRun(
        ("export", "baseline.json", "--flashinfer-trace", "t.jsonl", "--quiet"),
        ("export", "baseline.json"),
        {
            "--flashinfer-trace": lambda ran: json.loads(ran.text("t.jsonl"))["definition"],
            "--quiet": lambda ran: ran.status == 0 and not ran.out,
        },
    ),
    "import": OptionRun(
        ("import", "traces.jsonl", "--result", "baseline.json", "--within", "1.5", "--json", "claims.json", "--quiet"),
        ("import", "traces.jsonl"),
        {
            "--result": lambda ran: json.loads(ran.text("claims.json"))["claims"][0]["ratio"] == 0.5,
            "--within": lambda ran: ran.status == 1 and "not confirmed" in ran.err,
            "--json": lambda ran: json.loads(ran.text("claims.json"))["schema"],
            "--quiet": lambda ran: not ran.out,
        },
    ),
    "import, solution": OptionRun(
        (*IMPORT, "--solution", "solution.json", "--json", "claims.json"),
        (*IMPORT, "--json", "claims.json"),
        {"--solution": lambda ran: json.loads(ran.text("claims.json"))["claims"][0]["ratio"] is None},
    ),
    "regrade": OptionRun(
        ("regrade", "graded.json", "--bundles", "archive", "--problem", PROBLEM, *SIM, "--json", "other.json", "--cold",
         "flush", "--flush-cache", "--warm-up-samples", "4", "--samples", "7", "--sets", "4", "--one-use", "9",
         "--placements", "2", "--quiet"),
        REGRADE,
        {
            "--json": lambda ran: json.loads(ran.text("other.json"))["confirmed"],
            "--cold": lambda ran: ran.result["result"]["settings"]["cold"] == "flush",
            "--flush-cache": lambda ran: ran.result["result"]["settings"]["flush_cache"],
            "--warm-up-samples": lambda ran: ran.result["result"]["settings"]["warm_up_samples"] == 4,
            "--samples": lambda ran: len(ran.result["result"]["cases"][0]["samples"]) == 7,
            "--placements": lambda ran: ran.result["result"]["settings"]["processes"] == 2,
            "--sets": lambda ran: regraded_inputs(ran)["sets"] - regraded_inputs(ran)["one_use"] == 4,
            "--one-use": lambda ran: regraded_inputs(ran)["one_use"] == 9,
            "--quiet": lambda ran: not ran.out and not ran.err,
        },
    ),
    "regrade, options": OptionRun(
        ("regrade", "graded.json", "--bundles", "archive", "--problem", PROBLEM, *SIM, *JSON, "--until", "cv=1",
         "--icache", "cold", "--require-converged", "--timeout", "100", "--wait-for-gpu", "5", "--memory", "4G",
         "--adapter", "problem", "--reference-device", "cpu", "--require-evidence", "full"),
        REGRADE,
        {
            "--until": differs("until", "cv=1"),
            "--icache": lambda ran: ran.result["result"]["settings"]["icache"] == "cold",
            "--require-converged": differs("require_converged", "True"),
            "--timeout": differs("timeout", "100.0"),
            "--wait-for-gpu": differs("wait_for_gpu", "5.0"),
            "--memory": differs("memory_bytes", str(4 << 30)),
            "--adapter": differs("adapter", "problem"),
            "--reference-device": differs("reference_device", "cpu"),
            "--require-evidence": differs("require_evidence", "full"),
        },
    ),
    "regrade, bundles": OptionRun(
        REGRADE, ("regrade", "graded.json", *REGRADE[4:]), {"--bundles": lambda ran: ran.result["confirmed"]}
    ),
    "regrade, problem": OptionRun(
        ("regrade", "graded.json", "--bundles", "archive", "--problem", "task/typed.py", *SIM),
        REGRADE,
        {"--problem": ended_with(2, "another problem")},
    ),
    "regrade, case": OptionRun(
        (*REGRADE, "--case", "two"), REGRADE, {"--case": ended_with(2, "no capture of case two")}
    ),
    "regrade, within": OptionRun(
        (*REGRADE, "--within", "1000000"), REGRADE, {"--within": lambda ran: ran.result["times_compared"]}
    ),
    "regrade, library": OptionRun(
        (*REGRADE, "--forbid-library", "sol*"), REGRADE, {"--forbid-library": ended_with(1, "forbidden by 'sol*'")}
    ),
    "regrade, images": OptionRun(
        (*REGRADE, "--allow-images", "libcu*"), REGRADE, {"--allow-images": ended_with(1, "is not allowed")}
    ),
    "regrade, sandbox": OptionRun(
        (*REGRADE, "--require-sandbox", "full"), REGRADE, {"--require-sandbox": ended_with(1, "sandbox: partial")}
    ),
    "regrade, cordon": OptionRun(
        (*REGRADE, "--cordon-device"),
        REGRADE,
        {"--cordon-device": lambda ran: (ran.result["result"]["cases"][0]["cordon"] or {}).get("status") == "held"},
        slow=True,
    ),
    "regrade, adapter option": OptionRun(
        (*REGRADE, "--adapter-option", "sample=yes"),
        REGRADE,
        {"--adapter-option": ended_with(2, "no capture of case sample")},

    ),
    "regrade, device": OptionRun((*REGRADE, "--device", "99"), REGRADE, {"--device": names_device(99)}),
    "regrade, driver": OptionRun(
        ("regrade", "graded.json", "--bundles", "archive", "--problem", PROBLEM, "--driver", "/nowhere/libcuda.so.1"),
        REGRADE,
        {"--driver": NOWHERE},
    ),
    "batch": OptionRun(
        (*BATCH, "--results", "r.jsonl", "--parquet", "r.parquet", "--case", "two", "--cold", "flush",
         "--icache", "cold",
         "--flush-cache", "--warm-up-samples", "4", "--samples", "7", "--sets", "4", "--one-use", "9", "--warm-up", "3",
         "--bundles", "archive", "--placements", "2",
         "--memory", "4G", "--require-evidence", "full", "--allow-images", "submission", "--forbid-library", "none*",
         "--adapter", "problem", "--language", "ptx", "--entry", "solution", "--convention", "arguments", "--timeout",
         "100", "--network", "--reference-device", "cpu", "--require-converged", "--quiet", "kernel.ptx"),
        STORED,
        {
            "--parquet": lambda ran: (ran.folder / "r.parquet").read_bytes()[:4] == b"PAR1",
            "--bundles": lambda ran: (
                ran.folder / "archive" / "bundles" / f"{json.loads(ran.text('r.jsonl'))['bundle']}.json"
            ).exists(),
            "--case": stored("cases", ["two"]),
            "--cold": stored("cold", "flush"),
            "--icache": stored("icache", "cold"),
            "--flush-cache": stored("flush_cache", True),
            "--warm-up-samples": stored("warm_up_samples", 4),
            "--samples": stored("samples", 7),
            "--sets": stored("sets", 4),
            "--one-use": stored("one_use", 9),
            "--placements": stored("placements", 2),
            "--warm-up": stored("warm_up", 3),
            "--memory": stored("memory_bytes", 4 << 30),
            "--require-evidence": stored("require_evidence", "full"),
            "--allow-images": stored("allow_images", ["submission"]),
            "--forbid-library": stored("forbid_library", ["none*"]),
            "--adapter": stored("adapter", "problem"),
            "--language": stored("language", "ptx"),
            "--entry": stored("entry", "solution"),
            "--convention": stored("convention", "arguments"),
            "--timeout": stored("timeout", 100),
            "--network": stored("network", True),
            "--reference-device": stored("reference_device", "cpu"),
            "--require-converged": stored("require_converged", True),
            "--quiet": lambda ran: not ran.out and not ran.err,
        },
    ),
    "batch, results": OptionRun(
        (*BATCH, "--results", "other.jsonl", "--until", "cv=1", "--case", "two", "kernel.ptx"),
        STORED,
        {
            "--results": lambda ran: (ran.folder / "other.jsonl").exists(),
            "--until": lambda ran: '"until":"cv=1"' in ran.text("other.jsonl"),
        },
    ),
    "batch, inline": OptionRun((*STORED, "--inline"), STORED, {"--inline": stored("inline", True)}),
    "batch, problem": OptionRun(
        (*STORED, "--problem", f"two={PROBLEM}"), STORED, {"--problem": ended_with(2, "names no problem")}
    ),
    "batch, engine": OptionRun(
        (*STORED, "--engine", "ray", "--network"), STORED, {"--engine": ended_with(2, "engine ray")}
    ),
    "batch, address": OptionRun((*STORED, "--address", "auto"), STORED, {"--address": ended_with(2, "engine ray")}),
    "batch, turn": OptionRun((*STORED, "--wait-for-gpu", "5"), STORED, {"--wait-for-gpu": stored("wait_for_gpu", 5)}),
    "batch, parallel": OptionRun((*STORED, "--parallel", "0"), STORED, {"--parallel": ended_with(2, "parallel is 0")}),
    "batch, cascade": OptionRun((*STORED, "--cascade"), STORED, {"--cascade": ended_with(2, "ends on a GPU")}),
    "batch, device": OptionRun((*STORED, "--device", "99"), STORED, {"--device": stored("device", 99)}),
    "batch, attempts": OptionRun(
        (*STORED, "--case", "absent", "--attempts", "1"),
        (*STORED, "--case", "absent"),
        {"--attempts": lambda ran: ran.status == 70 and '"attempts":1,' in ran.text("r.jsonl")},
    ),
    "batch, sandbox": OptionRun(
        (*STORED, "--require-sandbox", "full"),
        STORED,
        {"--require-sandbox": lambda ran: ran.status == 70},
    ),
    "batch, adapter option": OptionRun(
        (*STORED, "--adapter-option", "sample=yes"),
        STORED,
        {"--adapter-option": stored("adapter_options", {"sample": "yes"})},
    ),
    "batch, cordon": OptionRun(
        (*STORED, "--cordon-device"), STORED, {"--cordon-device": stored("cordon_device", True)}, slow=True
    ),
    "batch, driver": OptionRun(
        ("batch", "--problem", PROBLEM, "--results", "r.jsonl", "--driver", "/nowhere/libcuda.so.1", "kernel.ptx"),
        STORED,
        {"--driver": NOWHERE},
    ),
    "compare": OptionRun(
        ("compare", PROBLEM, "kernel.ptx", "slower.ptx", *SIM, "--json", "other.json", "--case", "two", "--blocks", "3",
         "--samples", "4", "--cold", "flush", "--flush-cache", "--quiet"),
        COMPARE,
        {
            "--case": lambda ran: [case["name"] for case in ran.result["a"]["cases"]] == ["two"],
            "--blocks": lambda ran: len(ran.case["blocks"]) == 3,
            "--samples": lambda ran: len(ran.result["a"]["cases"][0]["samples"]) == 4,
            "--cold": lambda ran: ran.result["b"]["settings"]["cold"] == "flush",
            "--flush-cache": lambda ran: ran.result["b"]["settings"]["flush_cache"],
            "--json": lambda ran: ran.text("other.json"),
            "--quiet": lambda ran: not ran.out and not ran.err,
        },
    ),
    "compare, slower": OptionRun(
        ("compare", PROBLEM, "kernel.ptx", "slower.ptx", *SIM, *JSON, "--samples", "15", "--fail-on", "slower"),
        COMPARE,
        {"--fail-on": lambda ran: (ran.result["call"], ran.status) == ("SLOWER", 6)},
    ),
    "compare, sandbox": OptionRun(
        (*COMPARE, "--require-sandbox", "full"), COMPARE, {"--require-sandbox": lambda ran: ran.status == 70}
    ),
    "compare, turn": OptionRun(
        (*COMPARE_CAPTURES, "--wait-for-gpu", "0"),
        COMPARE_CAPTURES,
        {"--wait-for-gpu": GPU_IN_USE},
        gpu_in_use=True,
    ),
    "compare, timeout": OptionRun(
        ("compare", PROBLEM, "slow.py", "kernel.ptx", *SIM, "--timeout", "3"),
        COMPARE,
        {"--timeout": ended_with(124, "--timeout")},
    ),
    "compare, adapter": OptionRun(
        (*COMPARE, "--adapter", "pygpubench"), COMPARE, {"--adapter": ended_with(2, "FUNCTION")}
    ),
    "compare, adapter option": OptionRun(
        (*COMPARE, "--adapter-option", "sample=yes"),
        COMPARE,
        {"--adapter-option": lambda ran: [case["name"] for case in ran.result["a"]["cases"]] == ["sample"]},
    ),
    "compare, driver": OptionRun(
        ("compare", PROBLEM, "kernel.ptx", "kernel.ptx", "--driver", "/nowhere/libcuda.so.1"),
        COMPARE,
        {"--driver": NOWHERE},
    ),
    "compare, captures": OptionRun(
        ("compare", "saxpy.ncap", "saxpy.ncap", *SIM, *JSON, "--blocks", "3", "--samples", "4", "--icache", "cold",
         "--rotating-count", "3", "--warm-up-samples", "4", "--verify", "--input", "x=x1.bin", "--input", "x=x2.bin"),
        COMPARE_CAPTURES,
        {
            "--icache": lambda ran: ran.compared["settings"]["icache"] == "cold",
            "--rotating-count": lambda ran: ran.compared["settings"]["cold"] == "rotate",
            "--warm-up-samples": lambda ran: ran.compared["settings"]["warm_up_samples"] == 4,
            "--verify": lambda ran: ran.compared["verified"] is True,
            "--input": lambda ran: ran.compared["settings"]["input_sets"] == 2,
        },
    ),
    "compare, strict": OptionRun(
        (*COMPARE_CAPTURES, "--strict", "--require-evidence", "full"),
        COMPARE_CAPTURES,
        {
            "--strict": lambda ran: ran.result["strict"],
            "--require-evidence": lambda ran: ran.result["verdict"] == "unproven" and ran.status == 8,
        },
    ),
    "compare, device": OptionRun(
        (*COMPARE_CAPTURES, "--device", "99"), COMPARE_CAPTURES, {"--device": names_device(99)}
    ),
    "compare, kernel": OptionRun(
        (*COMPARE_COMMAND, "--kernel", "sax*:2", "--keep", "kept", "--", *PY),
        (*COMPARE_COMMAND, "--", *PY),
        {
            "--kernel": lambda ran: ran.compared["kernels"][0]["launches"] == 1,
            "--keep": lambda ran: ran.captured_launches("kept/b.ncap") == 1,
        },
    ),
    "compare, launches": OptionRun(
        (*COMPARE_COMMAND, "--launches", "100:101", "--", *PY),
        (*COMPARE_COMMAND, "--", *PY),
        {"--launches": ended_with(70, "--launches 100:101 asks for more")},
    ),
    "compare, window": OptionRun(
        (*COMPARE_COMMAND, "--window", "9", "--", *PY),
        (*COMPARE_COMMAND, "--", *PY),
        {"--window": ended_with(70, "no stream saw 9 pairs")},
    ),
    "fast-p": OptionRun(
        ("fast-p", "compared", "--threshold", "1.5"),
        ("fast-p", "compared"),
        {"--threshold": lambda ran: "fast_1.5 = 1.000 of 1" in ran.out},
    ),
    "starter": OptionRun(
        ("starter", PROBLEM, "--lang", "numba", "-o", "written.py"),
        ("starter", PROBLEM),
        {
            "--lang": lambda ran: "numba" in ran.out + ran.text("written.py"),
            "--output": lambda ran: "solution" in ran.text("written.py"),
        },
    ),
    "starter, type": OptionRun(
        ("starter", "task/typed.py", "--dtype", "double"),
        ("starter", "task/typed.py"),
        {"--dtype": lambda ran: "const double* a" in ran.out},
    ),
    "verify-log": OptionRun(
        ("verify-log", "valid.jsonl", "--head", "0" * 64),
        ("verify-log", "valid.jsonl"),
        {"--head": ended_with(1, "the head is")},
    ),
    "doctor": OptionRun(("doctor", "--json"), ("doctor",), {"--json": lambda ran: ran.result["findings"]}),
    "build": OptionRun(
        ("build", "--driver", "sim", "--force"),
        ("build", "--driver", "sim"),
        {"--force": lambda ran: "(built)" in ran.out},
        slow=True,
    ),
    "build, driver": OptionRun(
        ("build", "--driver", "/nowhere/libcuda.so.1"), ("doctor",), {"--driver": NOWHERE}
    ),
}  # fmt: skip
