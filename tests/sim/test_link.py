"""cuLink*: several texts become one. Codes and messages are those of driver 580.159 on an H200."""

from __future__ import annotations

import ctypes
import struct
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT

from .conftest import SAXPY, Driver
from .test_images import DATA, HERE, PTX, Entry, fatbin, kernel

CUBIN_INPUT, PTX_INPUT, FAT_INPUT, OBJECT_INPUT, LIBRARY_INPUT, NVVM_INPUT = range(6)
HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"


@dataclass
class Link:
    added: list[int]
    code: int
    product: bytes
    error: str
    info: str


def link(driver: Driver, *inputs: bytes | tuple[int, bytes], log: int = 2000) -> Link:
    """Create a link, add all inputs as in1, in2, ..., complete and destroy it."""
    error, info = ctypes.create_string_buffer(log), ctypes.create_string_buffer(log)
    options = (ctypes.c_int * 5)(5, 6, 3, 4, 12)
    values = (ctypes.c_void_p * 5)(ctypes.addressof(error), log, ctypes.addressof(info), log, 1)
    state, product, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
    driver("cuLinkCreate_v2", 5, options, values, ctypes.byref(state))
    added = []
    for number, arguments in enumerate(inputs, 1):
        kind, data = (PTX_INPUT, arguments) if isinstance(arguments, bytes) else arguments
        call = (state, kind, data, ctypes.c_size_t(len(data)), b"in%d" % number, 0, None, None)
        added.append(driver.result("cuLinkAddData_v2", *call))
    code = driver.result("cuLinkComplete", state, ctypes.byref(product), ctypes.byref(size))
    image = ctypes.string_at(product.value or 0, size.value) if code == 0 else b""
    driver("cuLinkDestroy", state)
    assert (values[1] or 0) == (len(error.value) + 1 if error.value else 0)
    return Link(added, code, image, error.value.decode(), info.value.decode())


def load(driver: Driver, *inputs: bytes | tuple[int, bytes]) -> ctypes.c_void_p:
    result = link(driver, *inputs)
    assert (result.code, any(result.added)) == (0, False), result.error
    assert result.product.endswith(b"\0")
    return driver.handle("cuModuleLoadData", result.product)


def run(driver: Driver, module: ctypes.c_void_p, name: str, *arguments: int) -> int:
    """Run a kernel and return the u32 that it stores at its first parameter."""
    function = driver.handle("cuModuleGetFunction", module, name.encode())
    to = driver.allocate(4)
    assert driver.launch(function, [to, *map(ctypes.c_uint32, arguments)]) == 0
    return int(struct.unpack("<I", driver.read(to, 4))[0])


def read_global(driver: Driver, module: ctypes.c_void_p, name: str) -> int:
    address = ctypes.c_uint64()
    driver("cuModuleGetGlobal_v2", ctypes.byref(address), None, module, name.encode())
    return int(struct.unpack("<I", driver.read(address, 4))[0])


def write_reader(name: str, symbol: str, more: str = "") -> bytes:
    """PTX of a kernel that stores the value of a .u32 global."""
    return f"""{HEAD}{more}
.visible .entry {name}(.param .u64 to)
{{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [to];
    ld.global.u32 %r1, [{symbol}];
    st.global.u32 [%rd1], %r1;
    ret;
}}
""".encode()


def write_caller(name: str, callee: str, more: str = "") -> bytes:
    """PTX of a kernel that stores callee(argument)."""
    return f"""{HEAD}{more}
.visible .entry {name}(.param .u64 to, .param .u32 value)
{{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [to];
    ld.param.u32 %r1, [value];
    {{
    .param .b32 argument;
    .param .b32 result;
    st.param.b32 [argument], %r1;
    call.uni (result), {callee}, (argument);
    ld.param.b32 %r2, [result];
    }}
    st.global.u32 [%rd1], %r2;
    ret;
}}
""".encode()


def write_function(linkage: str, name: str, operation: str) -> str:
    """PTX of u32 name(u32 value), where `operation` computes %r2 from %r1."""
    return f"""{linkage} .func (.param .b32 result) {name}(.param .b32 value)
{{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [value];
    {operation}
    st.param.b32 [result], %r2;
    ret;
}}
"""


def write_prototype(name: str) -> str:
    return f".extern .func (.param .b32 result) {name}(.param .b32 value);\n"


