"""Forges 40,000 launches of distinct shapes of a kernel with a long name: each is an entry of the result."""

import struct

import forge
import kit

LAUNCHES = 40_000
NAME_AT, GRID_AT = 24, 20


def change(elements):
    name = b"_" * 16_000
    shown = [
        (kind, forge.with_span(payload, NAME_AT, name) if kind == forge.KERNEL else payload)
        for kind, payload in elements
    ]
    launch = next(payload for kind, payload in elements if forge.is_launch(kind, payload))
    more = []
    for number in range(LAUNCHES):
        again = bytearray(launch)
        struct.pack_into("<I", again, GRID_AT, number + 1)
        more.append(again)
    return forge.with_operations(shown, more)


forge.after_recording(change)


def solution(x, y, n, rounds):
    kit.mix(x.data_ptr(), y.data_ptr(), n, rounds)
