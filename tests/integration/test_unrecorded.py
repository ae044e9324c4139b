"""A process that no supervisor records says so, once; with NEUTRINO_REQUIRE its driver calls fail."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from benchguard.audit.environment import shim_environment
from benchguard.audit.layout import FORMAT_VERSION, PAGE, SESSION, SESSION_MAGIC
from benchguard.serve import layout
from benchguard.serve.messages import parse_request
from benchguard.shim.interposer import Interposer, interposer_for
from tests.integration.apis import Api, both_apis
from tests.integration.support import PROGRAMS, Compiler
from tests.support.service import running_service

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


@pytest.mark.parametrize("preloaded", ["shim", "preload", "both"])
@pytest.mark.parametrize("client", ["linked", "opened"])
def test_each_preloading_records_or_says_so(
    interposer: Interposer, compile_c: Compiler, program: Program, tmp_path: Path, preloaded: str, client: str
) -> None:
    """With a supervisor. Only the preload library alone misses a linked program, and it says so."""
    command = (
        [program("linked")] if client == "linked" else [compile_c("opened", PROGRAMS / "opened.c"), "soname"]
    )
    variables = shim_environment(interposer, None, {})
    libraries = {"shim": interposer.shim, "preload": interposer.preload}
    if preloaded != "both":
        variables["LD_PRELOAD"] = str(libraries[preloaded])
    with running_service(tmp_path / "logs") as service:
        variables["NEUTRINO_SERVE"] = str(service.socket)
        result = run(command, variables)
        required = run(command, {**variables, "NEUTRINO_REQUIRE": "1"})
        service.wait_for_programs(0)
        assert service.end() == 0
    assert result.returncode == 0, result.stderr
    if (preloaded, client) == ("preload", "linked"):
        (line,) = said(result)
        assert "the driver is loaded without the shim" in line
        assert (required.returncode, required.stdout, service.logs) == (126, "", [])
    else:
        assert said(result) == []
        assert required.returncode == 0
        assert [service.verified(log)[-1]["launches"] for log in service.logs] == [3, 3]


def test_preload_library_alone_says_so_at_an_open(
    interposer: Interposer, compile_c: Compiler, native: Path
) -> None:
    """No variable names the shim: the driver opens, and the program says what is missing; or it does not open."""
    command = [compile_c("opened", PROGRAMS / "opened.c"), native / "sim" / "libcuda.so.1"]
    variables = {"LD_PRELOAD": str(interposer.preload)}
    result = run(command, variables)
    assert (result.returncode, "right" in result.stdout) == (0, True)
    assert "NEUTRINO_SHIM is not set" in said(result)[0]
    required = run(command, {**variables, "NEUTRINO_REQUIRE": "1"})
    assert required.returncode != 0
    assert "right" not in required.stdout


def test_library_linked_with_the_driver_is_noticed_at_the_end(
    interposer: Interposer, compile_c: Compiler, native: Path, tmp_path: Path
) -> None:
    """The program opens a library, and the loader opens the real driver for it without a dlopen of its own."""
    source = tmp_path / "empty.c"
    source.write_text("int cuInit(unsigned); int use(void); int use(void) { return cuInit(0); }\n")
    folder = native / "sim"
    library = compile_c(
        "libuser.so", source, links=(f"-L{folder}", "-l:libcuda.so.1", f"-Wl,-rpath,{folder}")
    )
    code = f"import ctypes; ctypes.CDLL({str(library)!r})"
    result = run([sys.executable, "-c", code], {"LD_PRELOAD": str(interposer.preload)})
    assert result.returncode == 0
    (line,) = said(result)
    assert "the driver is loaded without the shim" in line


def test_wrapper_and_filter_say_nothing(compile_c: Compiler, program: Program, tmp_path: Path) -> None:
    """The control: a program whose library gets the real driver on purpose."""
    compile_c("plugins/libneighbour.so", PROGRAMS / "neighbour.c")
    plugin = compile_c("plugins/libplugin.so", PROGRAMS / "plugin.c", links=("-Wl,-rpath,$ORIGIN",))
    host = compile_c("plugin_host", PROGRAMS / "plugin_host.c")
    words = [sys.executable, "-m", "benchguard", "--driver", "sim", "-q", "--filter", "libplugin"]
    for number, command in enumerate(([program("linked")], [host, plugin])):
        log = tmp_path / f"{number}.audit.jsonl"
        result = run(
            [*words, "--log", log, "--", *command], {"NEUTRINO_REQUIRE": "1", "HOME": str(Path.home())}
        )
        assert (result.returncode, said(result)) == (0, []), result.stderr


def answer(status: int = 0, text: bytes = b"", **changes: int) -> bytes:
    """A service's answer, as it should be but for the changes."""
    words = {"magic": layout.MAGIC, "version": layout.VERSION, "status": status, "size": len(text), **changes}
    return layout.ANSWER.pack(*words.values()) + text


