"""HIP's headers, read by the same generator: Debian's where they are, and a made-up one of HIP 7 everywhere."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from benchguard.codegen import hip
from benchguard.codegen.emit import emit_shim
from benchguard.codegen.errors import CodegenError
from benchguard.codegen.exports_file import load_exports
from benchguard.codegen.generate import hip_surface, write_files
from benchguard.codegen.headers import headers_in, newest_headers
from benchguard.codegen.hip import HipHeaders, find_hip_headers, hip_headers_in
from benchguard.codegen.model import Api, Shape, split_variant
from benchguard.codegen.parse import parse_headers
from benchguard.codegen.semantics import Interception, load_semantics, load_translated
from benchguard.codegen.surface import Surface
from benchguard.codegen.vendor import CUDA, HIP

from .conftest import GOLDEN
from .generate_golden import golden_hip_headers
from .test_compile import STRICT

ROOT = Path(__file__).parents[3]
SEVEN = GOLDEN / "hip_include"
TEXT = (GOLDEN / "hip_semantics.toml").read_text()
EXTRA = HIP.semantics.with_name("hip_extra.h")
EXPORTS = load_exports(ROOT / "sim" / "hip" / "exports.txt")


@cache
def debian() -> HipHeaders:
    try:
        headers = find_hip_headers()
    except CodegenError as error:
        pytest.skip(f"{error}; `python build.py setup` fetches them")
    if HIP.release(headers.version) != "5.2":
        pytest.skip(f"{headers.origin} is HIP {HIP.release(headers.version)}, and these were counted in 5.2")
    return headers


@pytest.fixture(scope="module")
def api() -> Api:
    return parse_headers(debian())


@pytest.fixture(scope="module")
def surface() -> Surface:
    return hip_surface(debian(), newest_headers(), EXPORTS)


@pytest.fixture(scope="module")
def seven() -> Api:
    return parse_headers(golden_hip_headers())


# ---- which headers ---------------------------------------------------------------------------------------------


def test_rocm_headers_precede_fetched_headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hip.sys, "prefix", str(tmp_path / "venv"))
    shutil.copytree(SEVEN, tmp_path / "venv" / "hip" / "usr" / "include")
    shutil.copytree(SEVEN, tmp_path / "rocm" / "include")
    hip_headers = find_hip_headers({"ROCM_PATH": str(tmp_path / "rocm")})
    assert (hip_headers.folder, hip_headers.version) == (tmp_path / "rocm" / "include", 70112345)
    assert hip_headers.origin == f"ROCm {tmp_path / 'rocm'}"
    candidates = [folder for folder, _ in hip._candidates({})]
    assert candidates[-1] == tmp_path / "venv" / "hip" / "usr" / "include"


def test_missing_headers_are_reported_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hip, "_candidates", lambda _: iter(()))
    with pytest.raises(
        CodegenError, match=r"^no hip/hip_runtime_api\.h found: install libamdhip64-dev.*ROCM_PATH"
    ):
        find_hip_headers({})


def test_folder_without_a_version_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CodegenError, match=r"name a folder that holds hip/hip_runtime_api\.h"):
        hip_headers_in(tmp_path)
    (tmp_path / "hip").mkdir()
    (tmp_path / "hip" / "hip_version.h").write_text("#define HIP_VERSION_MAJOR 7\n")
    with pytest.raises(CodegenError, match="defines no HIP_VERSION"):
        hip_headers_in(tmp_path)


# ---- what is read ----------------------------------------------------------------------------------------------


def test_every_function_is_read(api: Api) -> None:
    """hip_runtime_api.h 5.2.3 has 379 hip* and 3 __hip* functions, hiprtc.h 11; hip_extra.h has the rest."""
    names = [function.name for function in api.functions]
    extra = set(re.findall(r"\b\w*hip\w+(?=\()", EXTRA.read_text()))
    assert len(names) == len(set(names))
    assert sum(name.startswith("hiprtc") for name in names) == 11
    assert extra <= set(names)
    assert len([name for name in names if name not in extra]) == 379 + 3 + 11


def test_return_types_keep_their_qualifiers(api: Api) -> None:
    """A const that is lost here would be another type than the header's."""
    results = {name: api.by_name[name].result for name in ("hipGetErrorName", "__hipGetPCH", "hipInit")}
    assert results == {"hipGetErrorName": "const char *", "__hipGetPCH": "void", "hipInit": "hipError_t"}
    assert api.by_name["hipCreateChannelDesc"].returns.shape is Shape.AGGREGATE
    assert api.by_name["__hipRegisterFatBinary"].result == "void **"


