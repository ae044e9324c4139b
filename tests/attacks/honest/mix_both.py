"""The control of MixBoth."""

from ctypes import c_uint

import kit


def solution(x, y, z, n, rounds):
    kit.mix(x.data_ptr(), y.data_ptr(), n, rounds)
    kit.mix(x.data_ptr(), z.data_ptr(), n, rounds, None, "mix_to", c_uint(1))
