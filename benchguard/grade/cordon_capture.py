"""Makes a capture whose kernels check their accesses, out of a submission's capture. Runs in a sandbox.

Its PTX is hostile. The new capture has one more allocation, at an address that is drawn at random: the table of what
kernels may access, and the map of violations behind it.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import msgspec
from msgspec.structs import replace

from ..capture import Capture, CaptureError, CaptureWriter
from ..capture.codec import MalformedError
from ..capture.fatbin import ELF, PTX, entries
from ..capture.layout import BLOB_MAX, AllocationFlag, ImageFormat, Kind, Role
from ..capture.model import Allocation, Content, Image, Launch, Range
from ..capture.unpack import CodeError
from ..capture.unrestored import HEAP
from ..ipc.text import one_line
from ..probe.bounds.check import Place, map_bytes
from ..probe.bounds.rewrite import Rewritten, Site, rewrite
from ..probe.source import TEXT_MAX, SourceError
from ..quarantine.reader import LIMITS
from .cordon_result import Unchecked

REWRITER = f"{__name__}:run"
PLAN_BYTES = 32 << 20
REASON_MAX, REASONS_MAX, NAME_MAX = 200, 8, 1024
UNCHECKED_MAX = 1024
"""Limit on the kernels that are listed as unchecked. Others are counted."""

GRANULE = 2 << 20
_TABLE_HEAD, _TABLE_ENTRY = struct.Struct("<QQ"), struct.Struct("<QQQQ")


class Order(msgspec.Struct, frozen=True):
    """Read the capture behind the descriptor `capture`; write the new one to `into`, and the plan to `plan`.

    `is_sim`: the CPU driver runs PTX, also where there is machine code.
    """

    capture: int
    into: int
    plan: int
    is_sim: bool


class Spot(msgspec.Struct, frozen=True, array_like=True):
    """An access in the code: kernel or function, line of the PTX, file and line of its source, opcode, kind."""

    function: str
    line: int
    file: str
    source_line: int
    opcode: str
    kind: str
    space: str


class Extent(msgspec.Struct, frozen=True, array_like=True):
    """Memory that the kernels were given."""

    address: int
    bytes: int
    name: str


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The checks in the new capture. `map` is the address of the map of violations."""

    map: int = 0
    sites: tuple[Spot, ...] = ()
    extents: tuple[Extent, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    unlisted: int = 0
    checked: int = 0
    hidden: str = ""
    """The kernel that may have memory which the table lacks, such as the device heap; empty if none may."""
    trouble: str = ""
    """Why there is no new capture; empty if there is one."""


def run(text: bytes, events: int) -> NoReturn:
    """Carry out the order in `text`, with the working directory for temporary files, and end the process."""
    del events
    order = msgspec.json.decode(text, type=Order)
    made = Path.cwd() / "cordon.ncap"
    try:
        plan = make(Capture(Path("the capture"), order.capture, LIMITS), made, order.is_sim)
        if not plan.trouble:
            with made.open("rb") as source, open(order.into, "wb", closefd=False) as target:
                shutil.copyfileobj(source, target)
    except (CaptureError, MalformedError, MemoryError, OSError, RecursionError, struct.error) as error:
        plan = Plan(trouble=one_line(str(error) or type(error).__name__, REASON_MAX))
    with open(order.plan, "wb", closefd=False) as target:
        target.write(msgspec.json.encode(plan))
    os._exit(0)


def make(capture: Capture, path: Path, is_sim: bool) -> Plan:
    """Write the new capture to `path`. Raises CaptureError, OSError."""
    extents = _extents(capture)
    table = _table(extents)
    base = _free_address(capture)
    map_at = base + len(table)
    codes = _rewritten(capture, Place(map_at, base), is_sim)
    sites = [site for code in codes.images.values() for site in code.sites]
    if not sites:
        return Plan(unchecked=codes.unchecked(), unlisted=codes.unlisted, trouble=codes.nothing)
    size = len(table) + map_bytes(len(sites))
    arena = capture.device.arena_bytes
    if arena and base + size > capture.device.arena + arena:
        return Plan(trouble="the address range of the capture has no room for the map of violations")
    with CaptureWriter(path) as writer:
        _write(capture, writer, codes.images, Allocation(base, size, _ALWAYS, "cordon"), table)
    return Plan(
        map=map_at,
        sites=tuple(map(_spot, sites)),
        extents=extents,
        unchecked=codes.unchecked(),
        unlisted=codes.unlisted,
        checked=codes.checked,
        hidden=one_line(codes.hidden or _given_a_global(capture), NAME_MAX),
    )


_ALWAYS = AllocationFlag.BEFORE | AllocationFlag.AFTER


def _spot(site: Site) -> Spot:
    return Spot(
        site.function[:NAME_MAX], site.line, site.file[:NAME_MAX], site.source_line, site.opcode[:100],
        site.kind, site.space,
    )  # fmt: skip


def _given_a_global(capture: Capture) -> str:
    """A kernel that gets the address of a global of another module, which is elsewhere in a replay; empty if none."""
    for each in capture.relocations:
        launch = capture.operations[each.operation]
        if isinstance(launch, Launch):
            kernel = capture.kernels[launch.kernel]
            if kernel.module != capture.globals[each.global_index].module:
                return kernel.name
    return ""


def _extents(capture: Capture) -> tuple[Extent, ...]:
    """Allocations in the order of their addresses. Those that overlap are one."""
    named = {each.address: each.name for each in capture.ranges}
    found: list[Extent] = []
    for each in sorted(capture.allocations, key=lambda each: (each.address, each.bytes)):
        last = found[-1] if found else None
        if last is not None and each.address < last.address + last.bytes:
            end = max(last.address + last.bytes, each.address + each.bytes)
            found[-1] = Extent(last.address, end - last.address, last.name)
        else:
            name = named.get(each.address) or each.call
            found.append(Extent(each.address, each.bytes, one_line(name, NAME_MAX)))
    return tuple(found)


def _table(extents: tuple[Extent, ...]) -> bytes:
    entries_ = (_TABLE_ENTRY.pack(each.address, each.bytes, n, 0) for n, each in enumerate(extents))
    return _TABLE_HEAD.pack(len(extents), 0) + b"".join(entries_)


def _free_address(capture: Capture) -> int:
    """An address in the capture's arena, behind its allocations. The replay reserves the arena at once."""
    begin, size = capture.device.arena, capture.device.arena_bytes
    ends = [each.address + each.bytes for each in capture.allocations]
    last = max([begin, *(each for each in ends if not size or each <= begin + size)])
    return (last // GRANULE + 2 + secrets.randbelow(1 << 12)) * GRANULE


class _Codes:
    """The rewritten images by index, and the kernels that are not checked, with reasons."""

    def __init__(self) -> None:
        self.images: dict[int, Rewritten] = {}
        self.checked = 0
        self.hidden = ""
        self._reasons: dict[str, list[str]] = {}

    def doubt(self, kernel: str, reason: str) -> None:
        self._reasons.setdefault(kernel, []).append(reason)

    def unchecked(self) -> tuple[Unchecked, ...]:
        return tuple(
            Unchecked(one_line(kernel, NAME_MAX), one_line("; ".join(reasons[:REASONS_MAX]), REASON_MAX))
            for kernel, reasons in [*self._reasons.items()][:UNCHECKED_MAX]
        )

    @property
    def unlisted(self) -> int:
        return max(0, len(self._reasons) - UNCHECKED_MAX)

    @property
    def nothing(self) -> str:
        return "" if self._reasons or not self.images else "no kernel accesses memory"


def _rewritten(capture: Capture, place: Place, is_sim: bool) -> _Codes:
    modules, codes, first = tuple(capture.modules), _Codes(), 0
    wanted: dict[int, list[str]] = {}
    for kernel in capture.kernels:
        names = wanted.setdefault(modules[kernel.module].image, [])
        if kernel.name not in names:
            names.append(kernel.name)
    for index, names in sorted(wanted.items()):
        try:
            text = ptx_of(capture.image(index), capture.images[index].format, is_sim)
            code = rewrite(text, names, place, first)
        except (SourceError, CodeError) as error:
            for name in names:
                codes.doubt(name, str(error))
            if HEAP.search(capture.image(index)):
                codes.hidden = codes.hidden or names[0]
            continue
        codes.images[index] = code
        first += len(code.sites)
        for name in names:
            for doubt in code.doubts[name]:
                codes.doubt(name, doubt.reason)
                if doubt.has_memory:
                    codes.hidden = codes.hidden or name
            codes.checked += not code.doubts[name]
    return codes


def ptx_of(image: bytes, format_: ImageFormat, is_sim: bool) -> bytes:
    """The PTX that runs. Raises SourceError if an image has none, or if other code may run."""
    if format_ is ImageFormat.PTX:
        return image
    if format_ is not ImageFormat.FATBIN:
        raise SourceError("its image has machine code only, no PTX")
    found = [*entries(image)]
    texts = [each for each in found if each.kind == PTX]
    if not texts:
        raise SourceError("its image has machine code only, no PTX")
    if len(texts) > 1 or any(each.kind not in (PTX, ELF) for each in found):
        raise SourceError("its image has several codes, and which one runs is the driver's choice")
    if len(found) > 1 and not is_sim:
        raise SourceError("its image has machine code, too, which runs instead of the PTX")
    if texts[0].raw_bytes > TEXT_MAX:
        raise SourceError(f"its PTX has more than {TEXT_MAX} bytes")
    return texts[0].code(image)


def _write(
    capture: Capture, writer: CaptureWriter, codes: dict[int, Rewritten], more: Allocation, table: bytes
) -> None:
    """Copy everything but what the region left in memory, with other images and one more allocation."""

    def copied(content: Content) -> Content:
        return writer.content_of(capture.chunks(content), content.bytes)

    writer.add(capture.device)
    for limit in capture.context_limits:
        writer.add(limit)
    for index, image in enumerate(capture.images):
        writer.add(_image(writer, codes[index].text, image) if index in codes else _moved(image, copied))
    for kind in (Kind.MODULE, Kind.KERNEL):
        for each in capture.table(kind):
            writer.add(each)
    for each in capture.globals:
        writer.add(replace(each, before=copied(each.before), after=copied(each.after)))
    for each in (*capture.allocations, more):
        writer.add(each)
    for run_ in capture.before:
        writer.add_run(Kind.BEFORE, run_.address, b"".join(capture.chunks(run_.content)))
    for at in range(0, len(table), BLOB_MAX):
        writer.add_run(Kind.BEFORE, more.address + at, table[at : at + BLOB_MAX])
    for kind in (Kind.STREAM, Kind.OPERATION, Kind.EDGE, Kind.RELOCATION, Kind.REFUSAL):
        for each in capture.table(kind):
            writer.add(_moved(each, copied))
    for each in capture.ranges:
        writer.add(_as_input(each))
    for each in capture.table(Kind.META):
        writer.add(each)
    writer.add(capture.end)


def _image(writer: CaptureWriter, text: str, image: Image) -> Image:
    raw = text.encode("latin-1") + b"\0"
    digest = hashlib.sha256(raw).hexdigest()
    return Image(digest, ImageFormat.PTX, image.origin, writer.content(raw))


def _moved(element: Any, copied: Callable[[Content], Content]) -> Any:
    """The element with its bulk data, if it has some, in the new capture."""
    return replace(element, content=copied(element.content)) if hasattr(element, "content") else element


def _as_input(each: Range) -> Range:
    """The judge has checked the outputs already; here the map alone is read."""
    return replace(each, role=Role.INPUT)
