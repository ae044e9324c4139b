"""Submissions of every language, called by the runner: both regions, their ranges, and what they replay to."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchguard import Capture
from benchguard.capture.model import Launch
from benchguard.problem.spec import Buffer, CaseSpec, Scalar
from benchguard.quarantine.contract import Finished
from benchguard.quarantine.runner.compilers import find_nvcc
from benchguard.quarantine.runner.memory import POISON
from tests.integration.quarantined import Case, Ran, call, range_list, saxpy, saxpy_case
from tests.support.kernels import SAXPY

KERNEL = """
__global__ void solution(const float *x, const float *z, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[i] + z[i];
}
"""
NUMBA = """
from numba import cuda

@cuda.jit
def kernel(x, z, y, n):
    i = cuda.grid(1)
    if i < n:
        y[i] = 2 * x[i] + z[i]

def solution(x, z, y, n):
    kernel[(n + 127) // 128, 128](x, z, y, n)
"""
RETURNED = """
import numpy as np
from numba import cuda
import warnings

@cuda.jit
def kernel(x, z, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = 2 * x[i] + z[i]

def solution(x, z, n):
    y = cuda.device_array(n, np.float32)
    kernel[(n + 127) // 128, 128](x, z, y)
    return y
"""
RANGES = [
    ("x", "INPUT", 4000, "float32", (1000,)),
    ("z", "INPUT", 4000, "float32", (1000,)),
    ("y", "OUTPUT", 4000, "float32", (1000,)),
]


@pytest.fixture
def case(native: Path) -> Case:
    assert (native / "sim").is_dir()
    return saxpy_case()


def assert_right(ran: Ran, case: Case, launches: int = 1) -> None:
    """Two regions that replay rightly on inputs that the submission never saw."""
    ran.assert_finished()
    assert ran.phases[-2:] == [("warm-up", 0), ("record", 0)]
    assert len(ran.captures) == 2
    for number, path in enumerate(ran.captures):
        with Capture.open(path) as capture:
            assert capture.meta["region"] == f"0/{number}"
            assert not capture.refusals
            assert [each.kind.name for each in capture.operations] == ["KERNEL"] * launches
        assert range_list(path) == RANGES
        fresh = case.sets[2]
        assert ran.replayed(number, fresh) == saxpy(fresh)


def test_python_function_writes_its_arguments(tmp_path: Path, case: Case) -> None:
    pytest.importorskip("numba_cuda", reason="comes with the extra examples")
    assert_right(call(tmp_path, NUMBA, case), case)


def test_python_function_returns_outputs(tmp_path: Path, case: Case) -> None:
    pytest.importorskip("numba_cuda", reason="comes with the extra examples")
    ran = call(tmp_path, RETURNED, case)
    assert_right(ran, case)


def test_cuda_kernel_runs(tmp_path: Path, case: Case) -> None:
    assert_right(call(tmp_path, KERNEL, case, language="cuda"), case)


DRIVER = """
import ctypes

cuda = ctypes.CDLL("libcuda.so.1")

def copy(to, source):
    places = (ctypes.c_uint64(array.data_ptr()) for array in (to, source))
    assert cuda.cuMemcpyDtoDAsync_v2(*places, ctypes.c_size_t(to.nbytes), None) == 0
"""


@pytest.mark.parametrize(
    ("submission", "phase", "text"),
    [
        ("def solution(:", "import", "submission.py:1: SyntaxError: invalid syntax"),
        ("import nothing_of_the_kind", "import", "submission.py:1: ModuleNotFoundError: No module named "),
        (
            "def add(): ...\nX = 1",
            "import",
            "submission.py has no `solution`, only add. Rename",
        ),
        ("solution = 1", "import", "solution in submission.py cannot be called"),
        ("import sys\nsys.exit(3)", "import", "the submission called exit(3)"),
        ("def solution(*_):\n    return 1 / 0", "warm-up", "submission.py:2: ZeroDivisionError: "),
        ("def solution(x): ...", "warm-up", "TypeError: solution() takes 1 positional argument but 4 were"),
        ("def solution(*_):\n    return 'y'", "warm-up", "y was returned as str; return an array"),
        ("def solution(*_):\n    return 1, 2", "warm-up", "the call returned 2 values; return y, or None"),
        ("def solution(x, z, y, n):\n    return x", "warm-up", "y was returned in the memory of x"),
        (
            "calls = 0\ndef solution(*_):\n    global calls\n    calls += 1\n    assert calls < 4, 'late'",
            "record",
            "submission.py:5: AssertionError: late",
        ),
    ],
)
def test_failing_python_is_reported(
    tmp_path: Path, case: Case, submission: str, phase: str, text: str
) -> None:
    broke = call(tmp_path, submission, case, warm_up=2).broke
    assert broke.phase == phase
    assert text in broke.text
    assert not broke.unreplayable


FAKE = """
class Array:
    def __init__(self, like, offset=0, **changes):
        self.__cuda_array_interface__ = {**like.__cuda_array_interface__, **changes}
        if offset:
            self.__cuda_array_interface__["data"] = (like.data_ptr() + offset, False)

def solution(x, z, y, n):
    """


@pytest.mark.parametrize(
    ("statement", "text", "unreplayable"),
    [
        ("return Array(y, typestr='<f8')", "y was returned as float64; the problem wants float32", False),
        ("return Array(y, shape=(10, 100))", "with shape (10, 100); the problem wants (1000,)", False),
        (
            "return Array(y, strides=(8,))",
            "with strides (2,) (in elements); the problem wants row-major",
            False,
        ),
        ("return Array(z, offset=8)", "y was returned in the memory of z; return separate memory", False),
        (
            "import numpy; return numpy.zeros(n, 'f4')",
            "y was returned in host memory, as numpy.ndarray",
            True,
        ),
        ("return 1.5", "y was returned in host memory, as float", True),
        (
            "return Array(y, offset=1 << 40)",
            "the named range is outside the program's device memory",
            True,
        ),
    ],
)
def test_invalid_output_is_refused(
    tmp_path: Path, case: Case, statement: str, text: str, unreplayable: bool
) -> None:
    broke = call(tmp_path, FAKE + statement, case).broke
    assert text in broke.text
    assert broke.unreplayable == unreplayable


def test_returned_argument_is_accepted(tmp_path: Path, case: Case) -> None:
    ran = call(tmp_path, f"{FAKE}return [Array(y)]", case).assert_finished()
    assert range_list(ran.captures[0]) == RANGES


def test_calls_happen_in_their_phases(tmp_path: Path, case: Case) -> None:
    """Two cases: each warmed up, each recorded on both sets, in the same buffers, with outputs poisoned."""
    submission = (
        f"{DRIVER}\ndef solution(x, z, y, n):\n    print(x.data_ptr(), y.data_ptr(), n)\n    copy(y, x)\n"
    )
    small = saxpy_case(7)
    ran = call(tmp_path, submission, [case, small], warm_up=3).assert_finished()
    assert ran.phases == [("import", -1), ("warm-up", 0), ("record", 0), ("warm-up", 1), ("record", 1)]
    assert isinstance(ran.events[-1], Finished)
    assert set(ran.events[-1].seconds) == {"import", "driver", "warm-up", "record", "call 0", "call 1"}
    assert len(ran.captures) == 4
    places = []
    for path, (of, number) in zip(ran.captures, [(0, 0), (0, 1), (1, 0), (1, 1)], strict=True):
        with Capture.open(path) as capture:
            assert capture.meta["region"] == f"{of}/{number}"
            x, z, y = capture.ranges
            places.append((x.address, z.address, y.address))
            arrays = (case, small)[of].sets[number]
            assert capture.memory(x.address, x.bytes) == arrays["x"].tobytes()
            assert capture.memory(z.address, z.bytes) == arrays["z"].tobytes()
            assert set(capture.memory(y.address, y.bytes)) == {POISON}
            assert capture.memory(y.address, y.bytes, after=True) == arrays["x"].tobytes()
    assert places[0] == places[1]
    assert places[2] == places[3]


def test_in_place_buffer_and_constant_are_written_before_each_call(tmp_path: Path, native: Path) -> None:
    """z is read and written, t is the problem's own state; both are written before each call."""
    assert (native / "sim").is_dir()
    values = np.arange(8, dtype=np.int32)
    spec = CaseSpec(
        "in place",
        (
            Buffer("z", "int32", (8,), "inout"),
            Buffer("t", "int32", (8,), "constant"),
            Buffer("e", "int8", (0,)),
        ),
    )
    sets = [{"z": values * k, "t": values, "e": np.empty(0, np.int8)} for k in range(3)]
    case = Case(spec, sets)
    kernel = """
extern "C" __global__ void add(int *z, const int *t, const char *e)
{
    z[threadIdx.x] += t[threadIdx.x];
}
"""
    ran = call(tmp_path, kernel, case, language="cuda").assert_finished()
    for number, path in enumerate(ran.captures):
        assert range_list(path) == [("z", "INPUT", 32, "int32", (8,)), ("t", "STATE", 32, "int32", (8,))]
        assert ran.replayed(number, {"z": sets[2]["z"]}, "z") == (values * 3).tobytes()


PTX = (
    """// A saxpy.
// launch: grid=(cdiv(y.shape[0], 64), 1, 1) block=64
"""
    + SAXPY
)


def test_ptx_with_its_own_launch_shape_runs(tmp_path: Path, native: Path) -> None:
    """saxpy(a, x, y, n) of tests/support/kernels.py, the only entry, in place."""
    assert (native / "sim").is_dir()
    spec = CaseSpec(
        "saxpy",
        (
            Scalar("a", "float", 2.0),
            Buffer("x", "float32", (100,)),
            Buffer("y", "float32", (100,), "inout"),
            Scalar("n", "uint32_t", 100),
        ),
    )
    ramp = np.arange(100, dtype=np.float32)
    case = Case(spec, [{"x": ramp, "y": ramp * k} for k in range(3)])
    ran = call(tmp_path, PTX, case, language="ptx").assert_finished()
    with Capture.open(ran.captures[0]) as capture:
        (launch,) = capture.operations
        assert isinstance(launch, Launch)
        assert (launch.grid, launch.block) == ((2, 1, 1), (64, 1, 1))
    assert ran.replayed(0, case.sets[2], "y") == (ramp * 4).tobytes()


@pytest.mark.parametrize(
    ("language", "submission", "text"),
    [
        ("ptx", "nonsense", "submission.ptx has no kernel solution and no other kernel"),
        ("ptx", SAXPY + SAXPY.replace("saxpy(", "other("), "only saxpy, other; rename one to solution"),
        (
            "ptx",
            SAXPY.replace("fma.rn", "fmb.rn"),
            "the driver cannot load submission.ptx: CUDA_ERROR_INVALID_PTX",
        ),
        (
            "ptx",
            SAXPY,
            "kernel saxpy of submission.ptx has parameters of [4, 8, 8, 4] bytes; the problem gives",
        ),
        ("cuda", KERNEL.replace("int n", "int m"), 'submission.cu(5): error: identifier "n" is undefined'),
        (
            "cuda",
            KERNEL.replace(", int n", "").replace("n)", "9)"),
            "has 3 parameters; the problem gives 4: x, z, y, n",
        ),
        (
            "cuda",
            "// nvcc: -ccbin=./cc\n" + KERNEL,
            "`// nvcc: -ccbin=./cc` is not allowed; allowed are",
        ),
        ("cuda", "// launch: grid=m\n" + KERNEL, "`// launch: grid=m`: unknown name m; known are x, z, y, n"),
        (
            "cuda",
            KERNEL.replace("y[i]", "y[i << 20]"),
            "cuCtxSynchronize returned CUDA_ERROR_ILLEGAL_ADDRESS",
        ),
    ],
)
def test_failing_kernel_is_reported(
    tmp_path: Path, case: Case, language: str, submission: str, text: str
) -> None:
    assert text in call(tmp_path, submission, case, language=language).broke.text


def test_compiler_message_is_kept(tmp_path: Path, case: Case) -> None:
    broke = call(tmp_path, KERNEL.replace("int n", "int m"), case, language="cuda").broke
    assert broke.phase == "compile"
    assert "1 error detected in the compilation" in broke.detail


def test_kernel_runs_without_nvcc(tmp_path: Path, case: Case) -> None:
    pytest.importorskip("nvidia.cu13", reason="nvidia-cuda-nvrtc comes with the extra examples")
    assert_right(call(tmp_path, KERNEL, case, language="cuda", nvcc=False), case)


def test_failing_kernel_without_nvcc_is_reported(tmp_path: Path, case: Case) -> None:
    pytest.importorskip("nvidia.cu13", reason="nvidia-cuda-nvrtc comes with the extra examples")
    broke = call(tmp_path, KERNEL.replace("int n", "int m"), case, language="cuda", nvcc=False).broke
    assert broke.text == 'submission.cu(5): error: identifier "n" is undefined'


def test_host_function_without_nvcc_is_reported(tmp_path: Path, case: Case) -> None:
    host = 'extern "C" void solution(const float *, const float *, float *, int) {}'
    broke = call(tmp_path, host, case, language="cuda", nvcc=False).broke
    assert "solution of submission.cu is a host function, which only nvcc compiles" in broke.text


HOST = """
// nvcc: --use_fast_math -DTHREADS=128
#include <cuda_runtime.h>

__global__ void kernel(const float *x, const float *z, float *y, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[i] + z[i];
}

extern "C" void solution(const float *x, const float *z, float *y, int n)
{
    kernel<<<(n + THREADS - 1) / THREADS, THREADS>>>(x, z, y, n);
}
"""


@pytest.fixture
def cudart(native: Path) -> None:
    if find_nvcc() is None:
        pytest.skip("there is no nvcc")
    if not (native / "sim" / "libcudart.so.13").is_file():
        pytest.skip("the CPU driver has no CUDA runtime library")


@pytest.mark.usefixtures("cudart")
@pytest.mark.parametrize("linkage", ['extern "C" ', ""])
def test_cuda_host_function_runs(tmp_path: Path, case: Case, linkage: str) -> None:
    """With a C name as with a C++ one, which solutions of LeetGPU have."""
    assert_right(call(tmp_path, HOST.replace('extern "C" ', linkage), case, language="cuda"), case)


@pytest.mark.usefixtures("cudart")
@pytest.mark.parametrize(
    ("submission", "text"),
    [
        (HOST.replace("THREADS>>>", "THREADS>>>>"), "submission.cu(14): error: expected an expression"),
        (
            HOST.replace('extern "C" ', "static "),
            'submission.cu exports no solution; write extern "C" void solution(...)',
        ),
        (
            HOST.replace('extern "C" ', "") + "void solution(int) {}",
            'submission.cu exports 2 functions named solution; write extern "C" void solution(...)',
        ),
        (
            HOST.replace("solution(", "solve("),
            "submission.cu exports no solution, only solve: rename it, or pass --entry solve",
        ),
        (
            "int main() { return 0; }",
            'submission.cu exports no solution; write extern "C" void solution(...)',
        ),
        ('extern "C" void no(); extern "C" void solution() { no(); }', "undefined symbol: no"),
    ],
)
def test_failing_host_function_is_reported(tmp_path: Path, case: Case, submission: str, text: str) -> None:
    broke = call(tmp_path, submission, case, language="cuda").broke
    assert broke.phase == "compile"
    assert text in broke.text


@pytest.mark.usefixtures("cudart")
def test_host_function_with_other_parameters_is_reported(tmp_path: Path, case: Case) -> None:
    """A call would pass the number as a pointer."""
    other = HOST.replace('extern "C" ', "").replace(
        "const float *z, float *y, int n)", "int n, const float *z, float *y)"
    )
    broke = call(tmp_path, other, case, language="cuda").broke
    assert broke.text == (
        "solution of submission.cu has the parameters (const float*, int, const float*, float*); "
        "the problem gives pointer x, pointer z, pointer y, int n"
    )


CONVENTIONS = {
    "output_first": "def solution(y, x, z, n):\n    copy(y, x)",
    "tuple": "def solution(data):\n    x, z, n, y = data\n    copy(y, x)\n    return y",
    "module": """
class solution:
    def __init__(self, scale):
        assert scale == 3
        self.calls = 0

    def __call__(self, x, z, n):
        address = ctypes.c_uint64()
        assert cuda.cuMemAllocAsync(ctypes.byref(address), ctypes.c_size_t(x.nbytes), None) == 0
        y = Given(address.value, x)
        copy(y, x)
        return y

class Given:
    def __init__(self, address, like):
        self.address, self.nbytes = address, like.nbytes
        self.__cuda_array_interface__ = {**like.__cuda_array_interface__, "data": (address, False)}

    def data_ptr(self):
        return self.address

    def __del__(self):
        cuda.cuMemFreeAsync(ctypes.c_uint64(self.address), None)
""",
}


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_calling_convention_is_honoured(tmp_path: Path, case: Case, convention: str) -> None:
    submission = DRIVER + CONVENTIONS[convention]
    ran = call(tmp_path, submission, case, convention=convention, init=((3,), {}, "")).assert_finished()
    assert sorted(range_list(ran.captures[1])) == sorted(RANGES)
    fresh = case.sets[2]
    assert [ran.replayed(number, fresh) for number in (0, 1)] == [fresh["x"].tobytes()] * 2


CUDA_CORE = '''
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

KERNEL = r"""%s"""
device = Device()
device.set_current()
stream = device.create_stream()
options = ProgramOptions(arch=f"sm_{device.arch}")
kernel = Program(KERNEL.replace("__global__", 'extern "C" __global__'), "c++", options=options).compile("ptx")
kernel = kernel.get_kernel("solution")

def solution(x, z, y, n):
    import numpy as np
    launch(stream, LaunchConfig(grid=(n + 63) // 64, block=64), kernel, *(a.data_ptr() for a in (x, z, y)), np.int32(n))
'''


def test_cuda_core_with_its_own_stream_runs(tmp_path: Path, case: Case) -> None:
    """And a context that the submission made before ours was asked for."""
    pytest.importorskip("cuda.core", reason="comes with the extra examples")
    assert_right(call(tmp_path, CUDA_CORE % KERNEL, case), case)


@pytest.mark.parametrize("stem", ["numba", "numpy", "torch"])
def test_single_file_with_the_name_of_a_package_may_import_the_package(
    stem: str, tmp_path: Path, case: Case
) -> None:
    pytest.importorskip("numba_cuda", reason="comes with the extra examples")
    assert_right(call(tmp_path, NUMBA, case, stem=stem), case)


def test_submission_folder_is_importable_and_read_only(tmp_path: Path, case: Case) -> None:
    """Its folder is where modules come from, and nothing is written there; what it prints last is not lost."""
    submission = (
        "import sys, beside\nassert sys.argv == [__file__]\nsolution = beside.work\nprint('called', end='')"
    )
    ran = call(tmp_path, submission, case, beside={"beside.py": "def work(*values): pass"}).assert_finished()
    assert len(ran.captures) == 2
    assert sorted(path.name for path in (tmp_path / "submitted").iterdir()) == ["beside.py", "submission.py"]


def test_call_that_leaves_no_context_is_reported(tmp_path: Path, case: Case) -> None:
    submission = (
        f"{DRIVER}\ndef solution(x, z, y, n):\n    copy(y, x)\n    assert cuda.cuCtxSetCurrent(None) == 0\n"
    )
    broke = call(tmp_path, submission, case).broke
    assert "the call cannot be recorded: " in broke.text


def test_region_ended_by_the_submission_is_reported(tmp_path: Path, case: Case) -> None:
    submission = """
import ctypes
def solution(*_):
    ctypes.CDLL(None).neutrino_region_end()
"""
    broke = call(tmp_path, submission, case).broke
    assert broke.phase == "record"
    assert "no region is open" in broke.text