def test_separately_compiled_nvcc_objects_link(driver: Driver) -> None:
    parts = [(DATA / f"{name}.ptx").read_bytes() for name in ("caller", "callee")]
    for order in (parts, parts[::-1]):
        module = load(driver, *order)
        # answer(7) = 30 * 7 + 3, base = 1000, twice(5) = 2 * 5: two static functions and two static globals
        assert run(driver, module, "call", 7) == 213 + 1000 + 10
        assert run(driver, module, "call", 7) == 283 + 1000 + 10  # and `calls` is a global
    fat = [(FAT_INPUT, (DATA / f"{name}.fatbin").read_bytes()) for name in ("caller", "callee")]
    assert run(driver, load(driver, *fat), "call", 1) == 33 + 1000 + 10


def test_references_to_other_text_resolve(driver: Driver) -> None:
    uses = write_caller("call", "triple", write_prototype("triple"))
    defines = (HEAD + write_function(".visible", "triple", "mul.lo.u32 %r2, %r1, 3;")).encode()
    for order in ([uses, defines], [defines, uses]):
        assert run(driver, load(driver, *order), "call", 14) == 42
    uses = write_reader("get", "value", ".extern .global .align 4 .u32 value;\n")
    defines = (HEAD + ".visible .global .align 4 .u32 value = 77;\n").encode()
    for order in ([uses, defines], [defines, uses]):
        module = load(driver, *order)
        assert run(driver, module, "get") == read_global(driver, module, "value") == 77


def test_initializers_may_reference_each_other(driver: Driver) -> None:
    """Each text contains the other's address."""
    one = HEAD + ".extern .global .u64 q;\n.visible .global .u64 p = q;\n"
    two = HEAD + ".extern .global .u64 p;\n.visible .global .u64 q = p;\n"
    module = load(driver, one.encode(), two.encode())
    addresses = [
        driver.number("cuModuleGetGlobal_v2", None, module, name, kind=ctypes.c_uint64)
        for name in (b"p", b"q")
    ]
    held = [struct.unpack("<Q", driver.read(ctypes.c_uint64(address), 8))[0] for address in addresses]
    assert held == addresses[::-1]


def test_static_names_stay_separate(driver: Driver) -> None:
    texts = [
        write_caller(
            f"call{number}",
            "helper",
            f".global .align 4 .u32 offset = {number};\n"
            + write_function("", "helper", "ld.global.u32 %r2, [offset];\n    mad.lo.u32 %r2, %r1, 10, %r2;"),
        )
        for number in (1, 2, 3)
    ]
    module = load(driver, *texts)
    assert [run(driver, module, f"call{number}", 5) for number in (1, 2, 3)] == [51, 52, 53]
    assert read_global(driver, module, "offset") == 1  # the first keeps its name


def test_static_name_yields_to_visible_name(driver: Driver) -> None:
    static = write_reader("get1", "value", ".global .align 4 .u32 value = 5;\n")
    visible = write_reader("get2", "value", ".visible .global .align 4 .u32 value = 9;\n")
    for order in ([static, visible], [visible, static]):
        module = load(driver, *order)
        assert (run(driver, module, "get1"), run(driver, module, "get2")) == (5, 9)
        assert read_global(driver, module, "value") == 9


def test_static_name_is_invisible_to_other_texts(driver: Driver) -> None:
    result = link(
        driver,
        write_reader("get", "value", ".extern .global .align 4 .u32 value;\n"),
        (HEAD + ".global .align 4 .u32 value = 5;\n").encode(),
    )
    assert (result.added, result.code) == ([0, 0], 300)


def test_static_function_may_have_an_opcode_name(driver: Driver) -> None:
    texts = [
        write_caller(
            f"call{number}",
            "add",
            ".func (.param .b32 result) add(.param .b32 value);\n"
            + write_function(
                "", "add", f"@!%p1 add.u32 %r2, %r1, {number};\n    add.u32 %r2, %r2, 1;"
            ).replace(".reg .b32", ".reg .pred %p<2>;\n    setp.ne.u32 %p1, 0, 0;\n    .reg .b32", 1),
        )
        for number in (10, 20)
    ]
    module = load(driver, *texts)
    assert [run(driver, module, f"call{number}", 1) for number in (10, 20)] == [12, 22]


