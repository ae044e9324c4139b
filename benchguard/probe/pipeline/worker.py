"""Runs inside a sandbox: extract an image's PTX, run the engine, send its files back in lines of JSON.

The image is hostile, and so is what the engine makes of it.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from ...capture import fatbin
from ...capture.bundle import codes_of
from ...capture.unpack import CodeError
from ...images.image import format_of
from ...images.kernels import ptx_in_code_object, ptx_in_cubin
from ...ipc.text import one_line

PACKAGE = Path(__file__).resolve().parents[2]
CONTRACT = 3
"""The version of the files between supervisor and engine."""

CHUNK = 1 << 15
ANSWERS = ("kernel.info", "probed.bin", "pruned.bin", "original.ptx")
"""Files that leave the sandbox."""

FILE_BYTES_MAX = 256 << 20
LOG_BYTES_MAX = 1 << 16


class Request(msgspec.Struct, frozen=True):
    """`image` is the descriptor of the code, `words` the engine's command, `capability` the device's, as 90, or 0."""

    words: list[str]
    kernel: str
    image: int
    sha256: str
    vendor: str
    capability: int
    options: dict[str, str]
    seconds: float
    benchmark: bool


class Part(msgspec.Struct, frozen=True, tag_field="event", tag="part"):
    """A piece of a file, as base64."""

    name: str
    data: str


class Done(msgspec.Struct, frozen=True, tag_field="event", tag="done"):
    """`problem` is empty if the engine succeeded; `said` is the end of its output."""

    problem: str
    said: str
    timed_out: bool = False


def run(argument: bytes, events: int) -> None:
    """Run the engine, and send events to the descriptor."""
    request = msgspec.json.decode(argument, type=Request)
    for event in _probed(request):
        line = memoryview(msgspec.json.encode(event) + b"\n")
        while line:
            line = line[os.write(events, line) :]


def _probed(request: Request) -> Iterator[Part | Done]:
    folder = Path("work")
    folder.mkdir()
    with os.fdopen(request.image, "rb") as stream:
        image = stream.read()
    (folder / "original.bin").write_bytes(image)
    kind = format_of(image)
    try:
        text = ptx_of(image, request.capability)
    except CodeError as error:
        yield Done(one_line(f"its image cannot be unpacked: {error}"), "")
        return
    if text is not None:
        (folder / "original.ptx").write_bytes(text)
    (folder / "request.json").write_text(json.dumps(_document(request, kind)))
    done = _run_engine(request, folder, has_ptx=text is not None)
    for name in ANSWERS:
        path = folder / name
        if not path.is_file() or path.is_symlink():
            continue
        if path.stat().st_size > FILE_BYTES_MAX:
            done = Done(
                done.problem or f"the engine's {name} has more than {FILE_BYTES_MAX} bytes", done.said
            )
            continue
        with path.open("rb") as file:
            while data := file.read(CHUNK):
                yield Part(name, base64.b64encode(data).decode())
    yield done


def _document(request: Request, kind: str) -> Mapping[str, object]:
    return {
        "contract": CONTRACT,
        "kernel": request.kernel,
        "image": request.sha256,
        "format": kind,
        "vendor": request.vendor,
        "target": f"sm_{request.capability}" if request.capability else "",
        "options": request.options,
        "benchmark": request.benchmark,
    }


def _run_engine(request: Request, folder: Path, has_ptx: bool) -> Done:
    log = folder / "process.log"
    packages = folder.resolve().parent / "packages"  # the package alone, which need not be installed
    packages.mkdir()
    (packages / PACKAGE.name).symlink_to(PACKAGE)
    try:
        with log.open("wb") as output:
            status = subprocess.run(
                [*request.words, str(folder.resolve()), request.kernel],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONPATH": str(packages)},
                timeout=request.seconds,
                check=False,
            ).returncode
    except subprocess.TimeoutExpired:
        return Done(f"the engine took more than {request.seconds:g} s", _end_of(log), timed_out=True)
    except OSError as error:
        return Done(one_line(f"the engine cannot start: {error.strerror}"), "")
    said = _end_of(log)
    if status == 0:
        return Done("", said)
    lines = said.strip().splitlines()
    last = one_line(lines[-1], 300) if lines else "it said nothing"
    why = f"the engine ended with status {status}: {last}"
    return Done(why if has_ptx else "its image has machine code only, no PTX", said)


def _end_of(log: Path) -> str:
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - LOG_BYTES_MAX))
        return file.read(LOG_BYTES_MAX).decode("utf-8", "replace")


def ptx_of(image: bytes, capability: int) -> bytes | None:
    """Return the PTX of an image, or the text that ptxas stored in its machine code; None if both are missing.

    A fat binary gives the PTX of its newest target that the device accepts. Raises CodeError.
    """
    kind = format_of(image)
    if kind == "ptx":
        return image.rstrip(b"\0")
    if kind == "cubin":
        return _stored_ptx(image)
    if kind in ("code_object", "offload_bundle", "compressed_bundle"):
        return next((text for _, code in codes_of(image) if (text := _hip_ptx(code))), None)
    if kind != "fatbin":
        return None
    entries = [each for each in fatbin.entries(image) if not capability or each.architecture <= capability]
    for code in (fatbin.PTX, fatbin.ELF):
        for each in sorted(entries, key=lambda entry: entry.architecture, reverse=True):
            if each.kind != code:
                continue
            if each.raw_bytes > FILE_BYTES_MAX:
                raise CodeError(f"its code has more than {FILE_BYTES_MAX} bytes")
            raw = each.code(image)
            if text := raw.rstrip(b"\0") if code == fatbin.PTX else _stored_ptx(raw):
                return text
    return None


def _hip_ptx(code: bytes) -> bytes | None:
    if format_of(code) == "ptx":
        return code.rstrip(b"\0")
    try:
        return ptx_in_code_object(code) or None
    except ValueError as error:
        raise CodeError(str(error)) from None


def _stored_ptx(cubin: bytes) -> bytes | None:
    try:
        return ptx_in_cubin(cubin) or None
    except ValueError as error:
        raise CodeError(str(error)) from None
