"""From headers and a driver's exports to generated text."""

from __future__ import annotations

from pathlib import Path

from .emit import emit_shim
from .emit.sim import emit_sim
from .emit.sim_hip import emit_sim_hip, exported_by_stub
from .exports import DriverExports
from .exports_file import load_exports
from .headers import Headers
from .hip import HipHeaders
from .hip_calls import load_calls
from .model import Api
from .parse import parse_headers
from .semantics import load_semantics, load_translated
from .surface import Surface, Translation
from .vendor import CUDA, HIP


def shim_surface(headers: Headers, driver: DriverExports, semantics: Path = CUDA.semantics) -> Surface:
    """The surface of a shim for `driver`. Raises CodegenError."""
    api = parse_headers(headers)
    return Surface(api, driver, headers.origin, load_semantics(semantics, api))


def hip_surface(
    headers: HipHeaders,
    cuda_headers: Headers,
    driver: DriverExports,
    semantics: Path = HIP.semantics,
    cuda_semantics: Path = CUDA.semantics,
) -> Surface:
    """The surface of a shim for a HIP driver, with what it takes of CUDA's. Raises CodegenError."""
    api = parse_headers(headers)
    translation = _translation(cuda_headers, semantics, cuda_semantics)
    return Surface(api, driver, headers.origin, load_semantics(semantics, api), translation)


def _translation(cuda_headers: Headers, semantics: Path, cuda_semantics: Path) -> Translation:
    cuda = parse_headers(cuda_headers)
    functions = load_translated(semantics, cuda)
    return Translation(cuda, functions, load_semantics(cuda_semantics, cuda))


def generic_driver(api: Api, soname: str | None = None) -> DriverExports:
    """A driver that exports what the header declares: for a shim that is built where no driver is."""
    return DriverExports(tuple(function.name for function in api.functions), soname or api.vendor.soname)


def generic_surface(headers: Headers, semantics: Path = CUDA.semantics) -> Surface:
    api = parse_headers(headers)
    return Surface(api, generic_driver(api), headers.origin, load_semantics(semantics, api))


def generic_hip_surface(
    headers: HipHeaders, cuda_headers: Headers, semantics: Path = HIP.semantics
) -> Surface:
    api = parse_headers(headers)
    translation = _translation(cuda_headers, semantics, CUDA.semantics)
    recordings = load_semantics(semantics, api)
    return Surface(api, generic_driver(api), headers.origin, recordings, translation)


def hip_sim_files(headers: HipHeaders, cuda_headers: Headers, tables: Path) -> dict[str, str]:
    """The generated part of the CPU driver with its HIP face; `tables` is the folder sim/hip. Raises CodegenError."""
    cuda, api = parse_headers(cuda_headers), parse_headers(headers)
    calls, exports = load_calls(tables / "calls.toml"), load_exports(tables / "exports.txt")
    behind = [function.name for function in exported_by_stub(api)]
    return {**emit_sim(cuda, behind), **emit_sim_hip(api, calls, exports, len(cuda.functions))}


def write_files(files: dict[str, str], folder: Path) -> None:
    """Write each file whose content would change: an unchanged one keeps its time stamp."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = folder / name
        data = text.encode()
        if not path.is_file() or path.read_bytes() != data:
            path.write_bytes(data)


__all__ = [
    "emit_shim",
    "generic_driver",
    "generic_hip_surface",
    "generic_surface",
    "hip_sim_files",
    "hip_surface",
    "shim_surface",
    "write_files",
]
