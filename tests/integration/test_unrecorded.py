"""A process that no supervisor records says so, once; with NEUTRINO_REQUIRE its driver calls fail."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import pytest

from benchguard.audit.environment import shim_environment
from benchguard.shim.interposer import Interposer, interposer_for
from tests.integration.apis import Api, both_apis

Program = Callable[[str], Path]
ENVIRONMENT = {"PATH": "/usr/bin:/bin"}

EVERY_EXPORT = """
import ctypes, json, sys
library = ctypes.CDLL(sys.argv[1])
zeros = [ctypes.c_uint64(0)] * 14
results = {name: getattr(library, name)(*zeros) for name in json.loads(sys.argv[2])}
text = ctypes.c_char_p()
described = library.cuGetErrorString(800, ctypes.byref(text)) if "cuda" in sys.argv[1] else 0
print(json.dumps([results, described, (text.value or b"").decode()]))
"""


@pytest.fixture
def interposer(api: Api) -> Interposer:
    return interposer_for(api.driver)[0]


def run(command: list[str | Path], variables: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        list(map(str, command)),
        env={**ENVIRONMENT, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def said(result: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in result.stderr.splitlines() if line.startswith("neutrino-bench:")]


@both_apis
@pytest.mark.parametrize(
    ("supervisor", "reason"),
    [
        ({}, "no supervisor is named"),
        ({"NEUTRINO_RING": "9:/proc/1/fd/9999", "NEUTRINO_NONCE": "0" * 32}, "cannot reach the supervisor's"),
        ({"NEUTRINO_RING": "nonsense"}, "is not DESCRIPTOR:PATH"),
        ({"NEUTRINO_SERVE": "/nowhere/serve.sock"}, "No such file or directory"),
        ({"NEUTRINO_SERVE": "/" + "x" * 200}, "longer than 107 bytes"),
    ],
)
def test_process_without_supervisor_says_so_once(
    interposer: Interposer, program: Program, supervisor: dict[str, str], reason: str
) -> None:
    """One line that names the next step; the program runs as before."""
    result = run([program("linked")], {**shim_environment(interposer, None, {}), **supervisor})
    (line,) = said(result)
    assert reason in line
    assert "`neutrino-bench -- COMMAND`" in line
    assert "`neutrino-bench serve`" in line
    assert (result.returncode, result.stdout) == (0, "right\n")


@both_apis
def test_required_recording_fails_without_supervisor(interposer: Interposer, program: Program) -> None:
    """The control is the run without NEUTRINO_REQUIRE, above."""
    variables = {**shim_environment(interposer, None, {}), "NEUTRINO_REQUIRE": "1"}
    result = run([program("linked")], variables)
    (line,) = said(result)
    assert "driver calls fail" in line
    assert result.returncode != 0
    assert "right" not in result.stdout
    assert run([program("linked")], {**variables, "NEUTRINO_REQUIRE": "0"}).returncode == 0


@both_apis
def test_every_export_with_a_status_is_refused(interposer: Interposer, api: Api) -> None:
    """Also those that are only passed through, called first, and those that no header declares. Messages still work."""
    described = {"cuDriverGetVersion", "cuGetErrorName", "cuGetErrorString"}
    described |= {"hipDriverGetVersion", "hipDrvGetErrorName", "hipDrvGetErrorString", "hipRuntimeGetVersion"}
    prefix = {"cuda": "cu", "hip": "hip"}[api.name]
    without_status = {
        "hipApiName",
        "hipGetErrorName",
        "hipGetErrorString",
        "hipKernelNameRef",
        "hipKernelNameRefByPtr",
        "hipCreateChannelDesc",
        "hiprtcGetErrorString",
    }
    names = [
        export.name
        for export in sorted(interposer.surface.exports, key=lambda each: each.kind == "recorded")
        if export.name.startswith(prefix) and export.name not in described | without_status
    ]
    assert len(names) > 300
    variables = {**shim_environment(interposer, None, {}), "NEUTRINO_REQUIRE": "1"}
    result = run(
        [sys.executable, "-c", EVERY_EXPORT, api.soname, msgspec.json.encode(names).decode()], variables
    )
    assert result.returncode == 0, result.stderr
    results, status, text = msgspec.json.decode(result.stdout)
    refused = {"cuda": 800, "hip": 801}[api.name]
    assert {name: each for name, each in results.items() if each != refused} == {}
    assert (status, bool(text)) == (0, api.name == "cuda")
    assert len(said(result)) == 1
