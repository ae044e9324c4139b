"""From headers and a driver's exports to generated text."""

from __future__ import annotations

from pathlib import Path

from .emit import emit_shim
from .exports import DriverExports
from .headers import Headers
from .model import Api
from .parse import parse_headers
from .semantics import CUDA, load_semantics
from .surface import Surface


def shim_surface(headers: Headers, driver: DriverExports, semantics: Path = CUDA) -> Surface:
    """The surface of a shim for `driver`. Raises CodegenError."""
    api = parse_headers(headers)
    return Surface(api, driver, headers.origin, load_semantics(semantics, api))


def generic_driver(api: Api, soname: str = "libcuda.so.1") -> DriverExports:
    """A driver that exports what the header declares: for a shim that is built where no driver is."""
    return DriverExports(tuple(function.name for function in api.functions), soname)


def generic_surface(headers: Headers, semantics: Path = CUDA) -> Surface:
    api = parse_headers(headers)
    return Surface(api, generic_driver(api), headers.origin, load_semantics(semantics, api))


def write_files(files: dict[str, str], folder: Path) -> None:
    """Write each file whose content would change: an unchanged one keeps its time stamp."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = folder / name
        data = text.encode()
        if not path.is_file() or path.read_bytes() != data:
            path.write_bytes(data)


__all__ = ["emit_shim", "generic_driver", "generic_surface", "shim_surface", "write_files"]
