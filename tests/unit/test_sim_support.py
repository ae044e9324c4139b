"""docs/sim-support.md is what its generator makes of the sources, and lists what a stranger would look for."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import pytest

from tests.conftest import ROOT


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    specification = importlib.util.spec_from_file_location(
        "make_sim_support", ROOT / "docs" / "make_sim_support.py"
    )
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_page_matches_the_sources(generator: ModuleType) -> None:
    page = (ROOT / "docs" / "sim-support.md").read_text(encoding="utf-8")
    assert page == generator.text(), "run `python docs/make_sim_support.py`"


def test_functions_behind_macros_are_found(generator: ModuleType) -> None:
    _, runtime, driver, opcodes = generator.text().split("\n## ")
    for name in (
        "cuMemAlloc",
        "cuMemsetD16",
        "cuMemcpyDtoD",
        "cuStreamWaitValue32",
        "cuGraphAddNode",
        "cuMemcpy",
    ):
        assert f"`{name}`" not in driver, name
    for name in ("cuTensorMapEncodeTiled", "cuIpcGetMemHandle", "cuGLInit", "cuMulticastCreate"):
        assert f"`{name}`" in driver, name
    assert "`cudaImportExternalMemory`" in runtime and "`cudaGraphAddNode`" not in runtime
    assert "`mbarrier`" in opcodes and "`wgmma`" not in opcodes
