"""Code images: fat binaries of nvcc, corrupt ones, other data, and the JIT log.

The codes and most texts are those of driver 580.159 on an H200.
"""

from __future__ import annotations

import ctypes
import struct
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT

from .conftest import PTX_HEAD, Driver
from .isolated import isolated

HERE = Path(__file__).parent
DATA = HERE / "data"
READER = [HERE.parents[1] / "sim" / "driver" / "code" / name for name in ("fatbin.c", "decompress.c")]

ERROR_LOG, ERROR_LOG_SIZE, INFO_LOG, INFO_LOG_SIZE, WALL_TIME, TARGET, VERBOSE = 5, 6, 3, 4, 2, 9, 12
PTX, CUBIN = 1, 2
LZ4, ZSTD, SPECIFIC = 0x2000, 0x8000, 0x100000


def kernel(name: str, version: str = "8.0", target: str = "sm_90") -> bytes:
    head = f".version {version}\n.target {target}\n.address_size 64\n"
    return (head + f".visible .entry {name}() {{ ret; }}\n").encode()


@dataclass(frozen=True)
class Entry:
    kind: int
    target: int
    payload: bytes
    flags: int = 0
    compressed: int = 0
    raw: int = 0

    def __bytes__(self) -> bytes:
        padded = self.payload + bytes(-len(self.payload) % 8)
        head = struct.pack(
            "<HHIQIIHHI", self.kind, 0x101, 64, len(padded), self.compressed, 0, 0, 8, self.target
        )
        return head + struct.pack("<IIQQQ", 0, 0, self.flags | 0x11, 0, self.raw) + padded


def fatbin(*entries: Entry) -> bytes:
    body = b"".join(map(bytes, entries))
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


@dataclass
class Load:
    """The result of a load with all log options."""

    code: int
    error: bytes
    error_size: int
    info: bytes
    info_size: int
    milliseconds: float
    module: ctypes.c_void_p


def load(driver: Driver, image: bytes, *more: tuple[int, int], room: int = 600) -> Load:
    error, info = ctypes.create_string_buffer(b"x" * room), ctypes.create_string_buffer(b"x" * room)
    chosen = [
        (ERROR_LOG, ctypes.addressof(error)),
        (ERROR_LOG_SIZE, room),
        (INFO_LOG, ctypes.addressof(info)),
        (INFO_LOG_SIZE, room),
        (WALL_TIME, 0),
        *more,
    ]
    options = (ctypes.c_int * len(chosen))(*(option for option, _ in chosen))
    values = (ctypes.c_void_p * len(chosen))(*(value for _, value in chosen))
    module = ctypes.c_void_p()
    code = driver.result("cuModuleLoadDataEx", ctypes.byref(module), image, len(chosen), options, values)
    wall = struct.unpack("f", struct.pack("I", (values[4] or 0) & 0xFFFFFFFF))[0]
    return Load(code, error.value, values[1] or 0, info.value, values[3] or 0, wall, module)


def load_and_list(driver: Driver, image: bytes) -> str:
    result = load(driver, image)
    assert result.code == 0, result.error
    items = [
        name
        for name in "abcd"
        if driver.result("cuModuleGetFunction", ctypes.byref(ctypes.c_void_p()), result.module, name.encode())
        == 0
    ]
    return "".join(items)


@pytest.mark.parametrize("mode", ["none", "speed", "size", "balance", "targets"])
@pytest.mark.parametrize("how", ["data", "fat", "library", "file"])
def test_fatbin_with_any_nvcc_compression_runs(driver: Driver, mode: str, how: str) -> None:
    path = DATA / f"{mode}.fatbin"
    if how == "library":
        library = driver.handle("cuLibraryLoadData", path.read_bytes(), None, None, 0, None, None, 0)
        function = driver.handle("cuLibraryGetKernel", library, b"store")
    else:
        call = {"data": "cuModuleLoadData", "fat": "cuModuleLoadFatBinary", "file": "cuModuleLoad"}[how]
        module = driver.handle(call, str(path).encode() if how == "file" else path.read_bytes())
        function = driver.handle("cuModuleGetFunction", module, b"store")
    to = driver.allocate(16)
    assert driver.launch(function, [to, ctypes.c_int(6)], block=4) == 0
    assert struct.unpack("4i", driver.read(to, 16)) == (7, 7, 7, 7)


