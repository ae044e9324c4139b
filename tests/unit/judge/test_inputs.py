"""Input sets in shared memory."""

from __future__ import annotations

import numpy as np
import pytest

from benchguard.ipc.shared_memory import READ_ONLY, SharedMemory
from benchguard.judge import inputs
from benchguard.judge.inputs import write_set
from benchguard.problem import threads
from benchguard.problem.spec import Buffer, layout_of


@pytest.mark.parametrize("count", [1, 8])
def test_set_written_by_one_or_many_threads_has_its_bytes_and_can_be_sealed(
    monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(inputs, "PART", 1 << 12)
    monkeypatch.setattr(inputs, "MAPPED_BYTES", 1 << 14)
    monkeypatch.setattr(inputs, "threads", lambda: count)
    monkeypatch.setattr(threads, "threads", lambda: count)
    buffers = (Buffer("few", "uint8", (5,), "input"), Buffer("many", "uint8", (100_001,), "input"))
    layout = layout_of(buffers)
    shared = SharedMemory("test", 2 * layout.stride)
    chance = np.random.default_rng(1)
    sets = [{each.name: chance.integers(0, 256, each.bytes, np.uint8) for each in buffers} for _ in range(2)]
    for number, memory in enumerate(sets):
        write_set(shared, layout, number, memory)
    shared.seal(READ_ONLY)  # fails while a writable mapping lives
    for number, memory in enumerate(sets):
        for name, data in memory.items():
            offset, size = layout.place(name, number)
            np.testing.assert_array_equal(shared.view()[offset : offset + size], data)
    shared.close()
