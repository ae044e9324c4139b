"""AMD's code objects and offload bundles, as clang wrote them (tests/data/hip) and damaged."""

from __future__ import annotations

import os
import platform
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import msgspec
import pytest
import zstandard

from benchguard.capture.code_object import code_objects
from tests.unit.hook.conftest import COMPILE, HOOK, IMAGE

HERE = Path(__file__).parent
DATA = HERE.parents[2] / "tests" / "data" / "hip"
HIP = Path(sys.prefix) / "hip" / "usr" / "lib" / "x86_64-linux-gnu" / "libamdhip64.so.5"
ALL = ["gfx90a.hsaco", "gfx1100.hsaco", "bundle.hipfb", "compressed.hipfb"]
LAYOUTS = [
    ("saxpy", "4 0:4 8:8 16:8 24:4"),
    ("mixed", "5 0:1 2:2 8:16 24:8 32:8"),
    ("empty", "0"),
    ("sized", "1 0:8"),
    ("_Z7spilledIfEvPT_i", "2 0:8 8:4"),
    ("nowhere", "-1"),
]
OFFLOAD_BUNDLE, COMPRESSED, CODE_OBJECT = 5, 6, 7


def ask(program: Path, image: bytes, *words: str) -> str:
    """The program's output for one image."""
    result = subprocess.run(
        [program, *words],
        input=struct.pack("<I", len(image)) + image,
        capture_output=True,
        timeout=240,
        check=False,
    )
    assert result.returncode == 0, result.stderr.decode()
    return result.stdout.decode().strip()


def raw_bundle() -> bytes:
    """compressed.hipfb, unpacked by another library."""
    return zstandard.ZstdDecompressor().decompress((DATA / "compressed.hipfb").read_bytes()[24:])


def packed(version: int, method: int, content: bytes, **changed: int) -> bytes:
    """A compressed bundle of any version."""
    data = zstandard.compress(content) if method == 1 else zlib.compress(content)
    sizes = {1: "<I", 2: "<II", 3: "<QQ"}[version]
    total = 8 + struct.calcsize(sizes) + 8 + len(data)
    numbers = {"total": total, "raw": len(content)} | changed
    inputs = [numbers["raw"]] if version == 1 else [numbers["total"], numbers["raw"]]
    return b"CCOB" + struct.pack("<HH", version, method) + struct.pack(sizes, *inputs) + bytes(8) + data


def bundle(*entries: tuple[str, bytes]) -> bytes:
    """A bundle without padding."""
    head = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(entries))
    at = len(head) + sum(24 + len(name) for name, _ in entries)
    for name, code in entries:
        head += struct.pack("<QQQ", at, len(code), len(name)) + name.encode()
        at += len(code)
    return head + b"".join(code for _, code in entries)


def code_object(metadata: object, *, kind: int = 32, owner: bytes = b"AMDGPU\0") -> bytes:
    """An ELF with a note, and nothing else."""
    text = metadata if isinstance(metadata, bytes) else msgspec.msgpack.encode(metadata)
    note = struct.pack("<III", len(owner), len(text), kind) + owner.ljust(8, b"\0") + text
    header = b"\x7fELF\2\1\1\x40".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 3, 224, 1, 0, 64, 0, 0x3F, 64, 56, 1, 0, 0, 0
    )
    return header + struct.pack("<IIQQQQQQ", 4, 4, 120, 0, 0, len(note), len(note), 4) + note


def with_kernel(**changed: object) -> bytes:
    """A code object with one kernel that takes a pointer."""
    kernel: dict[str, object] = {
        ".name": "k",
        ".kernarg_segment_size": 8,
        ".args": [{".offset": 0, ".size": 8, ".value_kind": "global_buffer"}],
    }
    return code_object({"amdhsa.kernels": [kernel | {f".{name}": each for name, each in changed.items()}]})


