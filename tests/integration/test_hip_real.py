"""HIP's shim before the real library, on a machine that has no AMD GPU: Debian's libamdhip64.so.5, where it is.

It answers every call, if only with "no device"; with the shim before it, it must answer the same.
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from benchguard.codegen.emit.shim_map import OWN
from benchguard.codegen.errors import CodegenError
from benchguard.codegen.exports import read_exports
from benchguard.codegen.hip import find_hip_headers
from benchguard.codegen.parse import parse_headers
from benchguard.shim.build import Shim, shim_for
from benchguard.shim.driver import Driver, discover
from benchguard.shim.surface import read_surface
from benchguard.toolchain.errors import ShimError
from tests.conftest import DATA
from tests.integration.support import PROGRAMS, Compiler, Observe

FETCHED = Path(sys.prefix) / "hip" / "usr" / "lib" / "x86_64-linux-gnu" / "libamdhip64.so.5"
"""The place where `python build.py test --all` unpacks the library."""

NO_DEVICE = 100


@dataclass(frozen=True)
class Real:
    """The library, its shim, and what a process needs to load it."""

    driver: Driver
    shim: Shim

    @property
    def path(self) -> Path:
        return self.driver.path

    @property
    def environment(self) -> dict[str, str]:
        folders = [str(self.path.parent), os.environ.get("LD_LIBRARY_PATH", "")]
        return {"LD_LIBRARY_PATH": ":".join(filter(None, folders))}

    def links(self) -> tuple[str, ...]:
        folder = self.path.parent
        return (f"-L{folder}", f"-l:{self.driver.soname}", f"-Wl,-rpath-link,{folder}")

    def bare(self, command: Sequence[str | Path], text: str = "") -> str:
        """The output of a command without the shim."""
        result = subprocess.run(
            list(map(str, command)),
            input=text,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env={**os.environ, **self.environment},
        )
        assert result.returncode == 0, result.stderr
        return result.stdout


@pytest.fixture(scope="module")
def real() -> Real:
    try:
        find_hip_headers()
        driver = discover(str(FETCHED) if FETCHED.is_file() else "hip")
    except (CodegenError, ShimError) as error:
        pytest.skip(f"HIP is not here, `python build.py test --all` fetches Debian's: {error}")
    return Real(driver, shim_for(driver))


def symbols(library: Path) -> set[str]:
    """Exported functions as `name@@version`."""
    command = ["nm", "-D", "--defined-only", "--with-symbol-versions", str(library)]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in out.splitlines()]
    return {name for _, kind, name in rows if kind in "TWi"}


def test_shim_exports_every_symbol_with_its_version(real: Real) -> None:
    """Not one more but for our own; the versions' tree is the driver's."""
    ours, theirs = symbols(real.shim.path), symbols(real.path)
    assert {name for name in ours if name.partition("@")[0] not in OWN} == theirs
    assert read_exports(real.shim.path).versions == real.driver.exports.versions
    assert read_exports(real.shim.path).soname == real.driver.soname == real.shim.path.name
    assert len(theirs) > 400 and any(name.endswith("@@hip_5.2") for name in theirs)


UNSTEADY = {
    "hipCreateChannelDesc",  # returns a structure, here made of the addresses it is given
    "hipInitActivityCallback",
}
A_RECORD_A_DEVICE = {"hipExtLaunchMultiKernelMultiDevice", "hipLaunchCooperativeKernelMultiDevice"}
"""And none for none."""
ANSWER = re.compile(r"(?P<line>(?:zero|buffer) (?P<name>\w+)) (?P<what>.+)")


def test_every_function_answers_the_same_under_the_shim(
    real: Real, observe: Observe, compile_c: Compiler
) -> None:
    """All of them, with nothing for arguments and with zeroed memory: same status, same memory, same crash.

    And where there is a record of it, that has the same status.
    """
    api = parse_headers(find_hip_headers()).by_name
    program = compile_c("hip_answers", PROGRAMS / "hip_answers.c")
    names = [name for name in real.driver.exports.names if name not in UNSTEADY]
    request = "".join(f"zero {name}\nbuffer {name}\n" for name in names)
    alone = [ANSWER.fullmatch(line) for line in real.bare([program, real.path], request).splitlines()]
    run = observe(
        ["sh", "-c", f'{program} {real.path} <<"END"\n{request}END'],
        driver=str(real.path),
        timeout=240,
        environment=real.environment,
    )
    assert run.status == 0, run.stderr
    under = [ANSWER.fullmatch(line) for line in run.stdout.splitlines()]
    assert len(alone) == len(under) == 2 * len(names)

    statuses = []
    for one, other in zip(alone, under, strict=True):
        assert one is not None and other is not None
        assert one["line"] == other["line"]
        name, before, after = one["name"], one["what"].split(), other["what"].split()
        if before[0] not in {"signal", "exit"} and not (name in api and api[name].has_status):
            before, after = (
                before[1:],
                after[1:],
            )  # a pointer, or what a function without a result left behind
        else:
            statuses.append((name, before))
        assert before == after, one["line"]
    assert sum(before[0] == "101" for _, before in statuses) > 500
    _check_records(real, run.lines, statuses)


def _check_records(real: Real, lines: list[dict[str, object]], statuses: list[tuple[str, list[str]]]) -> None:
    recorded = {
        export.name
        for export in read_surface(real.shim.surface_path).exports
        if export.kind == "recorded" and not export.name.startswith("_Z")
    } - A_RECORD_A_DEVICE
    logged: dict[str, list[str]] = {}
    for line in lines:
        if line["kind"] in {"call", "launch", "graph_launch"}:
            logged.setdefault(str(line["call"]), []).append(str(line["result"]))
    answered: dict[str, list[str]] = {}
    for name, (what, *_) in statuses:
        if name in recorded and what.lstrip("-").isdigit():
            answered.setdefault(name, []).append(what)
    assert {name: logged.get(name) for name in answered} == answered
    assert len(answered) > 200


def fat_binary(program: Path) -> bytes:
    """The bundle in the section that hipcc puts it in, without what pads it."""
    with program.open("rb") as stream:
        section = ELFFile(stream).get_section_by_name(".hip_fatbin").data()
    assert section.startswith(b"__CLANG_OFFLOAD_BUNDLE__")
    (count,), at, end = struct.unpack_from("<Q", section, 24), 32, 0
    for _ in range(count):
        offset, size, name_bytes = struct.unpack_from("<3Q", section, at)
        at, end = at + 24 + name_bytes, max(end, offset + size)
    return bytes(section[:end])


@pytest.fixture
def by_hipcc(compile_c: Compiler, real: Real) -> Path:
    return compile_c("linked_by_hipcc", DATA / "hip" / "linked_by_hipcc.o", links=real.links())


def test_hipcc_program_behaves_the_same_under_the_shim(real: Real, observe: Observe, by_hipcc: Path) -> None:
    """It needs the library by name and version; each of its calls has one record, whatever the library calls itself."""
    run = observe([by_hipcc], driver=str(real.path), environment=real.environment)
    assert run.status == 0, run.stderr
    assert run.stdout == real.bare([by_hipcc])
    session = run.lines[0]
    assert (session["api"], session["driver"]["path"]) == ("hip", str(real.path))
    matches = re.findall(r"^(hip\w+)\(.*\) -> (\d+)$", run.stdout, re.MULTILINE)
    unrecorded = {"hipPeekAtLastError", "hipGetLastError"}
    logged = [
        (line["call"], str(line["result"]))
        for line in run.lines
        if line["kind"] in {"call", "launch"} and not line["call"].startswith("__hip")
    ]
    assert logged == [each for each in matches if each[0] not in unrecorded | {"hipFuncGetAttributes"}]


def test_linked_in_code_is_logged(real: Real, observe: Observe, by_hipcc: Path, tmp_path: Path) -> None:
    """The fat binary that is registered before main, with its hash and origin; its kernel, when it is launched."""
    run = observe(
        [by_hipcc],
        "--keep-images",
        str(tmp_path / "images"),
        driver=str(real.path),
        environment=real.environment,
    )
    content = fat_binary(by_hipcc)
    digest = hashlib.sha256(content).hexdigest()
    (image,) = run.of_kind("image")
    assert (image["sha256"], image["bytes"], image["format"]) == (digest, len(content), "offload_bundle")
    assert (image["call"], Path(image["origin"]).name) == ("__hipRegisterFatBinary", "linked_by_hipcc")
    assert (tmp_path / "images" / digest).read_bytes() == content
    registered = [line["call"] for line in run.of_kind("call") if line["group"] == "registration"]
    assert registered == [
        "__hipRegisterFatBinary",
        *["__hipRegisterFunction"] * 2,
        *["__hipRegisterVar"] * 2,
        "__hipUnregisterFatBinary",
    ]
    (kernel,) = run.of_kind("kernel")
    assert (kernel["name"], kernel["image"]) == ("saxpy", digest)
    assert kernel["layout"] == [[0, 4], [4, 4], [8, 8], [16, 8]]
    (launch,) = run.of_kind("launch")
    assert (launch["name"], launch["image"], launch["result"]) == ("saxpy", digest, 101)
    assert (launch["grid"], launch["block"], launch["cooperative"]) == ([2, 1, 1], [64, 1, 1], True)
    assert launch["parameters"][:2] == ["00040000", "00004040"]


@pytest.mark.parametrize("name", ["libamdhip64.so.5", "libamdhip64.so", "libamdhip64.so.5.2.21153", "{path}"])
def test_every_lookup_path_finds_the_shim(
    real: Real, observe: Observe, compile_c: Compiler, name: str
) -> None:
    """With the version that its functions have in the driver."""
    program = compile_c("hip_opened", PROGRAMS / "hip_opened.c")
    command = [program, name.format(path=real.path)]
    run = observe(command, driver=str(real.path), environment=real.environment)
    assert run.stdout.split() == [str(real.shim.path), "same", str(NO_DEVICE), "0"], run.stderr
    assert [line["call"] for line in run.of_kind("call")] == ["hipGetDeviceCount"]


def test_filtered_caller_gets_the_real_library(real: Real, observe: Observe, compile_c: Compiler) -> None:
    program = compile_c("hip_opened", PROGRAMS / "hip_opened.c")
    command = [program, "libamdhip64.so.5"]
    run = observe(command, "--filter", "hip_opened", driver=str(real.path), environment=real.environment)
    assert run.stdout.split() == [str(real.path), "same", str(NO_DEVICE), "0"], run.stderr
    assert not run.of_kind("call")


def test_dependency_missing_from_the_driver_is_named(
    real: Real, observe: Observe, compile_c: Compiler
) -> None:
    """The shim is loaded all the same, and answers "not supported"."""
    program = compile_c("hip_opened", PROGRAMS / "hip_opened.c")
    run = observe([program, "libamdhip64.so.5"], driver=str(real.path), environment={"LD_LIBRARY_PATH": ""})
    if "NEUTRINO_HIP_DRIVER" not in run.stderr:
        pytest.skip("the loader finds what the library needs by itself")
    assert re.search(
        r"cannot open the driver that NEUTRINO_HIP_DRIVER names: \S+ \(\S+\.so\S*: cannot open", run.stderr
    )
    assert run.stdout.split()[2] == "801"
