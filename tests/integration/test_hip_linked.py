"""Code that hipcc linked into a program: what its constructors register, and its kernels' launches in every form."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

from benchguard.capture import Capture
from benchguard.capture.layout import ModuleKind, OperationFlag, OperationKind
from benchguard.codegen.errors import CodegenError
from benchguard.codegen.hip import find_hip_headers
from benchguard.codegen.vendor import HIP
from benchguard.probe.engines.count.read import read_counts
from benchguard.probe.trace_file import read_traces
from tests.conftest import ROOT
from tests.integration.apis import Api
from tests.integration.support import PROGRAMS, Compiler, Observe, Record
from tests.integration.test_probe import Probe, probe
from tests.support.code_objects import sim_bundle

__all__ = ["probe"]  # a fixture

THREADS = "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j"
CALLS = {
    "stub": "hipLaunchKernel",
    "cooperative": "hipLaunchCooperativeKernel",
    "ext": "hipExtLaunchKernel",
    "events": "hipExtLaunchKernel",
    "devices": "hipExtLaunchMultiKernelMultiDevice",
    "configured": "hipLaunchByPtr",
    "module": "hipModuleLaunchKernel",
    "threads": THREADS,
}
on_hip = pytest.mark.parametrize("api", ["hip"], indirect=True)


def scale_ptx() -> str:
    """scale.h's kernel, which adds a global, zero at first."""
    text = (PROGRAMS / "scale.h").read_text()
    (body,) = re.findall(r"scale_ptx\[\] =\n(.*?);\n\nstruct", text, re.DOTALL)
    ptx = "".join(re.findall(r'"(.*?)"$', body, re.MULTILINE)).encode().decode("unicode_escape")
    ptx = ptx.replace(
        "%f3, %f2, %f1;", "%f3, %f2, %f1;\n ld.global.f32 %f2, [table];\n add.f32 %f3, %f3, %f2;"
    )
    return ptx.replace(".visible .entry", ".visible .global .align 4 .f32 table[4];\n.visible .entry")


@pytest.fixture
def linked(compile_c: Compiler, tmp_path_factory: pytest.TempPathFactory, api: Api) -> Path:
    try:
        headers = find_hip_headers()
    except CodegenError as error:
        pytest.skip(str(error))
    code = tmp_path_factory.mktemp("code") / "scale.bundle"
    code.write_bytes(sim_bundle(scale_ptx()))
    return compile_c(
        "hip/linked",
        PROGRAMS / "hip_linked.c",
        flags=(
            *(f"-D{name}" for name in HIP.defines),
            f'-DCODE="{code}"',
            "-Wno-deprecated-declarations",  # hipConfigureCall and the like
            f"-isystem{headers.folder}",
            f"-I{ROOT / 'codegen' / 'semantics'}",
        ),
        links=(f"-L{api.folder}", f"-l:{api.soname}", f"-Wl,-rpath,{api.folder}"),
    )


def values_of(output: str) -> dict[str, str]:
    return dict(line.split() for line in output.splitlines())


@on_hip
def test_every_form_of_launch_is_recorded_with_kernel_and_parameters(observe: Observe, linked: Path) -> None:
    run = observe([linked, *CALLS])
    assert run.status == 0, run.stderr
    values = values_of(run.stdout)
    assert values["value"] == str(2 ** len(CALLS))
    launches = run.of_kind("launch")
    assert [line["call"] for line in launches] == list(CALLS.values())
    assert {line["name"] for line in launches} == {"scale"}
    assert run.launches == run.driver_launches
    expected = struct.pack("<QfI", int(values["memory"]), 2.0, 1000).hex()
    assert {"".join(line["parameters"]) for line in launches} == {expected}
    assert [line["cooperative"] for line in launches] == [form == "cooperative" for form in CALLS]


@on_hip
def test_registered_code_is_one_image_of_the_program(observe: Observe, linked: Path) -> None:
    """One image in the program, whether HIP was given its address by a constructor or by hipModuleLoadData."""
    run = observe([linked, "stub", "module"])
    images = run.of_kind("image")
    assert [line["call"] for line in images] == ["__hipRegisterFatBinary", "hipModuleLoadData"]
    assert {line["format"] for line in images} == {"offload_bundle"}
    assert {Path(line["origin"]).name for line in images} == {linked.name}
    assert {line["image"] for line in run.of_kind("launch")} == {images[0]["sha256"]}


