"""Programs that nvcc compiled, unmodified, on the CPU driver and its CUDA runtime: alone, and under the shim."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchguard.codegen.exports import read_exports
from tests.conftest import ROOT
from tests.integration.support import PROGRAMS, Observe, Record

NVIDIAS = Path("/usr/local/cuda/lib64/libcudart.so.13")
PTX = ("-gencode", "arch=compute_75,code=compute_75")
SAID = {
    "launches": """\
reverse 252
too much shared memory: cudaErrorInvalidValue
all of it 4
template 7.5
grid 961
cooperative 130816
configured 192
by address 704
block of 2048: cudaErrorInvalidConfiguration, cudaErrorInvalidConfiguration, cudaSuccess
no blocks: cudaErrorInvalidConfiguration
no kernel: cudaErrorInvalidDeviceFunction
threads 1024, shared memory as set: 1
occupancy 2, 1024 of the block
fault: cudaErrorIllegalAddress, cudaErrorIllegalAddress
""",
    "memory": """\
weights 2 4 6 2
counter 6, managed 8
at its address 6, of 16 bytes
too much: cudaErrorInvalidValue
no symbol: cudaErrorInvalidSymbol
no direction: cudaErrorInvalidMemcpyDirection
rows 99 15 29
narrow: cudaErrorInvalidPitchValue
kinds 2 1 3 0
no bytes: no address
not ours: cudaErrorInvalidValue
""",
    "images": """\
moved 1 2 3, 5 6 7
flat 1 2 | 3 4 5 8
of 32 bits, kind 2, 4 x 2 x 0, flags 2
doubled 2 16
surface of another array: cudaErrorInvalidValue
integers filtered: cudaErrorInvalidFilterSetting
normalized 0.100 0.300 0.500 0.600, 0.900
descriptions kept: 1
fetched 10 12 14, outside 0
words normalized: cudaErrorInvalidNormSetting
slice 6 8
outside: cudaErrorInvalidValue
filled 2 1 2, 1
middle 4.5
layers 4 7, 9 12
three channels: cudaErrorInvalidChannelDescriptor
""",
    "streams": """\
sum 3880, time passed
calls 11, cudaSuccess
graph of 2: 288
built 10
another thread's error: cudaErrorInvalidDevice, ours: cudaSuccess
""",
    "device": """\
chosen 0, no wishes: cudaErrorInvalidValue
flags before: 8
blocking and mapped: 12
two schedules: cudaErrorInvalidValue
flags of initialization: 10
mapped 42
peer copy 42
no device: cudaErrorInvalidDevice, itself: cudaErrorInvalidDevice
handle: cudaErrorNotSupported
""",
    "graphs": """\
captured allocation 66
rows 34
any 15
no parameters: cudaErrorInvalidValue
changed 70
""",
    "printed": """\
   42|7   |1.23|1.500000e+00|0xff|+0003
44 1 -1 ffffffffffffffff 4
   ab|cd   |xy|q|  2.2|1e-10|0x1p+0|0x10|%|(null)
no arguments
results 10 0 -1
cudaSuccess
""",
    "libraries": """\
2 kernels, scaled 21
4 bytes, scaled 35
shared memory 1024
no kernel: cudaErrorSymbolNotFound, no managed variable: cudaErrorSymbolNotFound
after unload: cudaErrorInvalidDeviceFunction, twice: cudaErrorInvalidResourceHandle
from a file 21
batch 3 4 1 2
box 2 4 4 2, no device: cudaErrorInvalidDevice
the same function 1, argument 4, source 1, target 1, 4 bytes
graph 6
entry point 1
""",
}

Compile = Callable[..., Path]


@pytest.fixture(scope="session")
def compile_cuda(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """Compile programs/runtime/NAME.cu with nvcc, linked to the shared or the static runtime; once a session."""
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("nvcc is not installed")
    folder = tmp_path_factory.mktemp("runtime")

    def compile_(name: str, *flags: str, code: tuple[str, ...] = PTX, runtime: str = "shared") -> Path:
        output = folder / re.sub(
            r"\W", "_", "-".join([name, runtime, *flags, *code])
        )  # nvcc reads "," and "=" in it
        if not output.exists():
            source = PROGRAMS / "runtime" / f"{name}.cu"
            command = [nvcc, "-cudart", runtime, *code, *flags, str(source), "-o", str(output), "-ldl"]
            subprocess.run(command, check=True, timeout=120)
        return output

    return compile_


@pytest.fixture
def environment(native: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Where the loader finds the CPU driver's libraries, also for what a fixture starts."""
    monkeypatch.setenv("LD_LIBRARY_PATH", str(native / "sim"))
    return dict(os.environ)