def test_only_undeclared_exports_are_untyped(surface: Surface) -> None:
    assert sorted(export.name for export in surface.exports if export.kind == "untyped") == [
        "__gnu_f2h_ieee", "__gnu_h2f_ieee", "amd_dbgapi_get_build_id", "amd_dbgapi_get_build_name",
        "amd_dbgapi_get_git_hash", "hipEnableActivityCallback", "hipGetCmdName", "hipInitActivityCallback",
    ]  # fmt: skip
    assert {function.name for function in surface.lacking if function.name not in EXTRA.read_text()} == {
        "hipGraphKernelNodeGetAttribute", "hipGraphKernelNodeSetAttribute", "hipLaunchHostFunc",
        "hipTexRefGetMipMappedArray",
    }  # fmt: skip


def test_extra_header_is_copied_to_the_output(surface: Surface) -> None:
    assert emit_shim(surface)["hip_extra.h"] == EXTRA.read_text()


def test_forms_of_a_function_share_its_section(api: Api) -> None:
    """They are declared in another file, which is included before the first chapter."""
    names = [function.name for function in api.functions]
    position = names.index("hipMemcpy")
    assert names[position : position + 2] == ["hipMemcpy", "hipMemcpy_spt"]
    assert api.by_name["hipMemcpy_spt"].section == "Memory Management"


def test_nested_sections_are_read(seven: Api) -> None:
    """After a chapter within another the outer one goes on."""
    sections = {function.name: function.section for function in seven.functions}
    assert sections["hipMallocHost"] == sections["hipMemcpyHtoD"] == "Memory Management"
    assert sections["hipLaunchKernel_spt"] == sections["hipLaunchKernel"] == "Launch API"


def test_renumbered_function_keeps_its_own_name(seven: Api) -> None:
    assert "hipGetDeviceProperties" not in seven.by_name
    properties = seven.by_name["hipGetDevicePropertiesR0600"]
    assert [each.declaration for each in properties.parameters] == [
        "hipDeviceProp_tR0600 *prop",
        "int deviceId",
    ]
    assert seven.source_names["hipGetDeviceProperties"] == "hipGetDevicePropertiesR0600"


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("hipGetDevicePropertiesR0600", ("hipGetDeviceProperties", 600, "")),
        ("hipStreamGetCaptureInfo_v2_spt", ("hipStreamGetCaptureInfo", 2, "_spt")),
        ("hipMemcpyPeer", ("hipMemcpyPeer", 1, "")),
        ("hipGraphAddMemcpyNode1D", ("hipGraphAddMemcpyNode1D", 1, "")),
    ],
)
def test_function_names_split_into_variants(name: str, parts: tuple[str, int, str]) -> None:
    assert split_variant(name) == parts


# ---- what is recorded ------------------------------------------------------------------------------------------


def test_every_form_of_a_launch_is_recorded(api: Api) -> None:
    interceptions = load_semantics(HIP.semantics, api)
    launches = {function.name for function in api.functions if "Launch" in function.name}
    assert len(launches) >= 14
    assert launches - set(interceptions) == set()


