"""Checks of this machine: driver, shim, compiler, headers, sandbox. `doctor` prints them; a fleet reads them."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..audit.environment import VARIABLES
from ..audit.session import Session
from ..codegen.errors import CodegenError
from ..codegen.headers import find_headers
from ..codegen.hip import find_hip_headers
from ..errors import BenchguardError
from ..quarantine.probe import features
from ..serve.client import list_programs
from ..shim.build import shim_for
from ..shim.driver import Driver, discover, find_obstacle
from ..shim.interposer import gap_text
from ..shim.surface import read_surface
from ..toolchain.compiler import find_compiler
from ..toolchain.errors import ShimError
from . import kernel_features

SCHEMA = "neutrino-bench/doctor/1"
Level = Literal["ok", "warn", "fail"]
_IMPORTED = ("benchguard.quarantine", "numpy", "msgspec")
"""Packages that the processes of a grade import."""


@dataclass(frozen=True)
class Finding:
    """The result of one check. `then` is the advice to the user; empty if none is needed."""

    level: Level
    subject: str
    found: str
    then: str = ""


def _driver() -> Finding:
    return _driver_of(discover("auto"))


def _driver_of(driver: Driver) -> Finding:
    if driver.is_sim:
        return Finding(
            "warn", "driver", f"{driver.path}, {driver.origin}", "install a GPU driver to run on a GPU"
        )
    return Finding("ok", "driver", f"{driver.path}, by {driver.origin}, build-id {driver.build_id or 'none'}")


def _shim() -> Finding:
    return _shim_of(discover("auto"), "shim")


def grading_findings(driver: str) -> Iterator[Finding]:
    """The results of the checks without which no grade works. `driver` is that of the grades.

    The sandbox has its own (quarantine/probe.py).
    """
    checks: list[tuple[str, Callable[[], Finding]]] = [
        ("driver", lambda: _driver_of(discover(driver, api="cuda"))),
        ("shim", lambda: _shim_of(discover(driver, api="cuda"), "shim")),
        ("memfd", _memory),
    ]
    return _results(checks)


def _shim_of(driver: Driver, subject: str) -> Finding:
    shim = shim_for(driver)
    gap = gap_text(shim)
    if gap is not None:
        return Finding("warn", subject, gap, "install a C compiler and run `neutrino-bench build`")
    surface = read_surface(shim.surface_path)
    counts = ", ".join(f"{surface.count(kind)} {kind}" for kind in ("recorded", "pass", "untyped"))
    return Finding("ok", subject, f"{len(surface.exports)} exports: {counts}; {shim.path}")


def _compiler() -> Finding:
    try:
        return Finding("ok", "compiler", find_compiler().version)
    except ShimError as error:
        return Finding(
            "warn", "compiler", str(error), "install gcc or clang; until then the generic shim is used"
        )


def _header() -> Finding:
    try:
        headers = find_headers()
        return Finding("ok", "cuda.h", f"CUDA {headers.vendor.release(headers.version)}, {headers.origin}")
    except CodegenError as error:
        return Finding("warn", "cuda.h", str(error), "pip install 'nvidia-cuda-runtime>=13,<14'")


def _hip_driver() -> Finding:
    try:
        driver = discover("hip")
    except ShimError as error:
        return Finding("ok", "hip driver", f"none; only HIP programs need one ({error})")
    text = f"{driver.path}, by {driver.origin}, build-id {driver.build_id or 'none'}"
    obstacle = find_obstacle(driver)
    if obstacle is None:
        return Finding("ok", "hip driver", text)
    level: Level = "warn" if driver.vendor.has_device() else "ok"
    return Finding(level, "hip driver", f"{text}; not used: {obstacle}")


def _hip_header() -> Finding:
    try:
        headers = find_hip_headers()
    except CodegenError as error:
        return Finding("ok", "hip headers", f"none; only HIP programs need them ({error})")
    return Finding("ok", "hip headers", f"HIP {headers.vendor.release(headers.version)}, {headers.origin}")


def _hip_shim() -> Finding:
    """The shim of the machine's HIP driver if programs can run on it, else of the CPU driver for HIP."""
    try:
        driver = discover("auto", api="hip")
    except ShimError as error:
        return Finding(
            "ok",
            "hip shim",
            f"none; neither a usable HIP driver nor the CPU driver for HIP is here ({error})",
        )
    try:
        return _shim_of(driver, "hip shim")
    except ShimError as error:
        return Finding("warn", "hip shim", str(error))


