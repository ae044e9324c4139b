"""Stands in for a replay: reads secret inputs, writes outputs to slots, and announces them."""

from __future__ import annotations

import mmap
import os
import select
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from benchguard.ipc.slots import ANNOUNCEMENT
from benchguard.judge.contract import Ask, AskSecrets, Opened, Secrets
from benchguard.judge.process import JudgeProcess
from benchguard.problem.arrays import from_bytes
from benchguard.problem.spec import Buffer, CaseSpec, Layout
from tests.unit.judge.problems import WORKER

Solve = Callable[[Mapping[str, np.ndarray], Mapping[str, np.ndarray]], None]
SECONDS = 30.0


def judge(seconds: float = SECONDS) -> JudgeProcess:
    return JudgeProcess(seconds, worker=WORKER)


def views(
    buffers: tuple[Buffer, ...], layout: Layout, memory: np.ndarray, number: int
) -> dict[str, np.ndarray]:
    items = {}
    for buffer in buffers:
        offset, size = layout.place(buffer.name, number)
        items[buffer.name] = from_bytes(memory[offset : offset + size], buffer)
    return items


def mapped(descriptor: int, writable: bool) -> np.ndarray:
    protection = mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0)
    size = os.fstat(descriptor).st_size
    return np.frombuffer(mmap.mmap(descriptor, size, mmap.MAP_SHARED, protection), np.uint8)


ReplayingT = TypeVar("ReplayingT", bound="Replaying")


@dataclass
class Replaying:
    spec: CaseSpec
    secrets: Secrets
    descriptors: list[int]

    def __post_init__(self) -> None:
        self.pool = mapped(self.descriptors[0], writable=False)
        self.outputs = mapped(self.descriptors[1], writable=True)
        self.free = list(range(self.secrets.slots))
        self.samples = 0

    def inputs(self, number: int) -> dict[str, np.ndarray]:
        return views(self.spec.read, self.secrets.inputs, self.pool, number)

    def sample(self, number: int, solve: Solve) -> None:
        if not self.free:
            self.take_back()
        slot = self.free.pop()
        solve(self.inputs(number), views(self.spec.checked, self.secrets.outputs, self.outputs, slot))
        self.announce(self.samples, number, slot)
        self.samples += 1

    def announce(self, sample: int, number: int, slot: int) -> None:
        os.write(self.descriptors[2], ANNOUNCEMENT.pack(sample, number, slot))

    def take_back(self, seconds: float = SECONDS) -> bytes:
        """Read returned slots from the releasing pipe; empty if the judge has closed it."""
        poll = select.poll()
        poll.register(self.descriptors[3], select.POLLIN)
        assert poll.poll(seconds * 1000), "no slot came back"
        slots = os.read(self.descriptors[3], 64)
        self.free += slots
        return slots

    def close(self) -> None:
        for each in self.descriptors:
            os.close(each)


def secrets_of(
    process: JudgeProcess,
    ask: Ask,
    case: int = 0,
    kind: type[ReplayingT] = Replaying,  # type: ignore[assignment]
) -> ReplayingT:
    """Open the problem, have its secrets made."""
    process.ask(ask)
    process.ask(AskSecrets(case))
    opened, _ = process.answer(Opened)
    secrets, descriptors = process.answer(Secrets)
    return kind(opened.cases[case], secrets, descriptors)


def honest(inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]) -> None:
    outputs["y"][...] = inputs["w"] * inputs["x"]
    outputs["signs"][...] = np.sign(inputs["x"])