def test_data_has_expected_entries() -> None:
    """The files differ in the flags at byte 40 of the first entry, which the reader uses."""
    flags = {}
    for mode in ("none", "speed", "size", "balance"):
        flags[mode] = struct.unpack_from("<Q", (DATA / f"{mode}.fatbin").read_bytes(), 56)[0] & (LZ4 | ZSTD)
    assert flags == {"none": 0, "speed": LZ4, "size": ZSTD, "balance": ZSTD}


def test_fatbin_ptx_choice_matches_driver(driver: Driver) -> None:
    old, plain, own = (
        Entry(PTX, 80, kernel("a", target="sm_80")),
        Entry(PTX, 90, kernel("b")),
        Entry(PTX, 90, kernel("c", target="sm_90a"), SPECIFIC),
    )
    newer = Entry(PTX, 100, kernel("d", "8.6", "sm_100"))
    assert load_and_list(driver, fatbin(old, plain)) == "b"
    assert load_and_list(driver, fatbin(plain, old)) == "b"
    assert load_and_list(driver, fatbin(old, newer)) == "a"
    assert load_and_list(driver, fatbin(plain, own)) == "c"
    assert load_and_list(driver, fatbin(own, plain)) == "c"
    assert (
        load_and_list(driver, fatbin(plain, Entry(PTX, 90, kernel("d")))) == "d"
    )  # the last of equal entries
    assert load_and_list(driver, fatbin(Entry(CUBIN, 90, b"\x7fELF"), old)) == "a"


@pytest.mark.parametrize("name", ["machine", "lto", "newer"])
def test_fatbin_without_usable_ptx_is_refused(driver: Driver, name: str) -> None:
    result = load(driver, (DATA / f"{name}.fatbin").read_bytes())
    assert result.code == 209
    assert (
        result.error
        == b"error   : the fat binary contains no PTX for this device, which cannot run machine code"
    )


def test_cubin_is_refused_with_explanation(driver: Driver) -> None:
    result = load(driver, b"\x7fELF\2\1\1" + bytes(64))
    assert result.code == 209
    assert b"machine code" in result.error


def patch_image(name: str, at: int, field: str, value: int) -> bytes:
    image = bytearray((DATA / f"{name}.fatbin").read_bytes())
    struct.pack_into("<" + field, image, at, value)
    return bytes(image)


@pytest.mark.parametrize("name", ["speed", "size"])
@pytest.mark.parametrize(
    ("at", "field", "value", "code"),
    [
        (72, "Q", 20, 999),  # decompressed size: too small, too large, absurd
        (72, "Q", 5000, 999),
        (72, "Q", 1 << 60, 999),
        (32, "I", 50, 999),  # compressed size: too small, larger than the entry
        (32, "I", 9999, 200),
        (20, "I", 63, 200),  # header of the entry
        (20, "I", 1 << 31, 200),
        (24, "Q", 1 << 63, 200),  # padded size
        (6, "H", 8, 200),  # header of the container
        (8, "Q", 100, 200),
        (16, "H", 7, 209),  # kind
    ],
)
def test_inconsistent_fatbin_is_refused(
    driver: Driver, name: str, at: int, field: str, value: int, code: int
) -> None:
    result = load(driver, patch_image(name, at, field, value))
    assert result.code == code
    assert result.error.startswith(b"error   : ")
    if code == 999:
        assert b"Uncompress failed" in result.error


def test_truncated_file_is_refused(driver: Driver, tmp_path: Path) -> None:
    """For a file the size is known; in memory only the header tells it."""
    whole = (DATA / "none.fatbin").read_bytes()
    path = tmp_path / "cut.fatbin"
    for size in (3, 4, 15, 16, 40, len(whole) - 1):
        path.write_bytes(whole[:size])
        assert driver.result("cuModuleLoad", ctypes.byref(ctypes.c_void_p()), str(path).encode()) == 200
    wrapper = struct.pack("<IIQQ", 0x466243B1, 1, 0xDEAD, 0)  # pointers in a file are not followed
    path.write_bytes(wrapper)
    assert driver.result("cuModuleLoad", ctypes.byref(ctypes.c_void_p()), str(path).encode()) == 200


def test_missing_decompression_library_is_named(compile_c: Callable[..., Path]) -> None:
    program = compile_c(
        "no_library", HERE / "programs" / "no_library.c", *READER,
        flags=("-D_GNU_SOURCE", f"-I{ROOT}/sim"), links=("-ldl", "-pthread"),
    )  # fmt: skip

    def said(name: str) -> str:
        return subprocess.run(
            [program, DATA / f"{name}.fatbin"], capture_output=True, text=True, check=True
        ).stdout

    assert "libzstd1" in said("size")
    assert "liblz4-1" in said("speed")
    assert said("none") == "read\n"


