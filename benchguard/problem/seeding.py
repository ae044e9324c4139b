"""Replace a problem's public seeds by secret ones.

Tensara's problems derive their seeds from their names, so their inputs are public. Within `seeded`, Problem.get_seed
returns numbers derived from the secret seed, and the global generators of random, numpy and torch start from it.
"""

from __future__ import annotations

import hashlib
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

_secret: ContextVar[int | None] = ContextVar("secret", default=None)


def seed_of(text: str) -> int:
    """A 31-bit seed: Tensara's seed for the text, or within `seeded` a seed derived from the text and the secret."""
    secret = _secret.get()
    if secret is None:
        digest = hashlib.md5(text.encode(), usedforsecurity=False).digest()
    else:
        digest = hashlib.sha256(f"{secret}/{text}".encode()).digest()
    return int.from_bytes(digest[:4], "little") & 0x7FFFFFFF


def generator(seed: int, *words: str) -> np.random.Generator:
    """A separate generator for each combination of seed and words. `seed` is any integer."""
    digest = hashlib.sha256("/".join([str(seed), *words]).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest, "little"))


@contextmanager
def seeded(secret: int | None) -> Iterator[None]:
    """Seed the problem's code with `secret`; None: get_seed returns Tensara's seeds.

    The global generators are seeded in both cases, and restored afterwards (torch's on the CPU only).
    """
    token = _secret.set(secret)
    start = int(generator(0 if secret is None else secret, "global").integers(1 << 32))
    torch = sys.modules.get("torch")
    states = random.getstate(), np.random.get_state(), torch.get_rng_state() if torch else None
    random.seed(start)
    np.random.seed(start)
    if torch is not None:
        torch.manual_seed(start)
    try:
        yield
    finally:
        _secret.reset(token)
        random.setstate(states[0])
        np.random.set_state(states[1])
        if torch is not None and states[2] is not None:
            torch.set_rng_state(states[2])