def test_weak_definition_yields(driver: Driver) -> None:
    def weak(value: int) -> bytes:
        body = write_function(".weak", "pick", f"add.u32 %r2, %r1, {value};")
        return write_caller(f"call{value}", "pick", f".weak .global .align 4 .u32 gv = {value};\n" + body)

    strong = (
        HEAD
        + ".visible .global .align 4 .u32 gv = 9;\n"
        + write_function(".visible", "pick", "add.u32 %r2, %r1, 9;")
    )
    for order, value in (
        ([weak(1), weak(2)], 1),
        ([weak(2), weak(1)], 2),
        ([weak(1), weak(2), strong.encode()], 9),
        ([strong.encode(), weak(1), weak(2)], 9),
    ):
        module = load(driver, *order)
        assert read_global(driver, module, "gv") == value
        assert [run(driver, module, f"call{number}", 100) for number in (1, 2)] == [100 + value] * 2


def test_common_globals_are_merged(driver: Driver) -> None:
    common = ".common .global .align 4 .u32 gv;\n"
    module = load(driver, write_reader("get1", "gv", common), write_reader("get2", "gv", common))
    assert read_global(driver, module, "gv") == 0
    strong = (HEAD + ".visible .global .align 4 .u32 gv = 9;\n").encode()
    module = load(driver, write_reader("get1", "gv", common), strong)
    assert run(driver, module, "get1") == 9
    size = ctypes.c_size_t()
    large = (HEAD + ".common .global .align 4 .b8 gv[64];\n").encode()
    module = load(driver, write_reader("get1", "gv", common), large)
    driver("cuModuleGetGlobal_v2", None, ctypes.byref(size), module, b"gv")
    assert size.value == 64


def test_dynamic_shared_memory_is_shared_between_texts(driver: Driver) -> None:
    def text(number: int) -> bytes:
        return f"""{HEAD}.extern .shared .align 16 .b8 memory[];
.shared .align 4 .u32 own;
.visible .entry k{number}(.param .u64 to)
{{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [to];
    mov.u32 %r1, {number};
    st.shared.u32 [own], %r1;
    st.shared.u32 [memory], 100;
    ld.shared.u32 %r1, [memory];
    ld.shared.u32 %r2, [own];
    add.u32 %r1, %r1, %r2;
    st.global.u32 [%rd1], %r1;
    ret;
}}
""".encode()

    module = load(driver, text(1), text(2))
    for number in (1, 2):
        kernel_handle = driver.handle("cuModuleGetFunction", module, b"k%d" % number)
        to = driver.allocate(4)
        pointers = (ctypes.c_void_p * 1)(ctypes.addressof(to))
        driver("cuLaunchKernel", kernel_handle, 1, 1, 1, 1, 1, 1, 64, None, pointers, None)
        assert struct.unpack("<I", driver.read(to, 4)) == (100 + number,)


def test_undefined_references_are_all_reported(driver: Driver) -> None:
    result = link(
        driver,
        write_reader("get", "value", ".extern .global .align 4 .u32 value;\n.extern .global .u32 unused;\n"),
        write_caller("call", "absent", write_prototype("absent") + write_prototype("unused2")),
    )
    assert (result.added, result.code) == ([0, 0], 300)
    assert result.error.splitlines() == [
        "error   : Undefined reference to 'value' in 'in1'",
        "error   : Undefined reference to 'absent' in 'in2'",
    ]


def test_undefined_function_fails_load_but_undefined_global_loads(driver: Driver) -> None:
    """A missing function is an error. A global that is only declared becomes a definition."""
    missing = write_caller("call", "absent", write_prototype("absent"))
    assert driver.result("cuModuleLoadData", ctypes.byref(ctypes.c_void_p()), missing) == 218
    text = write_reader("get", "value", ".extern .global .align 4 .u32 value;\n")
    assert run(driver, driver.handle("cuModuleLoadData", text), "get") == 0


def test_duplicate_definition_fails_link(driver: Driver) -> None:
    result = link(driver, kernel("a"), kernel("a"), kernel("b"))
    assert (result.added, result.code) == ([0, 300, 0], 300)
    assert result.error == "error   : Multiple definition of 'a' in 'in2', first defined in 'in1'"


