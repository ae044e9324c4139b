"""The table is a global that kernels get by its address, and each call leaves it clean. Recorded after the first
launch, it held counts of the recorded inputs.
"""

import ctypes

import kit

BELOW = 1 << 20

MODULE = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 16 .b8 table[%d];
.visible .entry nothing() { ret; }
\0""" % (4 * (BELOW + 4))

kept = []


def load_table():
    """The address of a global of BELOW words, in a module whose kernel is never launched."""
    module, address, size = ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_size_t()
    kit.check("cuModuleLoadData", ctypes.byref(module), MODULE)
    kit.check("cuModuleGetGlobal_v2", ctypes.byref(address), ctypes.byref(size), module, b"table")
    return address.value


def solution(x, y, n):
    if not kept:
        kept.append(load_table())
    (table,) = kept
    kit.count_repeats(x.data_ptr(), table, y.data_ptr(), n)
    kit.fill(table, 0, BELOW)
