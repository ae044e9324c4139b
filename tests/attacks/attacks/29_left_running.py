"""Leaves processes behind that burn the machine while others are measured. They end by themselves after a minute."""

import os
import sys
import time

import kit

MARK = "neutrino-left-running"
for _ in range(2):
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in range(3):
            os.dup2(nothing, descriptor)
        burn = f"import time; t=time.time()+60\nwhile time.time()<t: pass  # {MARK}"
        os.execv(sys.executable, [sys.executable, "-S", "-c", burn])
time.sleep(0.05)


def solution(x, y, n, rounds):
    kit.mix(x.data_ptr(), y.data_ptr(), n, rounds)