def memory_of(content: bytes, size: int) -> int:
    """A descriptor of shared memory that begins with `content`."""
    descriptor = os.memfd_create("false", os.MFD_CLOEXEC)
    os.write(descriptor, content)
    os.ftruncate(descriptor, size)
    return descriptor


def header(**changes: int) -> bytes:
    """A session's header, as it should be but for the changes."""
    words = {"magic": SESSION_MAGIC, "version": FORMAT_VERSION, "rings": 1, "bytes": 1 << 16}
    words |= {"image_offset": (1 << 16) + 2 * PAGE, "image_bytes": 0, **changes}
    return SESSION.pack(*words.values(), bytes(16), 0)


@pytest.mark.parametrize(
    ("data", "memory", "reason"),
    [
        (b"", None, "closed the connection"),
        (b"short", None, "another version"),
        (answer(magic=1), None, "another version"),
        (answer(version=9), None, "another version"),
        (answer(size=400), None, "another version"),
        (answer(1, b"\x1b[31mred\n" + b"x" * 400), None, "?[31mred?xxx"),
        (answer(), None, "gives no session"),
        (answer(), (b"", 0), "cannot map"),
        (answer(), (b"\xff" * 4096, 1 << 20), "cannot map"),
        (answer(), (header(version=99), 1 << 20), "cannot map"),
        (answer(), (header(rings=1 << 31), 1 << 20), "cannot map"),
        (answer(), (header(image_bytes=1 << 63), 1 << 20), "cannot map"),
        (answer(), (header(bytes=12345), 1 << 20), "cannot map"),
    ],
    ids=str,
)
def test_false_answer_leaves_the_program_unharmed(
    interposer: Interposer,
    program: Program,
    tmp_path: Path,
    data: bytes,
    memory: tuple[bytes, int] | None,
    reason: str,
) -> None:
    """A process in place of the service: the program says why it is not recorded, and runs as before."""
    path = tmp_path / "serve.sock"

    def serve(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            assert parse_request(connection.recv(1 << 16)).command == (str(program("linked")),)
            descriptors = [memory_of(*memory)] if memory else []
            if data:
                socket.send_fds(connection, [data], descriptors)
            for descriptor in descriptors:
                os.close(descriptor)

    program("linked")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener, ThreadPoolExecutor(1) as threads:
        listener.bind(str(path))
        listener.listen()
        served = threads.submit(serve, listener)
        variables = {**shim_environment(interposer, None, {}), "NEUTRINO_SERVE": str(path)}
        result = run([program("linked")], variables)
        served.result(60)
    (line,) = said(result)
    assert reason in line
    assert (result.returncode, result.stdout) == (0, "right\n")


@pytest.mark.nightly
def test_silent_service_holds_a_program_for_ten_seconds(
    interposer: Interposer, program: Program, tmp_path: Path
) -> None:
    path = tmp_path / "serve.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(path))
        listener.listen()
        result = run(
            [program("linked")], {**shim_environment(interposer, None, {}), "NEUTRINO_SERVE": str(path)}
        )
    assert "no answer within 10 s" in said(result)[0]
    assert result.stdout == "right\n"