@pytest.mark.parametrize("seed", [1, 2026])
def test_fatbin_reader_passes_sanitizers(compile_c: Callable[..., Path], seed: int) -> None:
    """For a longer run, start the program with a larger count."""
    program = compile_c(
        "fatbin", HERE / "programs" / "fatbin.c", *READER,
        flags=("-D_GNU_SOURCE", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover", f"-I{ROOT}/sim"),
        links=("-ldl", "-pthread"),
    )  # fmt: skip
    files = sorted(map(str, DATA.glob("*.fatbin")))
    result = subprocess.run(
        [program, "5000", str(seed), *files], capture_output=True, text=True, timeout=120, check=False
    )
    assert result.returncode == 0, result.stderr
    counts = {name: int(count) for name, count in map(str.split, result.stdout.splitlines())}
    assert all(counts[name] > 50 for name in ("text", "nothing", "malformed", "corrupt")), counts


@pytest.mark.parametrize(
    ("image", "code", "log"),
    [
        (b"hello world", 200, b"is not recognized"),
        (b"\x01\x02\x03\x04", 200, b"is not recognized"),
        (b"", 200, b"is not recognized"),
        (b"x " + kernel("a"), 200, b"is not recognized"),
        (b"//x\n.visible .entry a() { ret; }", 200, b"is not recognized"),
        (b".version", 218, b"line 1; fatal   : Missing .version directive at start of file"),
        (b".version 8.0\n", 218, b"line 2; fatal   : Missing .target directive at start of file"),
        (b".version 8.0\n.target foo\n", 218, b"line 2; fatal   : Target architecture not defined"),
        (kernel("a", "99.9"), 222, b"line 1; fatal   : Unsupported .version 99.9; current version is '"),
        (kernel("a", "8.6", "sm_100"), 218, b"SM version specified by .target is higher"),
        (kernel("a", "8.6", "sm_80a"), 218, b"cannot be compiled to future architecture"),
        (fatbin(Entry(PTX, 90, b"bogus;")), 218, b"Missing .version directive"),
        (fatbin(Entry(PTX, 90, kernel("a", "8.6", "sm_100"))), 218, b"SM version specified"),
        (fatbin(Entry(PTX, 80, kernel("a")), Entry(PTX, 90, kernel("b", "99.9"))), 222, b"Unsupported"),
    ],
)
def test_bad_image_returns_observed_code(driver: Driver, image: bytes, code: int, log: bytes) -> None:
    result = load(driver, image)
    assert result.code == code, result.error
    assert log in result.error
    assert result.error_size == len(result.error) + 1
    assert (result.info, result.info_size) == (b"", 0)
    library = ctypes.c_void_p()
    assert (
        driver.result("cuLibraryLoadData", ctypes.byref(library), image, None, None, 0, None, None, 0) == code
    )


@pytest.mark.parametrize("before", [b"\n\n ", b"//x\n", b"/* x\n */", b"\t//a\n/*b*/\r\n"])
def test_ptx_may_begin_with_blanks_and_comments(driver: Driver, before: bytes) -> None:
    assert load_and_list(driver, before + kernel("a", target="sm_90a")) == "a"


def test_refused_instruction_is_reported_with_its_line(driver: Driver) -> None:
    text = PTX_HEAD + ".visible .entry bad()\n{\n    frobnicate.u32 %r1;\n    ret;\n}\n"
    result = load(driver, text.encode())
    assert result.code == 218
    assert result.error.startswith(b"ptxas application ptx input, line 6; error   : ")
    assert b"frobnicate" in result.error
    assert result.error.endswith(b"\nptxas fatal   : Ptx assembly aborted due to errors")


SKIPPED = (
    ".section .debug_str {{ .b8 1{} }}",
    '.file 1 "a("{}',
    '.file 1 "a"\n.loc 1 1 1{}',
    '.pragma "a"{};',
)


@pytest.mark.parametrize("part", SKIPPED)
@pytest.mark.parametrize("bracket", ["", "(", ")", "[", "{", "}", "([)]"])
def test_unbalanced_bracket_in_skipped_part_refused(driver: Driver, part: str, bracket: str) -> None:
    """ptxas refuses all of them. A reader that counts brackets would miss the globals behind such a part."""
    text = kernel("a").replace(b".visible", part.format(bracket).encode() + b"\n.global .u32 kept;\n.visible")
    assert load(driver, text).code == (218 if bracket else 0)


def test_successful_load_leaves_error_log_empty(driver: Driver) -> None:
    result = load(driver, kernel("a"), (VERBOSE, 1))
    assert (result.code, result.error, result.error_size) == (0, b"", 0)
    assert result.info.startswith(
        b"ptxas info    : 0 bytes gmem\nptxas info    : Compiling entry function 'a' for"
    )
    assert result.info_size == len(result.info) + 1
    assert result.milliseconds > 0
    assert load(driver, kernel("a")).info == b""


@pytest.mark.parametrize("room", [1, 2, 10])
def test_jit_log_is_cut_to_buffer(driver: Driver, room: int) -> None:
    result = load(driver, b".version", room=room)
    assert result.error == b"ptxas application"[: room - 1]
    assert result.error_size == (room if room > 1 else 0)


def test_jit_option_values_are_checked(driver: Driver) -> None:
    module, image, log = ctypes.c_void_p(), kernel("a"), ctypes.create_string_buffer(8)

    def result(*options: tuple[int, int | None]) -> int:
        return driver.result(
            "cuModuleLoadDataEx", ctypes.byref(module), image, len(options),
            (ctypes.c_int * len(options))(*(option for option, _ in options)),
            (ctypes.c_void_p * len(options))(*(value for _, value in options)),
        )  # fmt: skip

    assert result((99, 0)) == 1
    assert result((-1, 0)) == 1
    assert driver.result("cuModuleLoadDataEx", ctypes.byref(module), image, 1, None, None) == 1
    assert [result((TARGET, value)) for value in (77, 90, 100, 80)] == [1, 0, 300, 218]
    address = ctypes.addressof(log)
    assert result((ERROR_LOG, address)) == 1  # a log without its size, a size without its log
    assert result((ERROR_LOG_SIZE, 8)) == 1
    assert result((ERROR_LOG, None), (ERROR_LOG_SIZE, 8)) == 1
    assert result((ERROR_LOG, address), (ERROR_LOG_SIZE, 8)) == 0


def test_folder_or_missing_file_returns_observed_code(driver: Driver, tmp_path: Path) -> None:
    module = ctypes.c_void_p()
    assert driver.result("cuModuleLoad", ctypes.byref(module), str(tmp_path / "none").encode()) == 301
    assert driver.result("cuModuleLoad", ctypes.byref(module), str(tmp_path).encode()) == 2
    assert driver.result("cuModuleLoad", ctypes.byref(module), None) == 1
    assert driver.result("cuModuleLoadData", None, kernel("a")) == 1
    assert driver.result("cuModuleLoadData", ctypes.byref(module), None) == 1


@pytest.mark.parametrize(
    "image",
    [b"\x7fELF\2\1\1" + bytes(57), *((DATA / f"{name}.fatbin").read_bytes() for name in ("machine", "lto"))],
    ids=["cubin", "machine", "lto"],
)
def test_machine_code_is_explained_once(sim_path: Path, image: bytes) -> None:
    """numba-cuda with nvJitLink, and cuRAND's host functions on sm_90, load nothing else. Their own messages are "no
    kernel image is available", and none."""
    code = f"""
start()
for _ in range(2):
    answer(driver.result("cuModuleLoadData", ctypes.byref(ctypes.c_void_p()), {image!r}))
"""
    outcome = isolated(sim_path, code)
    assert outcome.answers == [209, 209]
    (line,) = outcome.errors.splitlines()
    assert line.startswith("CPU driver: the program loads machine code") and "[cu13]" in line


LIBRARY = """
static const unsigned char fatbin[] = {{{bytes}}};
const struct {{ unsigned magic, version; const void *data, *name; }} image = {{0x466243b1, 1, fatbin, 0}};
"""


def test_library_whose_machine_code_cannot_run_is_named(sim_path: Path, tmp_path: Path) -> None:
    """cuRAND loads nvcc's wrapper of LTO IR, passes no log, and tells its caller a number only."""
    library, source = tmp_path / "libvendor.so", tmp_path / "vendor.c"
    source.write_text(LIBRARY.format(bytes=",".join(map(str, (DATA / "lto.fatbin").read_bytes()))))
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", library], check=True)
    code = f"""
start()
image = ctypes.addressof(ctypes.c_char.in_dll(ctypes.CDLL({str(library)!r}), "image"))
nothing = [None, None, 0, None, None, 0]
answer(driver.result("cuLibraryLoadData", ctypes.byref(ctypes.c_void_p()), ctypes.c_void_p(image), *nothing))
"""
    outcome = isolated(sim_path, code)
    assert outcome.answers == [209]
    (line,) = outcome.errors.splitlines()
    assert line.startswith(f"CPU driver: {library} loads machine code or LTO IR")