def test_unrecorded_functions_are_queries(api: Api) -> None:
    """Every function that leaves no record is a question by its name, or was looked at."""
    interceptions = load_semantics(HIP.semantics, api)
    passed = {
        f.name for f in api.functions if f.name not in interceptions or interceptions[f.name].group is None
    }
    questions = {
        name for name in passed if any(word in name for word in ("Get", "Query", "Occupancy", "Can"))
    }
    assert passed - questions == {
        "__hipPopCallConfiguration", "__hipPushCallConfiguration",  # a launch's arguments, on their way
        "hipApiName", "hipChooseDevice", "hipCreateChannelDesc", "hipDeviceComputeCapability", "hipDeviceTotalMem",
        "hipKernelNameRef", "hipKernelNameRefByPtr", "hipPeekAtLastError", "hipStreamIsCapturing",
        "hipGraphNodeFindInClone", "hipImportExternalSemaphore", "hipDestroyExternalSemaphore", "hipIpcOpenEventHandle",
        "hipProfilerStart", "hipProfilerStop", "hipRegisterActivityCallback", "hipRegisterApiCallback",
        "hipRemoveActivityCallback", "hipRemoveApiCallback",
        "hipGraphicsGLRegisterBuffer", "hipGraphicsGLRegisterImage", "hipGraphicsMapResources",
        "hipGraphicsUnmapResources", "hipGraphicsUnregisterResource",
        *(name for name in api.by_name if name.startswith(("hipTexRefSet", "hiprtc")) and name not in questions),
    }  # fmt: skip


def test_every_refused_name_and_reason_is_known(api: Api) -> None:
    """A reason that both vendors have is said in the same words."""
    interceptions = load_semantics(HIP.semantics, api).values()
    cuda = load_semantics(CUDA.semantics, parse_headers(newest_headers())).values()
    reasons = {interception.refused for interception in interceptions if interception.refused}
    of_both = {interception.refused for interception in cuda if interception.refused}
    assert len(reasons - of_both) <= 3, reasons - of_both
    assert {r.function.name for r in interceptions if r.refused and "peer" in r.function.name.lower()} >= {
        "hipMemcpyPeer", "hipMemcpyPeerAsync", "hipDeviceEnablePeerAccess",
    }  # fmt: skip


def test_addresses_are_read_from_out_parameters(api: Api) -> None:
    roles = roles_of(load_semantics(HIP.semantics, api))
    assert roles["hipMalloc"] == ["out:device_pointer", "bytes"]
    assert roles["hipMallocPitch"] == ["out:device_pointer", "out:bytes", "bytes", "count"]
    assert roles["hipHostMalloc"] == ["out:host_pointer", "bytes", "flags"]
    assert roles["hipModuleGetGlobal"] == ["out:device_pointer", "out:bytes", "module", "string_pointer"]
    assert roles["__hipRegisterFatBinary"] == ["pointer", "module"]
    assert roles["hipLaunchKernel"] == ["function", "pointer", "bytes", "stream"]  # no word for dim3


def roles_of(interceptions: dict[str, Interception]) -> dict[str, list[str]]:
    return {name: [word.role for word in interception.words] for name, interception in interceptions.items()}


def test_cuda_slots_follow_the_exports(surface: Surface) -> None:
    """Their slots are behind the absent one, in an order of their own; all others are absent."""
    assert surface.translation is not None
    translated = [function.name for function in surface.translation.functions]
    assert {"cuMemAlloc_v2", "cuCtxGetCurrent"} <= set(translated)
    text = emit_shim(surface)
    for place, name in enumerate(translated, 1):
        assert f"    NB_SLOT_{name} = NB_SLOT_ABSENT + {place}" in text["surface.h"]
    tail = text["surface.S"].partition(".quad nb_absent\n")[2].partition("    .size nb_slots")[0]
    assert tail == "".join(f"    .quad {name}\n" for name in translated)
    assert "    NB_SLOT_cuGreenCtxCreate = NB_SLOT_ABSENT,\n" in text["surface.h"]


# ---- a file for one release, headers of another ----------------------------------------------------------------


def test_names_missing_in_other_releases_are_accepted(seven: Api) -> None:
    """The file is for 5.2, the header is of 7: hipGoneSince52 and a renamed parameter are accepted."""
    interceptions = load_semantics(GOLDEN / "hip_semantics.toml", seven)
    assert interceptions["hipGetDevicePropertiesR0600"].group == "initialization"
    assert interceptions["hipLaunchKernel_spt"].wrap == "nb_wrap_hip_launch_stub"


