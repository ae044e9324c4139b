"""Forges a global whose name is not in its image."""

import struct

import forge
import kit

ADDRESS, BYTES, NAME_AT = 0x7F0000000000, 4096, 24


def change(elements):
    variable = struct.pack("<IIQQ6Q", 0, 0, ADDRESS, BYTES, 0, 0, 0, 0, 0, 0)
    forged = (forge.GLOBAL, forge.with_span(bytearray(variable), NAME_AT, b"absent"))
    return [*elements[:-1], forged, elements[-1]]


forge.after_recording(change)


def solution(x, y, n, rounds):
    kit.mix(x.data_ptr(), y.data_ptr(), n, rounds)
