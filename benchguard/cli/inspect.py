"""neutrino-bench inspect: show what a capture, an audit log or a code image contains."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from ..errors import BenchguardError, UsageError
from ..ipc.json_text import json_document
from .options import LineSpan, OutputFolder, given_options
from .output import notify, print_document, say

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
    "  neutrino-bench inspect x.ncap --dump-images kernels/ && cuobjdump -sass kernels/*.cubin\n"
    "  neutrino-bench inspect kernels.fatbin --sass saxpy\n"
    "  neutrino-bench inspect run.audit.jsonl --kept images/ --ptx saxpy\n"
    "  neutrino-bench inspect run.audit.jsonl.zst --lines 8123450:8123460 | jq -c '[.line, .kind, .call]'"
)
@click.argument("path", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
@click.option(
    "--operations", is_flag=True, help="Capture: list every operation of the region and its graphs."
)
@click.option(
    "--memory", is_flag=True, help="Capture: list all allocations and globals, not only the first 20."
)
@click.option(
    "--dump-images",
    "folder",
    type=OutputFolder(),
    metavar="FOLDER",
    help="Write code images to this folder: those of a capture named by their SHA-256, the unpacked entries of others.",
)
@click.option(
    "--check", is_flag=True, help="Capture: also read memory and images, and compare them with their SHA-256."
)
@click.option(
    "--kept",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    metavar="FOLDER",
    help="Audit log: the folder that `observe --keep-images` filled.",
)
@click.option(
    "--lines",
    "span",
    type=LineSpan(),
    metavar="FIRST:LAST",
    help="Audit log: print these lines as JSON, with their numbers. 7:9, 7, 7: to the end, -5: for the last five.",
)
@click.option("--all-kernels", is_flag=True, help="List all kernels of an image, not only the first 20.")
@click.option("--ptx", metavar="KERNEL", help="Print the PTX of this kernel.")
@click.option(
    "--sass", metavar="KERNEL", help="Print the machine code of this kernel, by nvdisasm in a sandbox."
)
def inspect(
    path: Path,
    as_json: bool,
    operations: bool,
    memory: bool,
    folder: Path | None,
    check: bool,
    kept: Path | None,
    span: tuple[int, int | None] | None,
    all_kernels: bool,
    ptx: str | None,
    sass: str | None,
) -> int:
    """Show what FILE contains: a capture, an audit log, a code image or a library with device code.

    A capture has device, operations, kernels, memory, code images and sizes. A code image has entries and kernels, a
    log the images of each library. The tables of a capture are always checked. Exits with 70 if the capture is damaged,
    with 1 if the log is. No code of the file runs.
    """
    kind = _kind_of(path)
    if span is not None:
        return _print_lines(path, kind, span)
    captures_only = {"--operations": operations, "--memory": memory, "--check": check}
    wrong = [name for name, given in captures_only.items() if given and kind != "capture"]
    if kept is not None and kind != "log":
        wrong.append("--kept")
    if all_kernels and (kind == "capture" or as_json):
        wrong.append("--all-kernels")
    code = [name for name, value in (("--ptx", ptx), ("--sass", sass)) if value is not None]
    if len(code) > 1 or (
        code and (as_json or folder is not None or operations or memory or check or all_kernels)
    ):
        raise UsageError(f"{code[0]} prints only code; give it without other options")
    if wrong:
        raise UsageError(f"{wrong[0]} has no effect on {_NAMES[kind]}; leave it out")
    if kind == "log" and kept is None and (code or folder is not None):
        raise UsageError("an audit log has no code; name the folder of `observe --keep-images` with --kept")
    if ptx is not None or sass is not None:
        return _print_code(path, kind, kept, ptx, sass)
    if kind != "capture":
        return _inspect_images(path, kind, kept, as_json, folder, all_kernels)
    return _inspect_capture(path, as_json, operations, memory, folder, check)


_NAMES = {"capture": "a capture", "log": "an audit log", "image": "a code image"}


def _kind_of(path: Path) -> str:
    """`capture`, `log` or `image`. Raises UsageError for another file."""
    from ..capture.layout import CAPTURE_MAGIC, RAW_CAPTURE_MAGIC
    from ..images.image import format_of
    from ..images.source import is_log
    from ..ipc.bounded_file import open_regular

    try:
        with open_regular(path) as file:
            head = file.read(1 << 16)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}; check the path") from error
    if is_log(head):
        return "log"
    if format_of(head) != "unknown":
        return "image"
    magics = tuple(each.to_bytes(8, "little") for each in (CAPTURE_MAGIC, RAW_CAPTURE_MAGIC))
    if path.suffix == ".ncap" or head.startswith(magics):
        return "capture"
    raise UsageError(f"{path} is neither a capture nor an audit log, and has no device code; check the path")


def _print_lines(path: Path, kind: str, span: tuple[int, int | None]) -> int:
    from .inspect_lines import print_lines

    if kind != "log":
        raise UsageError(f"--lines has no effect on {_NAMES[kind]}; leave it out")
    if given_options(click.get_current_context()) - {"path", "span"}:
        raise UsageError("--lines prints only lines; give it without other options")
    print_lines(path, *span)
    return 0


def _images(path: Path, kind: str, kept: Path | None) -> Iterator[bytes]:
    from ..images.source import images_of_capture, images_of_file, images_of_log

    if kind == "log":
        assert kept is not None
        return images_of_log(path, kept)
    return images_of_file(path) if kind == "image" else images_of_capture(path)


def _print_code(path: Path, kind: str, kept: Path | None, ptx: str | None, sass: str | None) -> int:
    from .inspect_code import print_ptx, print_sass

    images = _images(path, kind, kept)
    if ptx is not None:
        print_ptx(images, ptx)
    elif sass is not None:
        print_sass(images, sass)
    return 0


def _inspect_images(
    path: Path, kind: str, kept: Path | None, as_json: bool, folder: Path | None, every: bool
) -> int:
    from .. import exit_status
    from ..images.source import inspect_file, inspect_log
    from .inspect_code import render, write_codes

    found = inspect_log(path, kept) if kind == "log" else inspect_file(path)
    if folder is not None:
        written = write_codes(_images(path, kind, kept), folder)
        say(f"{folder}: {written} entries written", err=as_json)
    if as_json:
        print_document(json_document(found))
    else:
        render(found, sys.stdout, every)
    if found.problem:
        notify(f"error: {found.problem}")
    return exit_status.WRONG if found.problem else exit_status.PASS


def _inspect_capture(
    path: Path, as_json: bool, operations: bool, memory: bool, folder: Path | None, check: bool
) -> int:
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