def run(command: list[str | Path], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env=environment,
    )


@pytest.mark.parametrize("name", list(SAID))
def test_program_runs_without_the_shim(compile_cuda: Compile, environment: dict[str, str], name: str) -> None:
    result = run([compile_cuda(name)], environment)
    assert (result.stdout, result.returncode) == (SAID[name], 0)


@pytest.mark.parametrize("name", list(SAID))
def test_program_behaves_the_same_under_the_shim(
    compile_cuda: Compile, environment: dict[str, str], observe: Observe, name: str
) -> None:
    """It says the same, and the log holds what the driver ran."""
    observed = observe([compile_cuda(name)], "--quiet", environment=environment)
    assert (observed.stdout, observed.status) == (SAID[name], 0)
    if name not in ("streams", "graphs", "libraries"):  # whose graphs launch kernels without a call
        assert observed.launches == observed.driver_launches
    assert sum(observed.launches.values()) > 0


def observe_alone(program: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run as a user does who has read no further than `--driver sim`."""
    words = [sys.executable, "-m", "benchguard", "--driver", "sim", "--quiet", "--", program]
    base = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    return run(words, {**base, "PYTHONPATH": str(ROOT), **variables})


def test_observed_program_finds_our_runtime_without_help(compile_cuda: Compile) -> None:
    result = observe_alone(compile_cuda("memory"))
    assert (result.stdout, result.returncode) == (SAID["memory"], 0), result.stderr


@pytest.mark.skipif(not NVIDIAS.exists(), reason=f"{NVIDIAS} is not installed")
def test_our_runtime_precedes_nvidias_in_the_users_path(compile_cuda: Compile) -> None:
    result = observe_alone(compile_cuda("memory"), LD_LIBRARY_PATH=str(NVIDIAS.parent))
    assert (result.stdout, result.returncode) == (SAID["memory"], 0), result.stderr


def test_static_runtime_is_refused_in_one_line(compile_cuda: Compile) -> None:
    result = observe_alone(compile_cuda("memory", runtime="static"))
    assert result.returncode == 1
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("CPU driver: ")]
    assert "NVIDIA's CUDA runtime cannot run here" in line and "`nvcc -cudart shared`" in line


def test_program_that_has_nvrtc_make_machine_code_gets_ptx(
    compile_cuda: Compile, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under `--driver sim`; the same program alone cannot load what it gets."""
    home = Path(str(pytest.importorskip("nvidia.cu13", reason="nvidia-cuda-nvrtc is missing").__path__[0]))
    monkeypatch.setenv("CPATH", str(home / "include"))
    monkeypatch.setenv("LIBRARY_PATH", os.pathsep.join([environment["LD_LIBRARY_PATH"], str(home / "lib")]))
    program = compile_cuda("compiled", "-l:libnvrtc.so.13", "-l:libcuda.so.1")
    alone = run([program], {**environment, "LD_LIBRARY_PATH": os.environ["LIBRARY_PATH"]})
    assert (alone.stdout, alone.returncode) == ("not loaded: 209\n", 1), alone.stderr
    observed = observe_alone(program, LD_LIBRARY_PATH=str(home / "lib"))
    assert observed.stdout == "set 42, of a virtual architecture 0 bytes\n", observed.stderr


@pytest.mark.parametrize("name", list(SAID))
def test_per_thread_default_stream_variant_runs(
    compile_cuda: Compile, environment: dict[str, str], name: str
) -> None:
    """Every call has its second form, which says the same here."""
    result = run([compile_cuda(name, "--default-stream", "per-thread")], environment)
    assert (result.stdout, result.returncode) == (SAID[name], 0)


def test_compressed_ptx_beside_machine_code_is_used(
    compile_cuda: Compile, environment: dict[str, str]
) -> None:
    """The output of nvcc -arch=sm_90."""
    result = run([compile_cuda("memory", code=("-arch=sm_90",))], environment)
    assert (result.stdout, result.returncode) == (SAID["memory"], 0)


def test_machine_code_without_ptx_is_reported(compile_cuda: Compile, environment: dict[str, str]) -> None:
    result = run([compile_cuda("memory", code=("-gencode", "arch=compute_90,code=sm_90"))], environment)
    assert result.returncode == 1
    assert "no kernel image is available for execution on the device" in result.stdout
    assert result.stderr.count("\n") == 1, "once an image, not once a kernel"
    assert "contains no PTX" in result.stderr and "nvcc -arch=sm_75" in result.stderr


def test_advice_for_missing_ptx_holds_with_relocatable_code(
    compile_cuda: Compile, environment: dict[str, str]
) -> None:
    """nvcc -rdc=true links machine code only; the driver links the PTX of the objects."""
    machine_code = ("-gencode", "arch=compute_90,code=sm_90")
    result = run([compile_cuda("memory", "-rdc=true", code=machine_code)], environment)
    assert result.returncode == 1 and "compile it with nvcc -arch=sm_75" in result.stderr
    for code in (("-arch=sm_75",), PTX):
        result = run([compile_cuda("memory", "-rdc=true", code=code)], environment)
        assert (result.stdout, result.returncode) == (SAID["memory"], 0), result.stderr


def test_missing_driver_is_reported_from_the_first_call(
    compile_cuda: Compile, native: Path, tmp_path: Path
) -> None:
    """An error from the first call on, and the reason."""
    shutil.copy(native / "sim" / "libcudart.so.13", tmp_path)
    result = run([compile_cuda("memory")], {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)})
    if "libcuda.so.1" not in result.stderr:
        pytest.skip("this machine has a driver of its own")
    assert result.returncode == 1
    assert "CUDA driver version is insufficient for CUDA runtime version" in result.stdout