@pytest.mark.parametrize(
    ("name", "format_"),
    [
        ("gfx90a.hsaco", CODE_OBJECT),
        ("gfx1100.hsaco", CODE_OBJECT),
        ("bundle.hipfb", OFFLOAD_BUNDLE),
        ("compressed.hipfb", COMPRESSED),
    ],
)
def test_size_is_the_file_length(measure: Path, name: str, format_: int) -> None:
    content = (DATA / name).read_bytes()
    assert ask(measure, content + b"what follows in memory") == f"{format_} {len(content)}"


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(("kernel", "layout"), LAYOUTS)
def test_kernel_layouts_match_the_source(measure: Path, name: str, kernel: str, layout: str) -> None:
    """Without the arguments that the compiler adds: `sized` has seven more in version 4, 13 in version 5."""
    assert ask(measure, (DATA / name).read_bytes(), "kernel", kernel) == layout


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("method", [0, 1])
def test_compressed_bundles_of_every_version_are_read(measure: Path, version: int, method: int) -> None:
    """Version 1 lacks its size: a zstd frame is measured, a zlib stream is not guessed."""
    image = packed(version, method, raw_bundle())
    assert ask(measure, image, "kernel", "mixed") == LAYOUTS[1][1]
    answer = ask(measure, image + b"what follows in memory")
    if (version, method) == (1, 0):
        assert answer == "6 0 compressed bundle without a size (magic 0x424f4343)"
    else:
        assert answer == f"{COMPRESSED} {len(image)}"


@pytest.mark.parametrize("level", [-5, 1, 19])
@pytest.mark.parametrize("content", [b"", b"a" * 300_000, bytes(range(256)) * 700])
@pytest.mark.parametrize("options", [(False, False), (True, True)])
def test_zstd_frame_lengths_are_exact(
    measure: Path, level: int, content: bytes, options: tuple[bool, bool]
) -> None:
    """Raw, repeated and compressed blocks; with and without size and checksum."""
    packer = zstandard.ZstdCompressor(level, write_content_size=options[0], write_checksum=options[1])
    image = b"CCOB" + struct.pack("<HHIQ", 1, 1, len(content), 0) + packer.compress(content)
    assert ask(measure, image + b"rest") == f"{COMPRESSED} {len(image)}"
    assert ask(measure, image[:-1]).startswith("6 0 ")


@pytest.mark.parametrize("name", [*ALL, "variables.hsaco"])
def test_truncated_images_are_refused(measure: Path, name: str) -> None:
    content = (DATA / name).read_bytes()
    lengths = sorted({*range(4, 400), *range(400, len(content), 197), len(content) - 1})
    cases = [content[:length] for length in lengths]
    data = b"".join(struct.pack("<I", len(case)) + case for case in cases)
    for words in ((), ("kernel", "mixed"), ("globals", "0")):
        result = subprocess.run([measure, *words], input=data, capture_output=True, timeout=240, check=False)
        assert result.returncode == 0, result.stderr.decode()
        if not words:
            assert all(line.split()[1] == b"0" for line in result.stdout.splitlines())


@pytest.mark.parametrize("name", ALL)
def test_globals_match_the_source(measure: Path, name: str) -> None:
    """Kernel descriptors are objects too, but not globals. A static global is reported as a problem."""
    names, _, problem = ask(measure, (DATA / name).read_bytes(), "globals", "0").partition(";")
    assert {each for each in names.split() if not each.startswith("__hip_cuid")} == {
        "counter",
        "weights",
        "table",
    }
    assert problem.strip() == "it has a static global, which HIP cannot find by name"


def test_managed_globals_are_marked(measure: Path) -> None:
    names, _, _ = ask(measure, (DATA / "variables.hsaco").read_bytes(), "globals", "0").partition(";")
    assert sorted(names.split()) == ["*everyones", "__hip_cuid_", "everyones"]


@pytest.mark.parametrize(
    ("image", "problem"),
    [
        (
            b"__CLANG_OFFLOAD_BUNDLE__" + bytes([255] * 8),
            "the offload bundle has an implausible number of entries",
        ),
        (packed(2, 7, b""), "the compressed bundle uses an unknown compression method"),
        (packed(2, 1, b"x", total=5), "the compressed bundle declares an impossible size"),
        (packed(3, 1, b"x", raw=1 << 60), "the compressed bundle declares an impossible size"),
        (packed(2, 1, b"x", raw=2), "an entry does not decompress to the size that it declares"),
        (packed(2, 0, b"x", raw=2), "an entry does not decompress to the size that it declares"),
    ],
)
def test_unreadable_bundles_name_the_problem(measure: Path, image: bytes, problem: str) -> None:
    """Unknown globals are reported; the bundle is not taken for one without globals."""
    assert ask(measure, image, "kernel", "k") == "-1"
    assert ask(measure, image, "globals", "0").removeprefix("; ") == problem


