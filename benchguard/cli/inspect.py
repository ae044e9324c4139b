"""neutrino-bench inspect: what a capture holds."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import click
import msgspec

from ..audit.demangle import Demangler
from ..capture import Capture
from ..capture.model import Operation
from ..capture.overview import overview
from ..errors import BenchguardError
from .inspect_text import render

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
@click.option(
    "--json", "as_json", is_flag=True, help="Print everything as one JSON object instead of tables."
)
@click.option("--operations", is_flag=True, help="List every operation of the region and of its graphs.")
@click.option("--memory", is_flag=True, help="List every allocation and variable, not the first 20 alone.")
@click.option(
    "--images",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Write every code image there, named by its SHA-256.",
)
@click.option("--check", is_flag=True, help="Read everything, and compare it with its SHA-256.")
def inspect(
    path: Path, as_json: bool, operations: bool, memory: bool, folder: Path | None, check: bool
) -> int:
    """Show what CAPTURE holds: device, operations, kernels, memory, code images and sizes.

    Its tables are checked, always; --check reads memory and images, too. Exits with 70 if it is damaged. Nothing of
    it runs.
    """
    with Capture.open(path) as capture:
        blobs = capture.check_blobs() if check else None
        if folder is not None:
            _write_images(capture, folder)
        with closing(Demangler()) as demangler:
            view = overview(capture, demangler.demangle)
        if as_json:
            shown = msgspec.to_builtins(view)
            if operations:
                shown["operation_list"] = [_operation(each) for each in capture.operations]
            # Not msgspec: whatever is not ASCII is escaped, since it may be printed on a terminal.
            click.echo(json.dumps(shown, indent=1))
        else:
            render(view, sys.stdout, memory, capture.operations if operations else None)
    if blobs is not None:
        click.echo(f"{path}: {blobs} blobs are what their SHA-256 says", err=as_json)
    return 0


def _operation(operation: Operation) -> dict[str, Any]:
    """Parameters in hexadecimal."""
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