def test_kernels_launch_kernels(compile_cuda: Compile, environment: dict[str, str]) -> None:
    """nvcc links the device runtime as machine code. A kernel that needs what the driver lacks fails alone."""
    result = run([compile_cuda("nested", "-rdc=true", code=("-arch=sm_90",))], environment)
    assert (result.stdout, result.returncode) == (
        "sorted 1\nwrong launch: invalid configuration argument\norder 1 2 3 4\n"
        "asks for the device: cudaErrorNotSupported\nafter it: sorted 1\n",
        0,
    ), result.stderr
    (line,) = result.stderr.splitlines()
    assert "kernel _Z4asksPi cannot run: line " in line
    assert "calls __cudaCDP2GetDevice, and the CPU driver lacks that function of the device runtime" in line


LOADS = """
import ctypes, sys
runtime = ctypes.CDLL("libcudart.so.13")
library = ctypes.CDLL(sys.argv[1])
values = (ctypes.c_float * 300)(*range(300))
memory = ctypes.c_void_p()
assert runtime.cudaMalloc(ctypes.byref(memory), 1200) == 0
assert runtime.cudaMemcpy(memory, values, 1200, 1) == 0
assert library.solution(memory, 300) == 0
assert runtime.cudaMemcpy(values, memory, 1200, 2) == 0
print(values[299])
import _ctypes
_ctypes.dlclose(library._handle)
assert runtime.cudaDeviceSynchronize() == 0
second = ctypes.CDLL(sys.argv[1])
assert second.solution(memory, 300) == 0
assert runtime.cudaMemcpy(values, memory, 1200, 2) == 0
print(values[299])
"""


