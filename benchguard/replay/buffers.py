"""Inputs for the replay process and outputs from it: anonymous memory that both have open."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ..errors import UsageError
from ..ipc.slots import SLOTS_MAX
from .protocol import SETS_MAX, InputPart, OutputPart, SlotPart, SlotRequest
from .subject import Subject

Data: TypeAlias = Any
"""Bytes-like, or an array that has `tobytes` (numpy's)."""

Source: TypeAlias = "Data | Sequence[Data] | Callable[[int], Data]"
Keep = Literal["last", "sets", "none"]

POOL_SETS = 8
"""How many sets a callable is asked for where no list says how many."""

STRICT_SETS = 20
"""The same in a strict replay, which uses some sets once."""

DEVICE_ALIGNMENT = 256
"""Alignment of each input in the engine's memory."""

_ALIGNMENT = 64


Places: TypeAlias = Mapping[str, tuple[int, int]]
"""By the name of a range of the capture: offset in a set, and bytes."""


@dataclass(frozen=True)
class SharedInputs:
    """Input sets that somebody else wrote into a memfd, `stride` bytes from one to the next.

    The last `one_use` of the `sets` are used for one timed sample each. The descriptors stay the caller's. If `ready`
    is a pipe, one-use sets follow each other in one place behind the others, and a byte announces each of them.
    `zeros` are the names of places that hold zeros in all sets.
    """

    descriptor: int
    sets: int
    one_use: int
    stride: int
    places: Places
    ready: int = -1
    zeros: frozenset[str] = frozenset()

    @property
    def stored(self) -> int:
        """The number of sets that are in memory at once."""
        return self.sets if self.ready < 0 else self.sets - self.one_use + 1


@dataclass(frozen=True)
class SlotPool:
    """A memfd of `slots` slots, `stride` bytes from one to the next, to which every timed sample's outputs are copied.

    Each copy is announced on the descriptor `announce` (ipc/slots.py); a byte on `release`, the slot's number, returns
    the slot. The caller keeps all three descriptors.
    """

    descriptor: int
    slots: int
    stride: int
    places: Places
    announce: int
    release: int


@dataclass(frozen=True)
class Buffers:
    """Memory that a replay reads and returns: `inputs` and `outputs` as in replay(), or memory shared with the caller.

    With `slots`, `outputs` None means no outputs in the result.
    """

    inputs: Mapping[str | int, Source] | SharedInputs | None = None
    outputs: Sequence[str | tuple[int, int]] | None = None
    slots: SlotPool | None = None

    @property
    def outputs_wanted(self) -> Sequence[str | tuple[int, int]] | None:
        return () if self.slots is not None and self.outputs is None else self.outputs

    @property
    def input_names(self) -> list[str]:
        names = self.inputs.places if isinstance(self.inputs, SharedInputs) else self.inputs or {}
        return [*map(str, names)]


@dataclass(frozen=True)
class Pool:
    """`sets` input sets in the memory behind `descriptor`; -1 without inputs."""

    descriptor: int = -1
    sets: int = 0
    parts: tuple[InputPart, ...] = ()
    one_use: int = 0
    owned: bool = True
    ready: int = -1

    def bytes_of(self, number: int | None) -> int:
        """Bytes of a set, or of all sets, in the engine's memory."""
        sizes = (
            part.bytes for part in self.parts if not part.zeros and (number is None or part.number == number)
        )
        return sum(-(-size // DEVICE_ALIGNMENT) * DEVICE_ALIGNMENT for size in sizes)

    @property
    def device_bytes(self) -> int:
        """Bytes of the sets that the device holds, if it has room. Streamed sets follow each other in one place."""
        return self.bytes_of(None)

    @property
    def streamed_bytes(self) -> int:
        """Bytes of a set if sets are streamed, so that samples wait for them; 0 if not."""
        return self.bytes_of(0) if self.ready >= 0 else 0

    @property
    def set_bytes(self) -> int:
        """Bytes of the largest set, if the device may hold one at a time; 0 if not."""
        return 0 if self.owned else self.bytes_of(0)

    def close(self) -> None:
        if self.owned and self.descriptor >= 0:
            os.close(self.descriptor)


@dataclass(frozen=True)
class Outputs:
    """Names by part; `sets` copies of all parts, `stride` bytes from one to the next."""

    descriptor: int = -1
    names: tuple[str, ...] = ()
    parts: tuple[OutputPart, ...] = ()
    sets: int = 0
    stride: int = 0

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)

    def read(self) -> dict[str, bytes | list[bytes]]:
        """Each output: of the last sample, or a list by input set."""
        contents: dict[str, bytes | list[bytes]] = {}
        for name, part in zip(self.names, self.parts, strict=True):
            copies = [
                os.pread(self.descriptor, part.bytes, number * self.stride + part.offset)
                for number in range(self.sets)
            ]
            contents[name] = copies if self.sets > 1 else copies[0]
        return contents


def make_pool(
    inputs: Mapping[str | int, Source] | SharedInputs | None, subject: Subject, computed_sets: int = POOL_SETS
) -> Pool:
    """All sets of all inputs in one memfd, or the caller's. Raises UsageError for an input that does not fit.

    A callable is asked for `computed_sets` sets, unless a list says how many there are.
    """
    if isinstance(inputs, SharedInputs):
        return _shared_pool(inputs, subject)
    if not inputs:
        return Pool()
    sets = _set_count(inputs, computed_sets)
    descriptor = os.memfd_create("neutrino-inputs", os.MFD_CLOEXEC)
    try:
        parts, offset = [], 0
        for key, source in inputs.items():
            for number in range(sets):
                data = _bytes_of(_item(source, number), key)
                place = subject.place(key, len(data))
                if len(data) != place.bytes:
                    raise UsageError(
                        f"input {_text(key)} has {len(data)} bytes, its range has {place.bytes}; "
                        "give as many as were recorded"
                    )
                _write(descriptor, data, offset)
                parts.append(InputPart(number, place.address, len(data), offset))
                offset += _aligned(len(data))
        os.ftruncate(descriptor, max(offset, 1))
        return Pool(descriptor, sets, tuple(parts))
    except BaseException:
        os.close(descriptor)
        raise


def _shared_pool(shared: SharedInputs, subject: Subject) -> Pool:
    """The caller's memory as a pool. Raises UsageError for what the capture, or the memory, has not."""
    if not 0 <= shared.one_use < shared.sets <= SETS_MAX:
        raise UsageError(
            f"{shared.one_use} of {shared.sets} input sets are one-use; give 1 to {SETS_MAX} sets, and let at least "
            "one of them be repeated"
        )
    _check_shared("inputs", shared.descriptor, shared.stored, shared.stride, shared.places)
    parts = [
        InputPart(
            number, _place(subject, name, size), size, number * shared.stride + offset, name in shared.zeros
        )
        for number in range(shared.stored)
        for name, (offset, size) in shared.places.items()
        if size
    ]
    return Pool(shared.descriptor, shared.sets, tuple(parts), shared.one_use, owned=False, ready=shared.ready)


def slot_request(buffers: Buffers, subject: Subject) -> SlotRequest | None:
    """The replay process's description of the slot pool; None without one. Raises UsageError.

    An output that is an input too is updated in place and begins as the input. Other outputs begin as noise.
    """
    pool, input_names = buffers.slots, buffers.input_names
    if pool is None:
        return None
    if not 1 <= pool.slots <= SLOTS_MAX:
        raise UsageError(f"the slot pool has {pool.slots} slots; give 1 to {SLOTS_MAX}")
    _check_shared("outputs", pool.descriptor, pool.slots, pool.stride, pool.places)
    parts = [
        SlotPart(_place(subject, name, size), size, offset, name not in input_names)
        for name, (offset, size) in pool.places.items()
        if size
    ]
    return SlotRequest(pool.descriptor, pool.slots, pool.stride, tuple(parts), pool.announce, pool.release)


def _check_shared(what: str, descriptor: int, count: int, stride: int, places: Places) -> None:
    if any(offset < 0 or size < 0 or offset + size > stride for offset, size in places.values()):
        raise UsageError(f"shared {what} do not fit their stride of {stride} bytes; lay them out again")
    there = os.fstat(descriptor).st_size
    if there < count * stride:
        raise UsageError(
            f"shared {what} have {there} bytes, {count} times {stride} are needed; make their memory larger"
        )


def _place(subject: Subject, name: str, size: int) -> int:
    place = subject.place(name, size)
    if place.bytes != size:
        raise UsageError(
            f"buffer {name!r} has {size} bytes, its range in the capture {place.bytes}; "
            "give as many as were recorded"
        )
    return place.address


def make_outputs(
    keys: Sequence[str | tuple[int, int]] | None, keep: Keep, subject: Subject, input_sets: int
) -> Outputs:
    """Room for the wanted outputs; None: those that the program named. Raises UsageError."""
    if keep not in {"last", "sets", "none"}:
        raise UsageError(f"keep_outputs is {keep!r}; give last, sets or none")
    outputs: Sequence[str | tuple[int, int]] = subject.outputs() if keys is None else keys
    names, parts, offset = [], [], 0
    for each in outputs:
        key, size = (each, 0) if isinstance(each, str) else each
        place = subject.place(key, size)
        if place.bytes <= 0:
            raise UsageError(f"output {_text(key)} has no bytes; give an address and how many there are")
        names.append(_text(key))
        is_written = subject.is_written(place.address, place.bytes)
        parts.append(OutputPart(place.address, place.bytes, offset, is_written, _text(key)))
        offset += _aligned(place.bytes)
    if not parts:
        return Outputs()
    sets = {"none": 0, "last": 1, "sets": max(1, input_sets)}[keep]
    if sets == 0:
        return Outputs(names=tuple(names), parts=tuple(parts))
    descriptor = os.memfd_create("neutrino-outputs", os.MFD_CLOEXEC)
    try:
        _check_room(offset * sets)
        os.ftruncate(descriptor, offset * sets)
    except BaseException:
        os.close(descriptor)
        raise
    return Outputs(descriptor, tuple(names), tuple(parts), sets, offset)


def checked_parts(outputs: Outputs, subject: Subject) -> tuple[OutputPart, ...]:
    """The outputs that a replay without a judge checks: those wanted, and all that the program named."""
    parts = {(part.address, part.bytes): part for part in outputs.parts}
    for place in subject.output_places():
        written = subject.is_written(place.address, place.bytes)
        part = OutputPart(place.address, place.bytes, 0, written, place.label)
        parts.setdefault((place.address, place.bytes), part)
    return tuple(parts.values())


def _set_count(inputs: Mapping[str | int, Source], computed_sets: int) -> int:
    """As many as the lists have; lists of different lengths do not make sets."""
    counts = {len(source) for source in inputs.values() if isinstance(source, (list, tuple))}
    if len(counts) > 1:
        raise UsageError(
            f"inputs have lists of {' and '.join(map(str, sorted(counts)))} sets; give as many of each"
        )
    computed = any(callable(source) for source in inputs.values())
    count = counts.pop() if counts else (computed_sets if computed else 1)
    if not 1 <= count <= SETS_MAX:
        raise UsageError(f"inputs have {count} sets; give 1 to {SETS_MAX}")
    return count


def _item(source: Source, number: int) -> Data:
    if callable(source):
        return source(number)
    return source[number] if isinstance(source, (list, tuple)) else source


def _bytes_of(data: Data, key: str | int) -> bytes | memoryview:
    if hasattr(data, "tobytes") and not isinstance(data, memoryview):
        return bytes(data.tobytes())  # arrays that are not contiguous, or of types that buffers do not know
    try:
        view = memoryview(data)
    except TypeError:
        raise UsageError(
            f"input {_text(key)} is a {type(data).__name__}; give bytes, a numpy array, or a list of those"
        ) from None
    return view.cast("B") if view.c_contiguous else view.tobytes()


def _write(descriptor: int, data: bytes | memoryview, offset: int) -> None:
    _check_room(offset + len(data))
    view = memoryview(data)
    while view:
        size = os.pwrite(descriptor, view, offset)
        view, offset = view[size:], offset + size


def _check_room(size: int) -> None:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if size > memory // 2:
        raise UsageError(
            f"inputs or outputs of {size >> 20} MiB are more than half of this machine's memory; give fewer sets"
        )


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _text(key: str | int) -> str:
    return key if isinstance(key, str) else f"{key:#x}"