@on_hip
def test_forked_child_has_its_parents_registered_code(observe: Observe, linked: Path) -> None:
    run = observe([linked, "stub"], environment={"FORK": "1"})
    assert run.status == 0, run.stderr
    (launch,) = run.of_kind("launch")
    assert (launch["name"], launch["result"]) == ("scale", 0) and launch["image"] is not None


@on_hip
def test_unregistered_stub_is_left_to_the_library(observe: Observe, linked: Path) -> None:
    run = observe([linked, "unknown"])
    assert (run.status, values_of(run.stdout)["unknown"]) == (0, "98"), run.stderr
    (launch,) = run.of_kind("launch")
    assert (launch["name"], launch["image"], launch["result"]) == ("", None, 98)


@on_hip
def test_region_holds_registered_kernels_and_globals(
    record: Record, linked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGION", "1")
    recorded = record([linked, "stub", "global", "ext", "configured", "threads", "cooperative"])
    assert recorded.status == 0, recorded.stderr
    with Capture.open(recorded.folder / "x.ncap") as capture:
        kinds = [operation.kind for operation in capture.operations]
        launch = OperationKind.KERNEL
        assert kinds == [
            launch,
            OperationKind.MEMCPY_HTOD,
            OperationKind.SYNCHRONIZE,
            launch,
            launch,
            launch,
            launch,
        ]
        flags = [operation.flags for operation in capture.operations]
        assert flags[-1] == OperationFlag.COOPERATIVE
        assert [module.kind for module in capture.modules] == [ModuleKind.LIBRARY, ModuleKind.MODULE]
        assert {kernel.name for kernel in capture.kernels} == {"scale"}
        assert capture.globals[0].name == "table"
        assert capture.refusals == ()


@on_hip
@pytest.mark.parametrize(
    ("form", "why"), [("events", "records events as it begins"), ("devices", "on several devices")]
)
def test_launch_that_no_replay_can_repeat_is_refused(
    record: Record, linked: Path, monkeypatch: pytest.MonkeyPatch, form: str, why: str
) -> None:
    monkeypatch.setenv("REGION", "1")
    recorded = record([linked, form])
    with Capture.open(recorded.folder / "x.ncap") as capture:
        (refusal,) = capture.refusals
    assert refusal.call == CALLS[form] and why in refusal.reason


@pytest.mark.full
@on_hip
def test_kernel_of_linked_in_code_is_probed_by_its_stub_and_by_its_module(linked: Path, probe: Probe) -> None:
    """The PTX is in a code object of a bundle. Other forms run the original, and the log says so once a kernel."""
    forms = "stub", "cooperative", "ext", "configured", "threads", "module"
    outcome = probe("count", [linked, *forms, "stub"])
    assert outcome.status == 0, outcome.stderr
    assert values_of(outcome.stdout)["value"] == str(2 ** (len(forms) + 1))
    reasons = [reason for _, what, reason in outcome.decisions if what == "skipped"]
    assert set(reasons) == {"HIP launches it by hipExt, hipLaunchByPtr, or its host stub with attributes"}
    assert len(reasons) <= 2  # the stub's kernel, and the module's
    assert {what for _, what, _ in outcome.decisions} == {"probed", "skipped"}
    counts = [read_counts(trace.maps[0]).classes for _, trace in read_traces(outcome.folder)]
    assert len(counts) == 3 and counts[0] == counts[1] == counts[2]


@pytest.mark.full
@on_hip
def test_probed_kernel_of_a_stub_reads_the_global_that_the_program_wrote(linked: Path, probe: Probe) -> None:
    """Twice its value, and the global's."""
    outcome = probe("bounds", [linked, "global", "stub", "stub"])
    assert (outcome.status, values_of(outcome.stdout)["value"]) == (0, "7"), outcome.stderr
    assert "2 launches" in outcome.stderr and "no violation" in outcome.stderr
