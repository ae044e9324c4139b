"""Reading CUDA's own headers, of every version on this machine."""

from __future__ import annotations

import pytest

from benchguard.codegen.entry_points import Typedef, entry_points
from benchguard.codegen.errors import CodegenError
from benchguard.codegen.headers import headers_in
from benchguard.codegen.model import Api, CType, Function, Shape, split_variant
from benchguard.codegen.parse import parse_headers

from .conftest import GOLDEN, installed_headers

# Counted in the headers of 15 wheels, 12.0 to 13.5, by a prototype that shares no code with this one.
FUNCTIONS = {12000: 535, 12080: 611, 12090: 616, 13000: 634, 13050: 685}


@pytest.mark.full
def test_headers_of_cuda_12_and_13_are_found() -> None:
    """The test extra installs both wheels; without them the tests below would say less than they claim."""
    assert {headers.version // 1000 for headers in installed_headers()} == {12, 13}


def test_every_function_is_read(api: Api) -> None:
    """As many functions as were counted otherwise, each with an entry point of one signature."""
    if api.version not in FUNCTIONS:
        pytest.skip(f"functions of CUDA {api.version} were not counted otherwise")
    assert len(api.functions) == FUNCTIONS[api.version]
    assert {entry.symbol for entry in api.entry_points} == set(api.by_name)


def test_old_abis_keep_their_own_prototypes(api: Api) -> None:
    """cuMemAlloc without a suffix takes 32-bit sizes and addresses: _v2's prototype would corrupt memory."""
    old, new = (
        [each.declaration for each in api.by_name[name].parameters]
        for name in ("cuMemAlloc", "cuMemAlloc_v2")
    )
    assert old == ["CUdeviceptr_v1 *dptr", "unsigned int bytesize"]
    assert new == ["CUdeviceptr *dptr", "size_t bytesize"]
    assert api.by_name["cuMemAlloc"].parameters[0].type.pointee is not None
    assert api.by_name["cuMemAlloc"].parameters[0].type.pointee.canonical == "unsigned int"
    assert api.by_name["cuMemAlloc_v2"].parameters[0].type.canonical == "unsigned long long *"


def test_source_names_are_the_linked_symbols(api: Api) -> None:
    """A call written cuMemAlloc is cuMemAlloc_v2; one that no macro renames is itself."""
    assert api.source_names["cuMemAlloc"] == "cuMemAlloc_v2"
    assert api.source_names["cuGetProcAddress"] == "cuGetProcAddress_v2"
    assert api.source_names["cuInit"] == "cuInit"


def test_entry_points_depend_on_the_version(api: Api) -> None:
    """The versions and forms that cuGetProcAddress chooses among."""
    rows = [(e.version, e.per_thread, e.symbol) for e in api.entry_points if e.base == "cuMemcpyHtoD"]
    assert rows == [
        (2000, False, "cuMemcpyHtoD"),
        (3020, False, "cuMemcpyHtoD_v2"),
        (7000, True, "cuMemcpyHtoD_v2_ptds"),
    ]


def test_forms_of_a_function_share_its_section(api: Api) -> None:
    """The header declares default-stream forms and old ABIs a thousand lines further down."""
    forms = ["cuMemAlloc", "cuMemAlloc_v2"], ["cuLaunchKernel", "cuLaunchKernel_ptsz"]
    names = [function.name for function in api.functions]
    for chapter, group in zip(("Memory Management", "Execution Control"), forms, strict=True):
        assert {api.by_name[name].section for name in group} == {chapter}
        position = names.index(group[0])
        assert names[position : position + 2] == group


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("cuInit", ("cuInit", 1, "")),
        ("cuMemAlloc_v2", ("cuMemAlloc", 2, "")),
        ("cuMemcpyHtoD_v2_ptds", ("cuMemcpyHtoD", 2, "_ptds")),
        ("cuLaunchKernel_ptsz", ("cuLaunchKernel", 1, "_ptsz")),
    ],
)
def test_function_names_split_into_variants(name: str, parts: tuple[str, int, str]) -> None:
    assert split_variant(name) == parts


def test_typedefs_resolve_to_base_types() -> None:
    """Spellings from the header's own name down; shape and word size follow the last."""
    api = parse_headers(headers_in(GOLDEN / "include"))
    types = {p.name: p.type for p in api.by_name["cuMemOpen"].parameters}
    pointee = types["pdptr"].pointee
    assert pointee is not None
    assert pointee.spellings == ("CUdeviceptr", "CUdeviceptr_v2", "unsigned long long")
    assert types["handle"].shape is Shape.AGGREGATE
    assert api.by_name["cuLaunchHostFunc"].parameters[1].type.shape is Shape.FUNCTION_POINTER


def _function(name: str, returns: str = "int") -> Function:
    return Function(name, "", CType((returns,), returns, Shape.INTEGER), ())


def test_headers_of_two_releases_are_refused() -> None:
    """A typedef without its function, or of another signature: the files do not belong together."""
    with pytest.raises(CodegenError, match=r"cudaTypedefs\.h has 1 versions of cuInit but cuda\.h has 0"):
        entry_points([Typedef("cuInit", 2000, "", "int()")], [])
    with pytest.raises(CodegenError, match=r"PFN_cuInit_v2000 is long\(\) but cuInit is int\(\)"):
        entry_points([Typedef("cuInit", 2000, "", "long()")], [_function("cuInit")])
