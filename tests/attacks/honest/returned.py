"""Returns memory that it allocates in every call, and gives the last call's back."""

import kit

last = []


class Array:
    def __init__(self, like, address):
        self.__cuda_array_interface__ = {
            "data": (address, False), "shape": tuple(like.shape), "typestr": "<u4", "strides": None, "version": 3,
        }  # fmt: skip


def solution(x, y, n, rounds):
    if last:
        kit.free(last.pop())
    last.append(kit.allocate(4 * n))
    kit.mix(x.data_ptr(), last[0], n, rounds)
    return Array(y, last[0])
