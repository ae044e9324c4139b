"""Outputs are copied and compared bit by bit, large ones in parts."""

from __future__ import annotations

import numpy as np
import pytest

from benchguard.judge.arrays import PART, flat_copy, same_bits


@pytest.mark.parametrize("count", [0, 1, PART, 2 * PART + 3])
def test_copy_has_the_bits_of_the_output(count: int) -> None:
    output = np.random.default_rng(1).integers(0, 256, count, np.uint8)
    copy = flat_copy(output)
    assert np.array_equal(copy, output) and not np.shares_memory(copy, output)
    assert same_bits(output, copy)


@pytest.mark.parametrize("place", [0, PART - 1, PART, 2 * PART + 2])
def test_changed_byte_is_seen_in_every_part(place: int) -> None:
    output = np.zeros(2 * PART + 3, np.uint8)
    copy = flat_copy(output)
    output[place] ^= 1
    assert not same_bits(output, copy)


def test_gaps_are_neither_copied_nor_compared() -> None:
    memory = np.arange(24, dtype=np.float32).reshape(4, 6)
    output = memory[:, ::2]
    copy = flat_copy(output)
    memory[:, 1] = -1
    assert copy.tolist() == output.reshape(-1).tolist() and same_bits(output, copy)
    memory[3, 4] = np.nan
    assert not same_bits(output, copy)
    assert same_bits(output, flat_copy(output))  # NaN has the same bits as itself
