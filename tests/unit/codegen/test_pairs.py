"""semantics/hip_and_cuda.toml: a mistake in it is one line that names the row."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchguard.codegen.emit.hip_driver import emit_hip_driver
from benchguard.codegen.errors import CodegenError
from benchguard.codegen.headers import headers_in
from benchguard.codegen.model import Api
from benchguard.codegen.pairs import PAIRS, Pair, Pairs, arguments_of, load_pairs
from benchguard.codegen.parse import parse_headers
from benchguard.codegen.semantics import Interception, load_semantics
from benchguard.codegen.shared_hooks import share_hooks

from .conftest import GOLDEN
from .generate_golden import golden_hip_headers

TEXT = (GOLDEN / "hip_and_cuda.toml").read_text()


@pytest.fixture(scope="module")
def hip() -> Api:
    return parse_headers(golden_hip_headers())


@pytest.fixture(scope="module")
def cuda() -> Api:
    return parse_headers(headers_in(GOLDEN / "include"))


def pairs_of(folder: Path, text: str) -> Pairs:
    path = folder / PAIRS.name
    path.write_text(text)
    return load_pairs(path)


def shared(pairs: Pairs, hip: Api, cuda: Api) -> dict[str, Interception]:
    own = load_semantics(GOLDEN / "hip_semantics.toml", hip)
    return share_hooks(pairs, hip, own, cuda, load_semantics(GOLDEN / "semantics.toml", cuda))


def test_driver_row_shares_the_hook_of_its_cuda_function(hip: Api, cuda: Api, tmp_path: Path) -> None:
    interceptions = shared(pairs_of(tmp_path, TEXT), hip, cuda)
    assert interceptions["hipInit"].wrap_when_recording == "nb_wrap_when_recording_init"
    assert interceptions["hipMalloc"].hooks == ()  # cuMemAlloc_v2 has no hook


def test_own_hook_of_a_hip_function_is_kept(hip: Api, cuda: Api, tmp_path: Path) -> None:
    text = TEXT.replace('cuInit = "hipInit"\n', 'cuInit = "hipInit"\ncuLaunchKernel = "hipLaunchKernel"\n')
    interceptions = shared(pairs_of(tmp_path, text), hip, cuda)
    assert interceptions["hipLaunchKernel"].wrap == "nb_wrap_hip_launch_stub"
    assert interceptions["hipLaunchKernel"].shared is None


def test_missing_arguments_are_zero(hip: Api, cuda: Api, tmp_path: Path) -> None:
    hook = shared(pairs_of(tmp_path, TEXT), hip, cuda)["hipMallocHost"].shared
    assert hook is not None
    assert hook.arguments == ("(CUmodule *)ptr", "NULL")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("hipMallocHost =", "hipMemcpyAsync =", "hipMemcpyAsync has nb_wrap_when_recording_hip_copy_async already"),
        ('to = "cuModuleLoadData"', 'to = "cuMemAlloc_v2"', "hipMallocHost: cuMemAlloc_v2 has no hook"),
        ('[driver]\ncuInit = "hipInit"', '[driver]\ncuInit = "hipGetDevicePropertiesR0600"',
         "hipGetDevicePropertiesR0600: cuInit has 1 parameters; give its arguments"),
    ],
)  # fmt: skip
def test_wrong_hook_row_is_named(
    hip: Api, cuda: Api, tmp_path: Path, old: str, new: str, complaint: str
) -> None:
    assert old in TEXT
    pairs = pairs_of(tmp_path, TEXT.replace(old, new))
    with pytest.raises(CodegenError) as excinfo:
        shared(pairs, hip, cuda)
    assert complaint in str(excinfo.value)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('cuMemAlloc_v2 = "hipMalloc"', 'cuMemAlloc = "hipMalloc"', "cuMemAlloc: dptr: no pair of CUdeviceptr_v1 *"),
        ('cuMemAlloc_v2 = "hipMalloc"', 'cuMemAlloc_v2 = "hipMaloc"', "hip/hip_runtime_api.h 7.1 declares no"),
        ('cuInit = "hipInit"\ncu', 'cuInti = "hipInit"\ncu', "cuInti: cuda.h 13.0 declares no such function"),
        ('cuInit = "hipInit"\ncu', 'cuInit = { to = "hipInit", arguments = ["1", "2"] }\ncu', "1 parameters, not 2"),
        ("[driver]", "[drivers]", "unknown field `drivers`"),
    ],
)  # fmt: skip
def test_wrong_driver_row_is_named(
    hip: Api, cuda: Api, tmp_path: Path, old: str, new: str, complaint: str
) -> None:
    assert old in TEXT
    with pytest.raises(CodegenError) as excinfo:
        emit_hip_driver(hip, cuda, pairs_of(tmp_path, TEXT.replace(old, new)))
    assert complaint in str(excinfo.value)


def test_conversion_function_is_called_where_types_differ(hip: Api, cuda: Api, tmp_path: Path) -> None:
    pairs = pairs_of(tmp_path, TEXT)
    launch = cuda.by_name["cuLaunchHostFunc"]
    copy = hip.by_name["hipMemcpyAsync"]
    pair = Pair("hipMemcpyAsync", ["NULL", "userData", "0", "hipMemcpyDefault", "hStream"])
    assert arguments_of(pair, launch, copy, pairs)[-1] == "nb_hip_stream(hStream)"