def test_hip_toml_fits_another_release(seven: Api) -> None:
    assert load_semantics(HIP.semantics, seven)["hipMalloc"].group == "memory"


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('release = "5.2"', 'release = "7.1"', "the header (HIP 70112345) has no hipGoneSince52"),
        ('nb_wrap_when_recording_hip_copy_async = ["hipMemcpyAsync"]', 'nb_x = ["__hipUnregisterFatBinary"]',
         "__hipUnregisterFatBinary returns no status; [wrap_when_recording] is for functions that do"),
        ('release = "5.2"', 'release = "7.1"', "hipMemcpyAsync has no parameter name_of_5_2"),
        ('"hipMalloc.ptr"', '"hipNothing.ptr"', "hipNothing.ptr: hipNothing is in no group"),
    ],
)  # fmt: skip
def test_mistake_in_the_file_is_named(seven: Api, tmp_path: Path, old: str, new: str, complaint: str) -> None:
    assert old in TEXT
    path = tmp_path / "hip.toml"
    text = TEXT.replace(old, new)
    path.write_text(text if "Gone" in complaint else text.replace(', "hipGoneSince52"', ""))
    with pytest.raises(CodegenError) as excinfo:
        load_semantics(path, seven)
    assert complaint in str(excinfo.value)


def test_translated_names_must_be_cuda_functions(tmp_path: Path) -> None:
    cuda = parse_headers(headers_in(GOLDEN / "include"))
    path = tmp_path / "hip.toml"
    path.write_text(TEXT)
    assert [function.name for function in load_translated(path, cuda)] == ["cuInit", "cuMemAlloc_v2"]
    path.write_text(TEXT.replace('"cuInit"', '"cuInti"'))
    with pytest.raises(CodegenError, match=r"translated: the header \(CUDA 13000\) has no cuInti"):
        load_translated(path, cuda)
    path.write_text(TEXT.partition("[translated]")[0])
    with pytest.raises(CodegenError, match=r"has no \[translated\]"):
        load_translated(path, cuda)


# ---- the compiler's word ---------------------------------------------------------------------------------------


def compile_c(folder: Path, name: str) -> subprocess.CompletedProcess[str]:
    command = ["cc", *STRICT, "-Wno-deprecated-declarations", "-D__CUDA_API_VERSION_INTERNAL"]
    command += [f"-D{name}" for name in HIP.defines]
    command += [f"-I{ROOT / 'hook'}", f"-I{folder}"]
    command += ["-isystem", str(newest_headers().folder), "-isystem", str(debian().folder)]
    command += ["-c", str(folder / name), "-o", str(folder / f"{name}.o")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_types_agree_with_the_header(surface: Surface, tmp_path: Path) -> None:
    """For every function of both vendors, nb_<name>_t is the very type that is declared."""
    write_files(emit_shim(surface), tmp_path)
    assert surface.translation is not None
    names = [function.name for function in (*surface.api.functions, *surface.translation.api.functions)]
    checks = "".join(
        f'_Static_assert(__builtin_types_compatible_p(nb_{name}_t, __typeof__(&{name})), "{name}");\n'
        for name in names
    )
    (tmp_path / "check.c").write_text(f'#include "real.h"\n{checks}')
    result = compile_c(tmp_path, "check.c")
    assert result.returncode == 0, result.stderr
    (tmp_path / "check.c").write_text(
        '#include "real.h"\n_Static_assert(__builtin_types_compatible_p(nb_hipMalloc_t, '
        '__typeof__(&hipFree)), "differ");\n'
    )
    assert "differ" in compile_c(tmp_path, "check.c").stderr


@pytest.mark.parametrize("name", ["hooks.c", "operations.c", "hip_driver.c", "surface.c", "surface.S"])
def test_generated_shim_source_compiles(surface: Surface, tmp_path: Path, name: str) -> None:
    write_files(emit_shim(surface), tmp_path)
    result = compile_c(tmp_path, name)
    assert result.returncode == 0, result.stderr