@pytest.mark.parametrize(
    "image",
    [
        bundle(),
        bundle(("host-x86_64-unknown-linux--", b"code")),
        b"\x7fELF\2\1\1" + bytes(100),
        code_object({}, kind=10),
        code_object({}, owner=b"NVIDIA\0"),
        code_object({}),
        code_object([]),
        code_object({"amdhsa.kernels": {}}),
        code_object({"amdhsa.kernels": [1, "k", {".name": 5}]}),
        code_object(b"\xdd\xff\xff\xff\xff"),
        code_object(b"\x81\xa1" * 5000),
        code_object(b"\x81" * 100_000),
        with_kernel(kernarg_segment_size=-8),
        with_kernel(kernarg_segment_size=7),
        with_kernel(args=[{".offset": 1 << 40, ".size": 8}]),
        with_kernel(args=[{".offset": 0}]),
        with_kernel(args=[8]),
        with_kernel(args="text"),
        with_kernel(args=[{".offset": 0, ".size": 0}] * 5000),
    ],
)
def test_malformed_kernel_metadata_is_refused(measure: Path, image: bytes) -> None:
    assert ask(measure, image, "kernel", "k") == "-1"


def test_unchanged_kernel_metadata_is_read(measure: Path) -> None:
    """The control of the test above."""
    assert ask(measure, with_kernel(), "kernel", "k") == "1 0:8"
    assert ask(measure, with_kernel(args=[]), "kernel", "k") == "0"


def test_unrelated_metadata_items_are_skipped(measure: Path) -> None:
    """Any items before the name are skipped. Keys may have any type and order."""
    items: list[object] = [
        None, True, -1, -200, -70_000, -(1 << 40), 200, 70_000, 1 << 20, 1 << 40, 1.5, b"x", b"x" * 300, b"x" * 70_000,
        "s" * 40, "s" * 300, "s" * 70_000, [], [1] * 20, [1] * 70_000, {}, {str(n): n for n in range(20)}, {1: 2},
        {str(n): n for n in range(70_000)}, [[[[{"a": [1]}]]]],
        *(msgspec.msgpack.Ext(5, bytes(size)) for size in (1, 2, 4, 8, 16, 17, 300, 70_000)),
    ]  # fmt: skip
    kernel = {f".a{index}": item for index, item in enumerate(items)} | {
        ".kernarg_segment_size": 70_000,
        ".args": [{".x": items, ".offset": 256, ".size": 300}],
        ".name": "k",
    }
    metadata = {"before": items, "amdhsa.kernels": [{".name": "j"}, kernel], "after": items}
    assert ask(measure, code_object(metadata), "kernel", "k") == "1 256:300"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="embedded.o is for x86-64")
def test_registered_wrapper_leads_to_its_bundle(tmp_path: Path) -> None:
    """In an object file of clang, the wrapper leads to the bundle."""
    program = tmp_path / "embedded"
    sources = [HERE / "programs" / "embedded.c", *sorted(IMAGE.glob("*.c"))]
    subprocess.run(
        [*COMPILE, f"-I{HOOK}", *map(str, sources), str(DATA / "embedded.o"), "-o", str(program)], check=True
    )
    result = subprocess.run(
        [program], capture_output=True, text=True, timeout=240, check=True
    ).stdout.splitlines()
    format_, size = result[0].split()[1:]
    assert (int(format_), int(size)) == (OFFLOAD_BUNDLE, 0x3568)  # section .hip_fatbin's, as readelf says
    assert set(result[1:]) == {f"{name} {layout}" for name, layout in LAYOUTS[:-1]}


PTX = (HERE / "images" / "compute_75.ptx").read_bytes()


@pytest.mark.parametrize(
    ("kernel", "layout"),
    [("saxpy", "4 0:8 8:8 16:4 20:4"), ("mixed", "4 0:1 2:2 8:16 24:8"), ("empty", "0"), ("nowhere", "-1")],
)
def test_ptx_layout_equals_cubin_layout(measure: Path, kernel: str, layout: str) -> None:
    assert ask(measure, PTX, "kernel", kernel) == layout
    assert ask(measure, (HERE / "images" / "sm_75.cubin").read_bytes(), "layout", kernel) == layout


