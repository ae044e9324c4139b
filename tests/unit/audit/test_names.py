"""Names of errors and arguments, against the vendors' headers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchguard.audit.names import describe_arguments, error_name, is_failure, names_of, plain_name
from benchguard.codegen.emit.names_json import ERRORS, emit_names
from benchguard.codegen.errors import CodegenError
from benchguard.codegen.headers import Headers, newest_headers
from benchguard.codegen.hip import find_hip_headers
from benchguard.codegen.parse import parse_headers
from benchguard.codegen.semantics import load_semantics
from tests.conftest import ROOT


def headers_of(api: str) -> Headers:
    try:
        return newest_headers() if api == "cuda" else find_hip_headers()
    except CodegenError as error:
        pytest.skip(str(error))


@pytest.mark.full
@pytest.mark.parametrize("name", ["cuda", "hip"])
def test_every_error_of_the_header_has_its_name(name: str) -> None:
    api = parse_headers(headers_of(name))
    known = names_of(name)
    if api.version == known.version:  # if this fails: python -m benchguard.codegen names
        written: dict[str, Any] = json.loads(emit_names([(api, load_semantics(api.vendor.semantics, api))]))
        committed = json.loads((ROOT / "benchguard" / "audit" / "names.json").read_text())
        assert written[name] == committed[name]
    for error, number in api.enums[ERRORS[name]].items():
        same = [other for other, value in api.enums[ERRORS[name]].items() if value == number]
        assert api.version > known.version or error_name(name, number) in same, error


def test_names_of_both_vendors_are_their_own() -> None:
    assert (
        error_name("cuda", 2) == "CUDA_ERROR_OUT_OF_MEMORY" and error_name("hip", 2) == "hipErrorOutOfMemory"
    )
    assert error_name("cuda", 999) == "CUDA_ERROR_UNKNOWN" and error_name("cuda", 424242) == "error 424242"


def test_plain_name_drops_every_form() -> None:
    forms = (
        "cuMemAlloc_v2",
        "cuMemcpyAsync_ptsz",
        "cuMemcpyHtoD_v2_ptds",
        "hipMemcpy_spt",
        "hipGetDevicePropertiesR0600",
    )
    plain = ["cuMemAlloc", "cuMemcpyAsync", "cuMemcpyHtoD", "hipMemcpy", "hipGetDeviceProperties"]
    assert [plain_name(name) for name in forms] == plain


def test_arguments_are_decoded_by_their_roles() -> None:
    given, returned = describe_arguments("cuda", "cuMemAlloc_v2", {"dptr": 0x1000, "bytesize": 4000})
    assert (given, returned) == (["bytesize=4000"], ["dptr=0x1000"])
    given, _ = describe_arguments("cuda", "cuStreamBeginCapture_v2", {"hStream": 2, "mode": 1})
    assert given == ["hStream=per-thread", "mode=CU_STREAM_CAPTURE_MODE_THREAD_LOCAL"]
    given, _ = describe_arguments("hip", "hipMemcpy", {"dst": 1, "src": 2, "sizeBytes": 3, "kind": 1})
    assert given == ["dst=0x1", "src=0x2", "sizeBytes=3", "kind=hipMemcpyHostToDevice"]
    _, returned = describe_arguments(
        "cuda", "cuEventElapsedTime_v2", {"pMilliseconds": 0x3FC00000, "hStart": 1}
    )
    assert returned == ["pMilliseconds=1.5"]


def test_arguments_of_an_unknown_call_are_addresses() -> None:
    assert describe_arguments("cuda", "cuNew", {"x": 17}) == (["x=0x11"], [])


def test_query_that_is_not_ready_did_not_fail() -> None:
    assert not is_failure("cuEventQuery", 600) and not is_failure("hipStreamQuery_spt", 600)
    assert is_failure("cuEventElapsedTime", 600) and is_failure("cuStreamQuery", 700)