def test_conflicting_declarations_fail_link(driver: Driver) -> None:
    wide = (HEAD + ".extern .global .align 8 .u64 ev;\n.visible .global .u64 z = ev;\n").encode()
    narrow = (HEAD + ".visible .global .align 4 .u32 ev = 5;\n").encode()
    result = link(driver, wide, narrow)
    assert (result.added, result.code) == ([0, 300], 300)
    assert result.error == "error   : Size doesn't match for 'ev' in 'in2', first specified in 'in1'"
    result = link(
        driver,
        write_caller("call", "f", write_prototype("f")),
        (HEAD + ".visible .func f() { ret; }\n").encode(),
    )
    assert (result.added, result.code) == ([0, 300], 300)
    assert result.error.startswith("error   : Prototype doesn't match for 'f' in 'in2', first ")


@pytest.mark.parametrize(
    ("given", "code", "complete"),
    [
        ((PTX_INPUT, b"bogus;"), 200, 0),
        ((PTX_INPUT, HEAD.encode() + b"bogus;"), 218, 0),
        ((PTX_INPUT, kernel("b") + b"trailing"), 218, 0),
        ((PTX_INPUT, kernel("b", "99.9")), 222, 0),
        ((PTX_INPUT, kernel("b", "8.6", "sm_100")), 218, 0),
        ((PTX_INPUT, b""), 1, 0),
        ((FAT_INPUT, b"garbage "), 200, 0),
        ((FAT_INPUT, fatbin(Entry(PTX, 90, kernel("b")))[:60]), 200, 0),
        ((FAT_INPUT, (DATA / "machine.fatbin").read_bytes()), 209, 0),
        ((CUBIN_INPUT, b"garbage "), 200, 200),
        ((CUBIN_INPUT, b"\x7fELF" + bytes(60)), 209, 209),
        ((OBJECT_INPUT, b"garbage "), 200, 0),
        ((OBJECT_INPUT, b"\x7fELF" + bytes(60)), 801, 0),
        ((LIBRARY_INPUT, b"!<arch>\n"), 801, 0),
        ((NVVM_INPUT, b"garbage "), 221, 221),
        ((6, kernel("b")), 1, 0),
        ((99, kernel("b")), 1, 0),
    ],
)
def test_invalid_input_is_refused(driver: Driver, given: tuple[int, bytes], code: int, complete: int) -> None:
    """Earlier inputs still link, unless the refused input was machine code."""
    result = link(driver, kernel("a"), given)
    assert (result.added, result.code) == ([0, code], complete)
    assert (result.error == "") == (code == 1)
    if complete == 0:
        module = driver.handle("cuModuleLoadData", result.product)
        assert driver.handle("cuModuleGetFunction", module, b"a").value


def test_error_in_input_reports_line_and_instruction(driver: Driver) -> None:
    text = HEAD + ".visible .entry bad()\n{\n    frobnicate.u32 %r1;\n    ret;\n}\n"
    result = link(driver, kernel("a"), text.encode())
    assert result.added == [0, 218]
    assert "line 6; error   : " in result.error
    assert "frobnicate" in result.error


def test_ptx_input_ends_at_nul(driver: Driver) -> None:
    assert link(driver, kernel("b") + b"\0\0bogus").code == 0


def test_link_uses_newest_version_and_target(driver: Driver) -> None:
    product = link(driver, kernel("a", "7.0", "sm_80"), kernel("b", "8.3", "sm_90a"), kernel("c")).product
    assert product.startswith(b".version 8.3\n.target sm_90a\n")


def test_link_log_lists_compiled_kernels(driver: Driver) -> None:
    result = link(driver, kernel("a"), kernel("b"))
    assert "Compiling entry function 'a'" in result.info
    assert "Compiling entry function 'b'" in result.info
    assert result.error == ""


def test_link_without_inputs_succeeds(driver: Driver) -> None:
    assert driver.handle("cuModuleLoadData", link(driver).product).value


def test_link_product_loads_as_library(driver: Driver) -> None:
    result = link(driver, SAXPY.encode(), kernel("a"))
    library = driver.handle("cuLibraryLoadData", result.product, None, None, 0, None, None, 0)
    assert driver.number("cuLibraryGetKernelCount", library, kind=ctypes.c_uint) == 2


