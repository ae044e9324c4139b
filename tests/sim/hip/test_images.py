"""Images: what a module may be loaded from, and what is said of the others."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import pytest

from tests.sim.conftest import STORE
from tests.support.code_objects import HOST, SIM, bundle, code_object, compressed, sim_bundle

from .conftest import INVALID_IMAGE, NO_BINARY, NOT_FOUND, Hip

GFX90A = "hipv4-amdgcn-amd-amdhsa--gfx90a"
IMAGES = {
    "PTX": STORE.encode(),
    "code object": code_object(STORE),
    "bundle": sim_bundle(STORE),
    "bundle with another target first": bundle(
        {HOST: b"", GFX90A: code_object(STORE, "gfx90a")[:64], SIM: code_object(STORE)}
    ),
    "bundle with PTX": bundle({HOST: b"", SIM: STORE.encode()}),
} | {
    f"compressed, {method}, version {version}": compressed(sim_bundle(STORE), method, version)  # type: ignore[arg-type]
    for method in ("zlib", "zstd")
    for version in (2, 3)
}


def stored(hip: Hip, image: bytes) -> int:
    to = hip.zeroed(1)
    assert hip.launch(hip.function(image, "store"), [to, ctypes.c_uint32(41)]) == 0
    return hip.words(to, 1)[0]


@pytest.mark.parametrize("name", IMAGES)
def test_loaded_image_runs_its_kernel(hip: Hip, name: str) -> None:
    assert stored(hip, IMAGES[name]) == 41


def test_module_loads_from_a_file(hip: Hip, tmp_path: Path) -> None:
    file = tmp_path / "store.co"
    file.write_bytes(sim_bundle(STORE))
    module = hip.handle("hipModuleLoad", str(file).encode())
    hip.handle("hipModuleGetFunction", module, b"store")
    hip("hipModuleUnload", module)


@pytest.mark.parametrize("method", ["zlib", "zstd"])
def test_compressed_bundle_without_a_size_loads_from_a_file_only(
    hip: Hip, tmp_path: Path, method: Any
) -> None:
    file, image = tmp_path / "store.co", compressed(sim_bundle(STORE), method, 1)
    file.write_bytes(image)
    hip("hipModuleUnload", hip.handle("hipModuleLoad", str(file).encode()))
    assert hip.result("hipModuleLoadData", ctypes.byref(ctypes.c_void_p()), image) == INVALID_IMAGE


def test_module_globals_are_found(hip: Hip) -> None:
    module = hip.handle("hipModuleLoadData", code_object(STORE))
    address, size = ctypes.c_void_p(), ctypes.c_size_t()
    hip("hipModuleGetGlobal", ctypes.byref(address), ctypes.byref(size), module, b"counter")
    assert (hip.words(address, 1), size.value) == ([7], 4)


def test_missing_kernel_is_not_found(hip: Hip) -> None:
    module = hip.handle("hipModuleLoadData", code_object(STORE))
    assert hip.result("hipModuleGetFunction", ctypes.byref(ctypes.c_void_p()), module, b"absent") == NOT_FOUND


BAD: dict[str, tuple[bytes, int]] = {
    "no entry for this device": (bundle({HOST: b"", GFX90A: code_object(STORE, "gfx90a")}), NO_BINARY),
    "machine code alone": (code_object(STORE).replace(b".ptx\0", b".txt\0"), NO_BINARY),
    "neither": (b"neither PTX nor a code object", INVALID_IMAGE),
    "no frame": (compressed(sim_bundle(STORE))[:24] + bytes(64), INVALID_IMAGE),
    "no bundle inside": (compressed(b"x" * 100), INVALID_IMAGE),
}


@pytest.mark.parametrize("name", BAD)
def test_unloadable_image_is_refused_with_a_reason(hip: Hip, name: str, capfd: Any) -> None:
    image, code = BAD[name]
    assert hip.result("hipModuleLoadData", ctypes.byref(ctypes.c_void_p()), image) == code
    assert capfd.readouterr().err.count("\n") == 1
