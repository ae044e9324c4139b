"""From headers and a driver's exports to generated text."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from .emit import emit_shim
from .emit.hip_driver import emit_hip_driver
from .emit.layouts_py import emit_layouts
from .emit.names_json import emit_names
from .emit.sim import emit_sim
from .emit.sim_hip import emit_sim_hip, exported_by_stub
from .exports import DriverExports
from .exports_file import load_exports
from .headers import Headers
from .hip import HipHeaders
from .layouts import load_layouts
from .model import Api
from .pairs import PAIRS, load_pairs
from .parse import parse_headers
from .semantics import load_semantics, load_translated
from .shared_hooks import share_hooks
from .surface import Surface, Translation
from .vendor import CUDA, HIP
from .wire import read_wire


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
    """The surface of a shim for a HIP driver. The table of pairs lies beside `semantics`. Raises CodegenError."""
    api, cuda = parse_headers(headers), parse_headers(cuda_headers)
    table = load_pairs(semantics.with_name(PAIRS.name))
    cuda_interceptions = load_semantics(cuda_semantics, cuda)
    interceptions = share_hooks(table, api, load_semantics(semantics, api), cuda, cuda_interceptions)
    translation = Translation(cuda, load_translated(semantics, cuda), cuda_interceptions, table)
    return Surface(api, driver, headers.origin, interceptions, translation)


def generic_driver(api: Api, soname: str | None = None) -> DriverExports:
    """A driver that exports what the header declares: for a shim that is built where no driver is."""
    return DriverExports(tuple(function.name for function in api.functions), soname or api.vendor.soname)


def generic_surface(headers: Headers, semantics: Path = CUDA.semantics) -> Surface:
    api = parse_headers(headers)
    return Surface(api, generic_driver(api), headers.origin, load_semantics(semantics, api))


def generic_hip_surface(
    headers: HipHeaders, cuda_headers: Headers, semantics: Path = HIP.semantics
) -> Surface:
    return hip_surface(headers, cuda_headers, generic_driver(parse_headers(headers)), semantics)


def hip_sim_files(headers: HipHeaders, cuda_headers: Headers, exports: Path) -> dict[str, str]:
    """The generated part of the CPU driver with its HIP face; `exports` is sim/hip/exports.txt. Raises CodegenError."""
    cuda, api = parse_headers(cuda_headers), parse_headers(headers)
    behind = [function.name for function in exported_by_stub(api)]
    hip = emit_sim_hip(api, load_pairs(), load_exports(exports), len(cuda.functions))
    return {**emit_sim(cuda, behind), **hip}


def hip_driver_files(headers: HipHeaders, cuda_headers: Headers) -> dict[str, str]:
    """The generated part of CUDA's driver over HIP's. Raises CodegenError."""
    return emit_hip_driver(parse_headers(headers), parse_headers(cuda_headers), load_pairs())


def layout_files(headers: Path) -> dict[str, str]:
    """The Python modules of the wire formats, by their path in the package. Raises CodegenError."""
    trace = read_wire(headers, ("record.h", "policy.h", "probe.h"))
    capture = read_wire(headers, ("record.h", "capture_format.h"))
    serve = read_wire(headers, ("serve.h",))
    return emit_layouts(trace, serve, capture, load_layouts())


def names_file(headers: Iterable[Headers]) -> dict[str, str]:
    """The names that readers of audit logs use, by their path in the package. Raises CodegenError."""
    apis = [parse_headers(each) for each in headers]
    return {"audit/names.json": emit_names((api, load_semantics(api.vendor.semantics, api)) for api in apis)}


def write_files(files: dict[str, str], folder: Path) -> None:
    """Write each file whose content would change: an unchanged one keeps its time stamp."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = text.encode()
        if not path.is_file() or path.read_bytes() != data:
            path.write_bytes(data)


__all__ = [
    "emit_shim",
    "generic_driver",
    "generic_hip_surface",
    "generic_surface",
    "hip_driver_files",
    "hip_sim_files",
    "hip_surface",
    "layout_files",
    "names_file",
    "shim_surface",
    "write_files",
]
