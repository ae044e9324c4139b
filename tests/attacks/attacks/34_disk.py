"""Fills its folder."""

import os
import tempfile

import kit


def solution(x, y, n, rounds):
    with tempfile.TemporaryFile() as file:
        for _ in range(16):
            file.write(os.urandom(1 << 20))
        file.flush()
        for number in range(2000):
            open(os.path.join(tempfile.gettempdir(), f"small{number}"), "w").close()
    kit.mix(x.data_ptr(), y.data_ptr(), n, 1)