def _memory() -> Finding:
    session = Session(ring_count=1, ring_bytes=1 << 16, image_bytes=0)
    session.close()
    return Finding("ok", "memfd", "sealed shared memory works")


def _service() -> Finding:
    """Whether the programs of this environment are recorded."""
    path = os.environ.get("NEUTRINO_SERVE", "")
    if not path:
        return Finding("ok", "service", "none; NEUTRINO_SERVE is not set")
    try:
        programs = list_programs(Path(path))["programs"]
    except BenchguardError as error:
        return Finding("fail", "service", f"{error}; programs of this environment are not recorded")
    shims = [os.environ.get(name) for name, _ in VARIABLES.values()]
    if not any(shim and shim in os.environ.get("LD_PRELOAD", "") for shim in shims):
        advice = "set all variables that `neutrino-bench env` prints"
        return Finding("fail", "service", f"{path} answers, but LD_PRELOAD lacks the shim", advice)
    return Finding("ok", "service", f"{path} answers; programs recorded now: {len(programs)}")


def _kernel_feature(subject: str, probe: Callable[[], str | None], then: str) -> Finding:
    trouble = probe()
    if trouble is None:
        return Finding("warn", subject, "missing in this kernel, or not allowed here", then)
    return Finding("ok", subject, trouble)


def _torch() -> Finding:
    if importlib.util.find_spec("torch") is None:
        return Finding("ok", "torch", "not installed; neutrino-bench does not need it")
    return Finding("ok", "torch", "installed")


def _bytecode() -> Finding:
    """Whether modules that the processes of a grade import are compiled: those processes cannot store bytecode."""
    specs = [(name, importlib.util.find_spec(name)) for name in _IMPORTED]
    lacking = {
        name.partition(".")[0]: Path(spec.origin).parents[name.count(".")]
        for name, spec in specs
        if spec is not None and spec.origin and spec.cached and not Path(spec.cached).exists()
    }
    if not lacking:
        return Finding("ok", "bytecode", "Python modules are compiled")
    folders = " ".join(dict.fromkeys(str(folder) for folder in lacking.values()))
    found = (
        f"not compiled: {', '.join(lacking)}; each grade compiles them again, which takes a second or more"
    )
    return Finding("warn", "bytecode", found, f"run `python -m compileall -q {folders}`")


def _sandbox() -> Iterator[Finding]:
    """The protections of the sandbox that work on this machine."""
    for name, why in features().items():
        if why == "on":
            yield Finding("ok", name, "on in the sandbox")
        else:
            yield Finding(
                "warn", name, why, "`grade` runs without it; `grade --require-sandbox full` refuses"
            )


def findings() -> Iterator[Finding]:
    """The result of every check. A check that raises is a failure."""
    checks: list[tuple[str, Callable[[], Finding]]] = [
        ("driver", _driver),
        ("shim", _shim),
        ("compiler", _compiler),
        ("cuda.h", _header),
        ("hip driver", _hip_driver),
        ("hip shim", _hip_shim),
        ("hip headers", _hip_header),
        ("memfd", _memory),
        ("service", _service),
        ("torch", _torch),
        ("bytecode", _bytecode),
    ]
    for subject, probe, then in (
        (
            "landlock",
            kernel_features.landlock,
            "needed by `grade`: Linux 5.13 with landlock in its lsm= list",
        ),
        ("mseal", kernel_features.mseal, "needed by `grade --inline`: Linux 6.10"),
        (
            "seccomp",
            kernel_features.seccomp_notify,
            "needed by `grade`: Linux 5.0, and a container that allows it",
        ),
    ):
        checks.append((subject, lambda s=subject, p=probe, t=then: _kernel_feature(s, p, t)))  # type: ignore[misc]
    yield from _results(checks)
    try:
        yield from _sandbox()
    except BenchguardError as error:
        yield Finding("fail", "quarantine", str(error))


def _results(checks: Sequence[tuple[str, Callable[[], Finding]]]) -> Iterator[Finding]:
    for subject, check in checks:
        try:
            yield check()
        except (BenchguardError, ShimError, CodegenError) as error:
            yield Finding("fail", subject, str(error))
