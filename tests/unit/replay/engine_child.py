"""A process of its own for one replay: takes a plan as JSON, prints what each step gave.

A fault or an endless kernel costs a process its driver, and the CPU driver reads its environment once.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import msgspec

from benchguard.replay.binding import NativeEngine, open_engine
from benchguard.replay.contract import EngineError
from benchguard.replay.protocol import NO_SET, Limits, Options

LIMITS = Limits(host_bytes=1 << 32, device_bytes=1 << 34, elements=1 << 20, decoders=1)


def step(engine: NativeEngine, plan: dict[str, Any], words: list[Any]) -> Any:  # noqa: PLR0911, PLR0912
    match words:
        case ["prepare"]:
            return engine.prepare(plan["driver"], msgspec.convert(plan["options"], Options))
        case ["verify"]:
            return engine.verify(16)
        case ["measure", count]:
            return [engine.measure(drawn(plan)) for _ in range(count)]
        case ["measured", number]:
            return engine.measure(number)
        case ["reads", number]:
            return engine.check_reads(number)
        case ["once", number]:
            return engine.once(number)
        case ["input", number, address, data]:
            engine.input(number, address, memoryview(bytes.fromhex(data)))
            plan["sets"] = max(plan.get("sets", 0), number + 1)
            return None
        case ["output", address, size]:
            return engine.output(address, size)
        case ["read", address, size]:
            into = bytearray(size)
            engine.read(address, memoryview(into))
            return into.hex()
        case ["recorded", address, size]:
            into = bytearray(size)
            return into.hex() if engine.recorded(address, memoryview(into)) else None
        case ["warm", warm]:
            return engine.warm(warm)
        case ["follow", follows]:
            return engine.follow(follows)
        case ["samples", count, address, size]:  # each with the memory that it left
            return [(step(engine, plan, ["measure", 1])[0], step(engine, plan, ["read", address, size]))
                    for _ in range(count)]  # fmt: skip
        case ["overhead"]:
            return engine.measure_overhead()
        case ["refusal", index]:
            return engine.refusal(index)
        case ["notes"]:
            return [text for index in range(8) if (text := engine.note(index)) is not None]
        case [
            "point",
            number,
            address,
            kind,
            index,
            offset,
        ]:  # to memory of ours that the driver's log tells of
            target = found(kind, index) + offset
            return step(engine, plan, ["input", number, address, target.to_bytes(8, "little").hex()])
        case _:
            raise ValueError(words)


def drawn(plan: dict[str, Any]) -> int:
    """Each set in turn; the recorded inputs without any."""
    plan["turn"] = plan.get("turn", -1) + 1
    return plan["turn"] % plan["sets"] if plan.get("sets") else NO_SET


def found(kind: str, index: int) -> int:
    """An address that programs/forgetful_driver.c has written down."""
    lines = [line.split() for line in Path(os.environ["CALL_LOG"]).read_text().splitlines()]
    return [int(words[1], 16) for words in lines if words[0] == kind][index]


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
