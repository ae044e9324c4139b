"""semantics/cuda.toml fits every header; a mistake in such a file is one line that says where."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchguard.codegen.errors import CodegenError
from benchguard.codegen.headers import headers_in
from benchguard.codegen.model import Api
from benchguard.codegen.parse import parse_headers
from benchguard.codegen.semantics import ARGUMENTS_MAX, OUT, Interception, load_semantics
from benchguard.codegen.vendor import CUDA

from .conftest import GOLDEN

TEXT = (GOLDEN / "semantics.toml").read_text()
# Functions with a count whose out parameters are single values all the same, read one by one.
SINGLE_VALUES = {
    "cuGraphAdd", "cuLibraryLoad", "cuModuleLoadDataEx", "cuLinkCreate", "cuMemcpyBatchAsync", "cuMemcpy3DBatchAsync",
    "cuMemBatchDecompressAsync", "cuCtxCreate", "cuMemAllocPitch",
}  # fmt: skip


@pytest.fixture(scope="module")
def golden() -> Api:
    return parse_headers(headers_in(GOLDEN / "include"))


def load(api: Api, folder: Path, text: str) -> dict[str, Interception]:
    path = folder / "semantics.toml"
    path.write_text(text)
    return load_semantics(path, api)


def test_every_form_of_a_launch_is_recorded(api: Api) -> None:
    """cuLaunch..., with and without _ptsz, whatever the version: none is a mere tail jump."""
    interceptions = load_semantics(CUDA.semantics, api)
    launches = {function.name for function in api.functions if function.name.startswith("cuLaunch")}
    assert launches - set(interceptions) == set()
    assert {name for name in launches if interceptions[name].wrap is None} == {
        name for name in launches if name.startswith("cuLaunchHostFunc")
    }


def test_array_parameters_are_not_read(api: Api) -> None:
    """A parameter that comes with a count is never "out:", but where it was seen to be one value."""
    for interception in load_semantics(CUDA.semantics, api).values():
        if any(word.role == "count" for word in interception.words):
            outs = [word.parameter.name for word in interception.words if word.role.startswith(OUT)]
            assert not outs or interception.function.name.startswith(tuple(SINGLE_VALUES)), (
                interception.function.name,
                outs,
            )


def test_records_fit_their_words(api: Api) -> None:
    """At most 16 words, as hook/core/wire/record.h has it, and one for every parameter but structures."""
    header = (Path(__file__).parents[3] / "hook" / "core" / "wire" / "record.h").read_text()
    limit = re.search(r"#define NB_ARGUMENTS_MAX\s+(\d+)u", header)
    assert limit is not None
    assert int(limit[1]) == ARGUMENTS_MAX
    assert (
        max(len(interception.words) for interception in load_semantics(CUDA.semantics, api).values())
        <= ARGUMENTS_MAX
    )


def test_roles_come_from_override_name_type_and_shape(golden: Api) -> None:
    interceptions = load_semantics(GOLDEN / "semantics.toml", golden)
    roles = {name: [word.role for word in interception.words] for name, interception in interceptions.items()}
    assert roles["cuLaunchKernel_ptsz"] == ["function", "count", "stream", "pointer"]
    assert roles["cuMemAlloc"] == ["out:device_pointer", "bytes"]
    assert roles["cuMemOpen"] == ["out:device_pointer", "flags"]  # the structure by value has no word
    assert roles["cuLaunchHostFunc"] == ["stream", "callback", "pointer"]
    assert roles["cuParamSetf"] == ["function", "int", "float"]


def test_every_form_of_a_refused_function_is_refused(api: Api) -> None:
    interceptions = load_semantics(CUDA.semantics, api)
    forms = {name: r for name, r in interceptions.items() if r.function.base == "cuStreamWaitValue32"}
    assert {"cuStreamWaitValue32", "cuStreamWaitValue32_v2_ptsz"} <= set(forms)
    assert {r.refused for r in forms.values()} == {forms["cuStreamWaitValue32"].refused}
    assert {r.stream.parameter.name for r in forms.values() if r.stream} == {"stream"}


def test_refused_name_of_newer_headers_is_accepted(golden: Api) -> None:
    interceptions = load_semantics(GOLDEN / "semantics.toml", golden)
    assert "cuMemNew" not in interceptions
    assert interceptions["cuMemOpen"].refused == "opens what is another's"
    assert interceptions["cuMemAlloc"].refused is None


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('"cuMemOpen"', '"cuMemOpne"', "groups.memory: the header (CUDA 13000) has no cuMemOpne"),
        ("since = 14000", "since = 12000", "groups.memory: the header (CUDA 13000) has no cuMemNew"),
        ('= ["cuModuleLoadData"]\n\n[wrap]', '= ["cuInit"]\n\n[wrap]', "cuInit has a hook but is in no group"),
        ('= ["cuModuleLoadData"]\n\n[wrap]', '= ["cuMemAlloc", "cuMemAlloc_v2"]\n\n[wrap]',
         "nb_post_module_load is for cuMemAlloc and for cuMemAlloc_v2, which have different signatures"),
        ('launch = ["cuParamSetf"', 'launch = ["cuMemOpen", "cuParamSetf"', "cuMemOpen is in the groups"),
        ('Flags = "flags"', 'Flags = "flag"', "Flags: flag is not a role"),
        ("cuLaunchKernel.gridDimX", "cuLaunchKernel.gridDimW", "cuLaunchKernel has no parameter gridDimW"),
        ("cuLaunchKernel.gridDimX", "cuInit.Flags", "cuInit.Flags: cuInit is in no group"),
        ('cuLaunchKernel.gridDimX" = "count"', 'cuLaunchHostFunc.userData" = "out:count"',
         "userData cannot be out:count"),
        ("[roles]", "[rolls]", "unknown field `rolls`"),
        ('= ["nb_wrap_when_recording_mem_open"]', '= ["nb_wrap_when_recording_mem_opne"]',
         "nb_wrap_when_recording_mem_opne is not in [wrap_when_recording]"),
        ('= ["nb_wrap_when_recording_mem_open"]',
         '= ["nb_wrap_when_recording_mem_open"]\n"x" = ["nb_wrap_when_recording_mem_open"]',
         "operations: nb_wrap_when_recording_mem_open records two operations"),
        ("[roles]", "[roles", "semantics.toml"),
        ('nb_wrap_launch = ["cuLaunchKernel"]', 'nb_x = ["cuLaunchKernel"]\nnb_y = ["cuLaunchKernel_ptsz"]',
         "cuLaunchKernel_ptsz has the hooks nb_x and nb_y"),
        ('nb_wrap_launch = ["cuLaunchKernel"]', 'nb_x = ["cuModuleLoadData"]', "is in [post] and in [wrap]"),
        ('wrap_when_recording_mem_open = ["cuMemOpen"]', 'wrap_when_recording_mem_open = ["cuLaunchKernel"]',
         "is in [wrap_when_recording] and in [wrap]"),
        ('wrap_when_recording_mem_open = ["cuMemOpen"]', 'wrap_when_recording_mem_open = ["cuMemOpen", "cuMemAlloc"]',
         "nb_wrap_when_recording_mem_open is for cuMemOpen and for cuMemAlloc, which have different signatures"),
        ('["cuMemOpen", "cuMemNew"]', '["cuMemOpne"]', "refused: cuMemOpne is in no group"),
        ('= ["cuLaunchHostFunc"]', '= ["cuLaunchKernel"]',
         "cuLaunchKernel is in [refused] and in [wrap]; let nb_wrap_launch refuse it"),
        ('"cuMemOpen", "cuMemNew"]', '"cuLaunchHostFunc"]', "refused: cuLaunchHostFunc has two reasons"),
        ('functions = ["cuCtxSynchronize"]', 'functions = ["cuCtxSync"]',
         "queries: the header (CUDA 13000) has no cuCtxSync"),
        ('functions = ["cuCtxSynchronize"]', 'functions = ["cuInit"]', "queries: cuInit is in no group"),
        ('functions = ["cuCtxSynchronize"]', 'functions = ["cuLaunchKernel"]',
         "cuLaunchKernel is in [queries] and in [wrap]"),
        ('"runs a function of the program"', "'runs \"a\" function'", "must be plain text"),
    ],
)  # fmt: skip
def test_mistake_in_the_file_is_named(
    golden: Api, tmp_path: Path, old: str, new: str, complaint: str
) -> None:
    assert old in TEXT
    with pytest.raises(CodegenError) as excinfo:
        load(golden, tmp_path, TEXT.replace(old, new))
    assert complaint in str(excinfo.value)
    assert "\n" not in str(excinfo.value)