def test_library_can_be_loaded_again(compile_cuda: Compile, environment: dict[str, str]) -> None:
    """As Python loads a submission; its kernels go and come with it."""
    library = compile_cuda("library", "-shared", "-Xcompiler", "-fPIC")
    result = run([sys.executable, "-c", LOADS, library], environment)
    assert (result.stdout, result.stderr) == ("598.0\n1196.0\n", "")


@pytest.mark.usefixtures("environment")
def test_runtime_region_is_recorded_and_replayed(compile_cuda: Compile, record: Record) -> None:
    """Symbols included: replayed from the capture alone, memory is the same to the byte."""
    recorded = record([compile_cuda("region")])
    assert recorded.status == 0, recorded.stderr
    assert recorded.captures == ["x.ncap"]
    words = ["replay", recorded.folder / "x.ncap", "--driver", "sim", "--samples", "3", "--verify", "--quiet"]
    result = run(
        [sys.executable, "-m", "benchguard", *words, "--json", "-"], {**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["verification"]["exact"]


@pytest.mark.usefixtures("environment")
def test_runtime_regions_with_textures_and_arrays_are_refused(compile_cuda: Compile, record: Record) -> None:
    """Captures hold no arrays; a region of the same program without them is captured."""
    recorded = record([compile_cuda("images_region")])
    assert recorded.status == 0, recorded.stderr
    lines = [line.removeprefix("neutrino-bench: ") for line in recorded.said]
    assert [line.split(":")[0] if ".ncap" in line else line for line in lines] == [
        "x.ncap",
        "cannot be replayed: texture or surface objects exist; a kernel may read arrays through them, which a capture "
        "cannot contain",
        "x.2.ncap",
        "cannot be replayed: cuMemcpy3DAsync_v2: uses an array, which a capture cannot contain",
        "x.3.ncap",
    ]


def test_symbol_versions_match_nvidias(native: Path) -> None:
    result = subprocess.run(
        ["readelf", "-W", "-d", "--dyn-syms", str(native / "sim" / "libcudart.so.13")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Library soname: [libcudart.so.13]" in result.stdout
    assert " cudaMalloc@@libcudart.so.13" in result.stdout
    assert " __cudaRegisterFatBinary@@libcudart.so.13" in result.stdout


# In a process of its own: another test may have loaded a shim as libcuda.so.1, which a runtime would find by its name.
ERROR_TEXTS = """
import ctypes, json, sys
driver, *runtimes = [ctypes.CDLL(path) for path in sys.argv[1:]]
texts = []
for runtime in runtimes:
    functions = runtime.cudaGetErrorName, runtime.cudaGetErrorString
    for function in functions:
        function.restype = ctypes.c_char_p
    texts.append([function(code).decode() for function in functions for code in range(1000)])
print(json.dumps(texts))
"""


@pytest.mark.skipif(not NVIDIAS.exists(), reason=f"{NVIDIAS} is not installed")
def test_every_function_and_error_text_matches_nvidias(native: Path) -> None:
    """Names and texts of errors; unsupported functions exist and return an error."""
    path = native / "sim" / "libcudart.so.13"
    assert set(read_exports(NVIDIAS).names) - set(read_exports(path).names) <= {"_init", "_fini"}
    command = [sys.executable, "-c", ERROR_TEXTS, native / "sim" / "libcuda.so.1", path, NVIDIAS]
    ours, theirs = json.loads(run(command, dict(os.environ)).stdout)
    assert len(ours) == 2000 and ours == theirs


def test_unsupported_function_is_reported_once(native: Path) -> None:
    text = (
        "import ctypes; r = ctypes.CDLL('libcudart.so.13'); "
        "print(r.cudaImportExternalMemory(), r.cudaImportExternalMemory(), r.cudaGetLastError(), r.cudaGetLastError())"
    )
    result = run([sys.executable, "-c", text], {**os.environ, "LD_LIBRARY_PATH": str(native / "sim")})
    assert result.stdout.split() == ["801", "801", "801", "0"]
    assert result.stderr == "CUDA runtime (neutrino): cudaImportExternalMemory is not supported\n"
