"""Runs inside a sandbox: use each device once, without any code of a submission, and say what the driver refused."""

from __future__ import annotations

import os

import msgspec

CHECK_BYTES = 1 << 20
WORKER = f"{__name__}:use_devices"


class Use(msgspec.Struct, frozen=True):
    """The devices to use, by number, and the library with the driver's functions."""

    library: str
    devices: tuple[int, ...]


class Used(msgspec.Struct, frozen=True):
    """`trouble` is the driver's error; empty if every device worked."""

    trouble: str


def use_devices(argument: bytes, events: int) -> None:
    """Make a context on each device and fill memory there. `argument` is a Use as JSON; a Used is sent to `events`."""
    # The supervisor imports this file, too, and does not need the runner.
    from .runner.driver import Driver  # noqa: PLC0415
    from .runner.reporting import SubmissionError  # noqa: PLC0415

    use = msgspec.json.decode(argument, type=Use)
    trouble = ""
    try:
        for number in use.devices:
            driver = Driver(use.library, number)
            driver.fill(driver.allocate(CHECK_BYTES), 0, CHECK_BYTES)
            driver.synchronise()
    except SubmissionError as error:
        trouble = f"device {number}: {error.text}"
    os.write(events, msgspec.json.encode(Used(trouble)) + b"\n")
    os._exit(0)  # a driver may hang while it ends
