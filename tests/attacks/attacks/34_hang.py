"""Never comes back."""

import time


def solution(x, y, n, rounds):
    while True:
        time.sleep(1)
