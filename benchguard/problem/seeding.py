"""Whose seeds a problem draws its inputs from: its own, which anyone can compute, or a secret one.

Tensara's problems seed themselves from their name, so that whoever has read them knows their inputs. While `seeded`
runs, Problem.get_seed gives numbers that follow from the secret seed instead, and the global generators of random,
numpy and torch start from it.
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
    """31 bits: Tensara's own of that text, or where a secret seed is in force, one that follows from both."""
    secret = _secret.get()
    if secret is None:
        digest = hashlib.md5(text.encode(), usedforsecurity=False).digest()
    else:
        digest = hashlib.sha256(f"{secret}/{text}".encode()).digest()
    return int.from_bytes(digest[:4], "little") & 0x7FFFFFFF


def generator(seed: int, *words: str) -> np.random.Generator:
    """One of its own for each seed and words. `seed` is any whole number."""
    digest = hashlib.sha256("/".join([str(seed), *words]).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest, "little"))


@contextmanager
def seeded(secret: int | None) -> Iterator[None]:
    """`secret` None: get_seed gives Tensara's own. The global generators begin at a fixed place either way, and are
    put back afterwards (torch's on the CPU alone)."""
    token = _secret.set(secret)
    start = int(generator(0 if secret is None else secret, "global").integers(1 << 32))
    torch = sys.modules.get("torch")
    kept = random.getstate(), np.random.get_state(), torch.get_rng_state() if torch else None
    random.seed(start)
    np.random.seed(start)
    if torch is not None:
        torch.manual_seed(start)
    try:
        yield
    finally:
        _secret.reset(token)
        random.setstate(kept[0])
        np.random.set_state(kept[1])
        if torch is not None and kept[2] is not None:
            torch.set_rng_state(kept[2])
