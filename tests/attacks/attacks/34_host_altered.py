"""Alters a file outside of the quarantine by calls that open nothing."""

import contextlib
import os

import kit

OF_THE_HOST = "/tmp/neutrino-of-the-host"

for alter in (
    lambda: os.utime(OF_THE_HOST, (5, 5)),
    lambda: os.utime(OF_THE_HOST),
    lambda: os.chmod(OF_THE_HOST, 0o777),
):
    with contextlib.suppress(OSError):
        alter()


def solution(x, y, n, rounds):
    kit.mix(x.data_ptr(), y.data_ptr(), n, rounds)
