"""neutrino-bench inspect: show what a capture contains."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from ..errors import BenchguardError
from ..ipc.json_text import json_document
from .options import OutputFolder
from .output import print_document, say

if TYPE_CHECKING:
    from ..capture import Capture
    from ..capture.model import Operation

_SUFFIXES = {
    "ptx": ".ptx",
    "elf": ".cubin",
    "fatbin": ".fatbin",
    "offload_bundle": ".hipfb",
    "compressed_bundle": ".hipfb",
    "code_object": ".hsaco",
}


@click.command(
    epilog="\b\nExamples:\n"
    "  neutrino-bench inspect x.ncap\n"
    "  neutrino-bench inspect x.ncap --json | jq '.kernels[].name'\n"
    "  neutrino-bench inspect x.ncap --images kernels/ && cuobjdump -sass kernels/*.cubin\n"
    "  neutrino-bench inspect x.ncap --images kernels/ && llvm-objdump -d kernels/*.hsaco"
)
@click.argument("path", metavar="CAPTURE", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
@click.option("--operations", is_flag=True, help="List every operation of the region and its graphs.")
@click.option("--memory", is_flag=True, help="List all allocations and globals, not only the first 20.")
@click.option(
    "--images",
    "folder",
    type=OutputFolder(),
    metavar="FOLDER",
    help="Write every code image to this folder, named by its SHA-256.",
)
@click.option(
    "--check", is_flag=True, help="Also read memory and images, and compare them with their SHA-256."
)
def inspect(
    path: Path, as_json: bool, operations: bool, memory: bool, folder: Path | None, check: bool
) -> int:
    """Show what CAPTURE contains: device, operations, kernels, memory, code images and sizes.

    The tables of a capture are always checked. Exits with 70 if the capture is damaged. No code of the capture runs.
    """
    from ..audit.demangle import Demangler
    from ..capture import Capture
    from ..capture.overview import overview
    from .inspect_text import render

    with Capture.open(path) as capture:
        blobs = capture.check_blobs() if check else None
        if folder is not None:
            _write_images(capture, folder)
        with closing(Demangler()) as demangler:
            view = overview(capture, demangler.demangle)
        if as_json:
            document = msgspec.to_builtins(view)
            if operations:
                document["operation_list"] = [_operation(each) for each in capture.operations]
            print_document(json_document(document))
        else:
            render(view, sys.stdout, memory, capture.operations if operations else None)
    if blobs is not None:
        say(f"{path}: {blobs} blobs match their SHA-256", err=as_json)
    return 0


def _operation(operation: Operation) -> dict[str, Any]:
    """An operation as JSON fields, parameters in hexadecimal."""
    fields: dict[str, Any] = msgspec.to_builtins(operation, builtin_types=(bytes,))
    return {"kind": operation.kind.name.lower(), **_hexadecimal(fields)}


def _hexadecimal(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        return {key: _hexadecimal(each) for key, each in value.items()}
    return [_hexadecimal(each) for each in value] if isinstance(value, list | tuple) else value


def _write_images(capture: Capture, folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for index, image in enumerate(capture.images):
            name = image.sha256 + _SUFFIXES.get(image.format.name.lower(), ".image")
            (folder / name).write_bytes(capture.image(index))
    except OSError as error:
        raise BenchguardError(
            f"cannot write images to {folder}: {error.strerror}; free some space or name another folder"
        ) from error
