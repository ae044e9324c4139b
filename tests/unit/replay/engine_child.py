"""A process of its own for one replay: takes a plan as JSON, prints what each step gave.

A fault or an endless kernel costs a process its driver, and the CPU driver reads its environment once.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import msgspec

from benchguard.replay.binding import NativeEngine, open_engine
from benchguard.replay.contract import EngineError
from benchguard.replay.protocol import Limits, Options

LIMITS = Limits(host_bytes=1 << 32, device_bytes=1 << 34, operations=1 << 20, decoders=1)


def step(engine: NativeEngine, plan: dict[str, Any], words: list[Any]) -> Any:  # noqa: PLR0911
    match words:
        case ["prepare"]:
            return engine.prepare(plan["driver"], msgspec.convert(plan["options"], Options))
        case ["verify"]:
            return engine.verify(16)
        case ["measure", count]:
            return [engine.measure() for _ in range(count)]
        case ["once", number]:
            return engine.once(number)
        case ["input", number, address, data]:
            return engine.input(number, address, memoryview(bytes.fromhex(data)))
        case ["output", address, size]:
            return engine.output(address, size)
        case ["read", address, size]:
            into = bytearray(size)
            engine.read(address, memoryview(into))
            return into.hex()
        case ["samples", count, address, size]:  # each with the memory that it left
            return [(step(engine, plan, ["measure", 1])[0], step(engine, plan, ["read", address, size]))
                    for _ in range(count)]  # fmt: skip
        case ["overhead"]:
            return engine.measure_overhead()
        case ["refusal", index]:
            return engine.refusal(index)
        case _:
            raise ValueError(words)


def main() -> None:
    plan = json.load(sys.stdin)
    results: list[Any] = []
    descriptor = os.open(plan["capture"], os.O_RDONLY)
    engine = open_engine(descriptor, LIMITS, plan["library"])
    for words in plan["steps"]:
        try:
            results.append(step(engine, plan, words))
        except EngineError as error:
            results.append({"status": error.status, "text": str(error)})
    engine.close()
    sys.stdout.buffer.write(msgspec.json.encode(results) + b"\n")


if __name__ == "__main__":
    main()
