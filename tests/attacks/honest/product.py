"""The control of Product."""

import kit


def solution(a, b, c, n):
    kit.product(a.data_ptr(), b.data_ptr(), c.data_ptr(), n)