def test_link_files_are_checked(driver: Driver, tmp_path: Path) -> None:
    state = ctypes.c_void_p()
    driver("cuLinkCreate_v2", 0, None, None, ctypes.byref(state))

    def add(kind: int, path: str | None) -> int:
        name = None if path is None else path.encode()
        return driver.result("cuLinkAddFile_v2", state, kind, name, 0, None, None)

    (tmp_path / "a.ptx").write_bytes(kernel("a"))
    assert add(PTX_INPUT, str(tmp_path / "none.ptx")) == 301
    assert add(PTX_INPUT, None) == 1
    assert add(PTX_INPUT, str(tmp_path)) == 2
    assert add(PTX_INPUT, str(tmp_path / "a.ptx")) == 0
    assert add(FAT_INPUT, str(DATA / "size.fatbin")) == 0
    product = ctypes.c_void_p()
    assert driver.result("cuLinkComplete", state, ctypes.byref(product), None) == 0
    module = driver.handle("cuModuleLoadData", product)
    for name in (b"a", b"store"):
        assert driver.handle("cuModuleGetFunction", module, name).value
    driver("cuLinkDestroy", state)


def test_link_calls_out_of_order_are_refused(driver: Driver) -> None:
    state, product, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
    text = kernel("a")

    def add(to: ctypes.c_void_p | None, data: bytes | None, length: int, options: Sequence[int] = ()) -> int:
        return driver.result(
            "cuLinkAddData_v2", to, PTX_INPUT, data, ctypes.c_size_t(length), None, len(options),
            (ctypes.c_int * 1)(*options), (ctypes.c_void_p * 1)(0),
        )  # fmt: skip

    assert driver.result("cuLinkCreate_v2", 0, None, None, None) == 1
    assert driver.result("cuLinkCreate_v2", 1, None, None, ctypes.byref(state)) == 1
    unknown = ((ctypes.c_int * 1)(99), (ctypes.c_void_p * 1)(0))
    assert driver.result("cuLinkCreate_v2", 1, *unknown, ctypes.byref(state)) == 1
    driver("cuLinkCreate_v2", 0, None, None, ctypes.byref(state))
    assert add(None, text, len(text)) == 400
    assert add(state, None, 5) == 1
    assert add(state, text, len(text), [99]) == 1
    assert add(state, text, len(text)) == 0
    assert driver.result("cuLinkComplete", state, None, None) == 1
    driver("cuLinkComplete", state, ctypes.byref(product), ctypes.byref(size))
    assert driver.result("cuLinkComplete", state, ctypes.byref(product), ctypes.byref(size)) == 400
    assert add(state, kernel("b"), len(text)) == 1
    driver("cuLinkDestroy", state)
    assert driver.result("cuLinkDestroy", state) == 400
    assert driver.result("cuLinkDestroy", None) == 400


def test_program_with_several_objects_links_at_load(driver: Driver) -> None:
    """nvcc -rdc=true writes one fat binary per object. They are linked if no linked code fits the device."""
    parts = [
        ctypes.create_string_buffer((DATA / f"{name}.fatbin").read_bytes()) for name in ("caller", "callee")
    ]
    fatbins = (ctypes.c_void_p * 3)(*map(ctypes.addressof, parts), None)
    linked = ctypes.create_string_buffer(fatbin(), 16)
    wrapper = struct.pack("<IIQQ", 0x466243B1, 2, ctypes.addressof(linked), ctypes.addressof(fatbins))
    assert run(driver, driver.handle("cuModuleLoadFatBinary", wrapper), "call", 1) == 33 + 1000 + 10
    fatbins[1] = None
    assert driver.result("cuModuleLoadFatBinary", ctypes.byref(ctypes.c_void_p()), wrapper) == 300


@pytest.mark.full
def test_linker_passes_sanitizers(compile_c: Callable[..., Path]) -> None:
    """A longer run is the same program with a larger count."""
    engine = ROOT / "sim" / "ptx"
    program = compile_c(
        "link", HERE / "programs" / "link.c", *sorted(engine.glob("*.c")),
        flags=("-D_GNU_SOURCE", "-fsanitize=address,undefined", "-fno-sanitize-recover", f"-I{engine.parent}"),
        links=("-lm",),
    )  # fmt: skip
    texts = sorted(map(str, DATA.glob("*.ptx")))
    result = subprocess.run(
        [program, "2000", "11", *texts], capture_output=True, text=True, timeout=120, check=False
    )
    assert result.returncode == 0, result.stderr
    counts = {name: int(count) for name, count in map(str.split, result.stdout.splitlines())}
    assert all(counts[name] > 20 for name in ("linked", "text", "symbol")), counts
