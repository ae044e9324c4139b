"""Siblings of a replay process: processes with an engine each, so with another context and other memory.

Times of short kernels differ from context to context (docs/adr/0039), so samples are taken in several. A sibling is
confined as the replay process is, which starts it. It has one engine, and obeys one order after the other on a socket.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, NoReturn

import msgspec
from msgspec.structs import replace

from ..ipc.mapped import map_inherited
from ..ipc.messages import ClosedError
from ..quarantine.work import receive_work, send_work
from .binding import NativeEngine, load_engine, open_driver, open_engine
from .contract import EngineError
from .protocol import CANNOT, OURS, Device, OpenDriver, Options, Prepared, Request, Sample, encode, renumbered

Name = Literal[
    "end", "prepare", "input", "zeros", "output", "warm", "follow", "measure", "measure_empty", "read"
]


class Call(msgspec.Struct, frozen=True, tag="call"):
    """A call of an engine's method. Memory is an offset in the inputs' or the slots' memory, and a size."""

    name: Name
    numbers: tuple[int, ...] = ()
    options: Options | None = None


class Answer(msgspec.Struct, frozen=True):
    """The result of a call; `status` and `text` are an EngineError's. `waited`: see Sampler.waited()."""

    sample: Sample | None = None
    prepared: tuple[Device, Prepared] | None = None
    waited: float = 0.0
    status: int = 0
    text: str = ""


_encode = msgspec.json.Encoder().encode
_decode_answer = msgspec.json.Decoder(Answer).decode
_decode_order = msgspec.json.Decoder(OpenDriver | Request | Call).decode


class Sibling:
    """The engine of a sibling, under the interface of contract.Sampler."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._inputs = self._slots = memoryview(b"")
        self._waited, self._has_begun = 0.0, False

    def open_driver(self, order: OpenDriver) -> None:
        """Begin to make the device's context; opened() ends that."""
        self._send(encode(order))

    def opened(self) -> None:
        with suppress(EngineError):  # the replay meets the same error, and reports it
            self._answer()

    def open(self, request: Request, inputs: memoryview, slots: memoryview) -> None:
        """Begin to read the capture, and to map the memory of the views; prepare() waits for the end of that."""
        self._inputs, self._slots = inputs, slots
        own = None if request.slots is None else replace(request.slots, announce=-1, release=-1)
        request = replace(request, slots=own, outputs_descriptor=-1, inputs_ready=-1)
        used = (request.capture, request.inputs_descriptor, own.descriptor if own is not None else -1)
        self._send(encode(request), [each for each in used if each >= 0])

    def end(self) -> None:
        """Have the sibling end."""
        self._send(_encode(Call("end")))

    def prepare(self, driver: str, options: Options) -> tuple[Device, Prepared]:  # noqa: ARG002 - of open()
        self._answer()
        made = self._call(Call("prepare", options=options)).prepared
        if made is None:
            raise _broken("did not prepare")
        return made

    def input(self, number: int, address: int, data: memoryview) -> None:
        self._call(Call("input", (number, address, _offset_of(data, self._inputs), len(data))))

    def zeros(self, number: int, address: int, size: int) -> None:
        self._call(Call("zeros", (number, address, size)))

    def output(self, address: int, size: int) -> None:
        self._call(Call("output", (address, size)))

    def warm(self, warm: bool) -> None:
        self._call(Call("warm", (int(warm),)))

    def follow(self, follows: bool) -> None:
        self._call(Call("follow", (int(follows),)))

    def measure(self, number: int) -> Sample:
        return self._sample(Call("measure", (number,)))

    def measure_empty(self, number: int) -> Sample:
        return self._sample(Call("measure_empty", (number,)))

    def read(self, address: int, into: memoryview) -> None:
        self._call(Call("read", (address, _offset_of(into, self._slots), len(into))))

    def waited(self) -> float:
        return self._waited

    def _sample(self, call: Call) -> Sample:
        self._has_begun = True
        sample = self._call(call).sample
        if sample is None:
            raise _broken("took no sample")
        return sample

    def _call(self, call: Call) -> Answer:
        self._send(_encode(call))
        return self._answer()

    def _send(self, message: bytes, descriptors: Sequence[int] = ()) -> None:
        with suppress(ClosedError):  # there is no answer then, either
            send_work(self._end, message, descriptors)

    def _answer(self) -> Answer:
        try:
            answer = _decode_answer(receive_work(self._end).argument)
        except ClosedError:
            raise _broken("ended", OURS if self._has_begun else CANNOT) from None
        self._waited = answer.waited
        if answer.status:
            raise EngineError(answer.status, answer.text)
        return answer


def close_all(siblings: Sequence[Sibling]) -> None:
    """End siblings, which are children of this process, and wait until their device memory is free."""
    for each in siblings:
        each.end()
    for _ in siblings:
        os.wait()


def serve(descriptor: int) -> NoReturn:
    """The sibling: obey on a socket until an order to end, or until the replay process ends."""
    child = _Child()
    with socket.socket(fileno=descriptor) as end, suppress(ClosedError):
        while True:
            work = receive_work(end)
            order = _decode_order(work.argument)
            if isinstance(order, Call) and order.name == "end":
                break
            send_work(end, _encode(child.answer(order, work.descriptors)))
    os._exit(0)  # the kernel frees device state faster than calls would


class _Child:
    def __init__(self) -> None:
        self._engine: NativeEngine | None = None
        self._driver = ""
        self._inputs = self._slots = memoryview(b"")

    def answer(self, order: OpenDriver | Request | Call, descriptors: Mapping[int, int]) -> Answer:
        try:
            if isinstance(order, OpenDriver):
                open_driver(order.driver, order.device)
                return Answer()
            if isinstance(order, Request):
                self._open(renumbered(order, descriptors))
                return Answer()
            return self._obey(order)
        except EngineError as error:
            return Answer(status=error.status, text=str(error))

    def _open(self, request: Request) -> None:
        self._driver = request.driver
        self._inputs = map_inherited(request.inputs_descriptor, writable=False)
        self._slots = map_inherited(request.slots.descriptor if request.slots else -1, writable=True)
        self._engine = open_engine(request.capture, request.limits)

    def _obey(self, call: Call) -> Answer:
        engine = self._engine
        if engine is None:
            raise _broken("has no capture")
        sample = prepared = None
        if call.name == "prepare" and call.options is not None:
            prepared = engine.prepare(self._driver, call.options)
        elif call.name == "input":
            number, address, offset, size = call.numbers
            engine.input(number, address, self._inputs[offset : offset + size])
        elif call.name == "read":
            address, offset, size = call.numbers
            engine.read(address, self._slots[offset : offset + size])
        elif call.name == "measure":
            sample = engine.measure(*call.numbers)
        elif call.name == "measure_empty":
            sample = engine.measure_empty(*call.numbers)
        else:
            others: dict[Name, Callable[..., Any]] = {
                "zeros": engine.zeros,
                "output": engine.output,
                "warm": engine.warm,
                "follow": engine.follow,
            }
            others[call.name](*call.numbers)
        return Answer(sample, prepared, engine.waited())


def _offset_of(part: memoryview, whole: memoryview) -> int:
    ffi, _ = load_engine()
    first, start = (int(ffi.cast("uintptr_t", ffi.from_buffer(each))) for each in (part, whole))
    return first - start


def _broken(what: str, status: int = OURS) -> EngineError:
    return EngineError(status, f"a process of the replay {what}; grade again, or with --placements 1")