@pytest.mark.parametrize(
    ("parameters", "layout"),
    [
        ("()", "0"),
        ("", "0"),
        ("(.param .u8 a, .param .u64 b)", "2 0:1 8:8"),
        ("(.param .align 16 .b8 a[3], .param .b8 b[2][3], .param .f32 c)", "3 0:3 3:6 12:4"),
        ("(.param .u32 a, .param .u64 .ptr .global .align 128 b)", "2 0:4 8:8"),
        ("(.param .u32 a, .param .align 8 .b8 b[8], .param .f16x2 c)", "3 0:4 8:8 16:4"),
        ("(.param .b8 a, .param .v4 .f32 b)", "2 0:1 16:16"),
        ("(.param .u32 a, /* , .param .u8 x) */ .param .texref b)", "2 0:4 8:8"),
        ("(.param .align 3 .b8 a[3])", "-1"),
        ("(.param .align 99999999999999999999 .b8 a[3])", "-1"),
        ("(.param .b8 a[4294967297])", "-1"),
        ("(.param .b64 a[65536])", "-1"),
        ("(.param .b8 a[65536][65536])", "-1"),
        ("(.param .what a)", "-1"),
        ("(.param .u32 a", "-1"),
        ("(.param .u32 a,", "-1"),
        ("(.reg .u32 a)", "-1"),
        ("(" + ", ".join([".param .u8 a"] * 4097) + ")", "-1"),
    ],
)
def test_ptx_parameter_layouts_are_computed(measure: Path, parameters: str, layout: str) -> None:
    text = (
        f".version 8.0\n.visible .entry other(.param .u8 x) {{ .entry k }}\n.entry k{parameters} {{ ret; }}\n"
    )
    text = text if layout != "-1" or parameters.endswith(")") else text[: text.index("{ ret")]
    assert ask(measure, text.encode() + b"\0", "kernel", "k") == layout


RTC = """
import ctypes, sys
hip = ctypes.CDLL(sys.argv[1])
program, size = ctypes.c_void_p(), ctypes.c_size_t()
source = sys.stdin.buffer.read()
options = (ctypes.c_char_p * 1)(b"--offload-arch=" + sys.argv[2].encode())
assert hip.hiprtcCreateProgram(ctypes.byref(program), source, b"k.hip", 0, None, None) == 0
assert hip.hiprtcCompileProgram(program, 1, options) == 0
assert hip.hiprtcGetCodeSize(program, ctypes.byref(size)) == 0
code = ctypes.create_string_buffer(size.value)
assert hip.hiprtcGetCode(program, code) == 0
sys.stdout.buffer.write(code.raw)
"""
SOURCE = b"""
struct triple { double x, y, z; };
__device__ int counter;
extern "C" __global__ void mixed(char one, short two, triple three, float *out)
{
    __shared__ float tile[64];
    tile[threadIdx.x & 63] = out[threadIdx.x];
    __syncthreads();
    *out = one + two + three.x + blockDim.x + tile[0] + counter;
}
"""


@pytest.mark.parametrize("target", ["gfx90a", "gfx1030"])
def test_hiprtc_output_is_read(measure: Path, target: str) -> None:
    """AMD's run-time compiler needs no GPU. Its output is read like the committed files."""

    if not HIP.exists():
        pytest.skip(f"no {HIP.name} below {sys.prefix}: python tests/support/fetch_hip.py {sys.prefix}/hip")
    result = subprocess.run(
        [sys.executable, "-c", RTC, HIP, target],
        input=SOURCE,
        env={**os.environ, "LD_LIBRARY_PATH": str(HIP.parent)},
        capture_output=True,
        timeout=120,
        check=False,
    )
    if b"cannot open shared object file" in result.stderr:
        pytest.skip(f"{HIP.name} does not load here: {result.stderr.decode().splitlines()[-1]}")
    assert result.returncode == 0, result.stderr.decode()
    assert ask(measure, result.stdout) == f"{CODE_OBJECT} {len(result.stdout)}"
    assert ask(measure, result.stdout, "kernel", "mixed") == "4 0:1 2:2 8:24 32:8"
    names, _, problem = ask(measure, result.stdout, "globals", "0").partition(";")
    assert "counter" in names.split() and problem.strip() == ""
    (read,) = code_objects(result.stdout)
    assert read.kernels[0].parameters == ((0, 1), (2, 2), (8, 24), (32, 8))
    assert set(read.globals) == set(names.split())
