"""Runs inside a sandbox: nvdisasm on a hostile cubin. Its text leaves in lines of JSON."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ..ipc.text import one_line

CHUNK = 1 << 13
"""Characters of one line: as JSON at most 48 KiB."""

TEXT_MAX = 64 << 20
CUBIN = "code.cubin"


class Request(msgspec.Struct, frozen=True):
    """`cubin` is the descriptor of the code; `symbol` the kernel's index in the symbol table."""

    tool: str
    cubin: int
    symbol: int


class Text(msgspec.Struct, frozen=True, tag_field="event", tag="text"):
    text: str


class Done(msgspec.Struct, frozen=True, tag_field="event", tag="done"):
    """`problem` is empty if nvdisasm succeeded."""

    problem: str


def run(argument: bytes, events: int) -> None:
    """Disassemble, and send events to the descriptor."""
    request = msgspec.json.decode(argument, type=Request)
    for event in _disassembled(request):
        line = memoryview(msgspec.json.encode(event) + b"\n")
        while line:
            line = line[os.write(events, line) :]


def _disassembled(request: Request) -> Iterator[Text | Done]:
    try:
        with os.fdopen(request.cubin, "rb") as stream:
            Path(CUBIN).write_bytes(stream.read())
        words = [request.tool, "-c", "-fun", str(request.symbol), CUBIN]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            assert process.stdout is not None
            last, left = b"", TEXT_MAX
            while left > 0 and (data := process.stdout.read(CHUNK)):
                last, left = data, left - len(data)
                yield Text(data.decode("ascii", "replace"))
            if left <= 0:
                process.kill()
                yield Done(f"it printed more than {TEXT_MAX} bytes")
                return
    except OSError as error:
        yield Done(one_line(f"it cannot start: {error.strerror}"))
        return
    status = process.returncode
    said = one_line(last.decode("ascii", "replace"), 300)
    yield Done("" if status == 0 else f"it ended with status {status}: {said}")
