"""Replace a problem's public seeds by secret ones.

Tensara's problems derive their seeds from their names, and a quarter of LeetGPU's challenges call torch.manual_seed
with a number, so their inputs are public. Within `seeded`, Problem.get_seed returns numbers derived from the secret
seed, the global generators of random, numpy and torch start from it, and a seed that the problem gives them is mixed
with it.
"""

from __future__ import annotations

import functools
import hashlib
import random
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

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


def _mixing(seed: Callable[..., Any], secret: int) -> Callable[..., Any]:
    """The function `seed` with its first argument mixed with the secret. A generator as argument stays what it is."""

    @functools.wraps(seed)
    def mixed(given: Any = None, *arguments: Any, **keywords: Any) -> Any:
        if isinstance(given, (np.random.Generator, np.random.BitGenerator)):
            return seed(given, *arguments, **keywords)
        digest = hashlib.sha256(f"{secret}/{given!r}".encode("utf-8", "surrogateescape")).digest()
        return seed(int.from_bytes(digest[:4], "little"), *arguments, **keywords)

    return mixed


@contextmanager
def _mixed_seeds(secret: int) -> Iterator[None]:
    """The functions that seed global generators, or make a generator of numpy, mix their seed with the secret."""
    torch = sys.modules.get("torch")
    places: list[tuple[Any, str]] = [(random, "seed"), (np.random, "seed"), (np.random, "default_rng")]
    if torch is not None:
        places += [(torch, "manual_seed"), (torch.random, "manual_seed")]
    originals = [getattr(place, name) for place, name in places]
    try:
        for (place, name), original in zip(places, originals, strict=True):
            setattr(place, name, _mixing(original, secret))
        yield
    finally:
        for (place, name), original in zip(places, originals, strict=True):
            setattr(place, name, original)


@contextmanager
def other_seeds(secret: int) -> Iterator[None]:
    """As seeded(), for a check: generators of torch mix their seeds with the secret, too."""
    torch: Any = sys.modules.get("torch")
    with seeded(secret):
        if torch is None:
            yield
            return
        real = torch.Generator

        class Kind(type(real)):  # type: ignore[misc]
            def __instancecheck__(cls, value: object) -> bool:  # of generators made before, too
                return isinstance(value, real)

        class Mixed(real, metaclass=Kind):  # type: ignore[misc, valid-type]
            def manual_seed(self, seed: Any) -> Any:
                _mixing(super().manual_seed, secret)(seed)
                return self

        torch.Generator = Mixed
        try:
            yield
        finally:
            torch.Generator = real


class CheckSeeds:
    """Secret seeds for a check, which may look at elements that it draws after a seed that everyone knows.

    A check that makes its expected numbers from such a seed rejects right outputs then, and keeps its own seeds.
    """

    def __init__(self) -> None:
        self._secret = secrets.randbits(64)
        self._are_good: bool | None = None

    def ask(
        self, check: Callable[[Any], str | None], given: Callable[[], Any], right: Callable[[], Any]
    ) -> str | None:
        """The answer of `check` to `given` outputs: None, or why they are wrong. `right` makes right outputs."""
        if self._are_good is False:
            return check(given())
        with other_seeds(self._secret):
            reason = check(given())
        if reason is not None and self._are_good is None:
            answer = right()
            with other_seeds(self._secret):
                self._are_good = check(answer) is None
        return reason if reason is None or self._are_good else check(given())


@contextmanager
def seeded(secret: int | None) -> Iterator[None]:
    """Seed the problem's code with `secret`; None: get_seed returns Tensara's seeds, and the problem's own seeds hold.

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
        with _mixed_seeds(secret) if secret is not None else nullcontext():
            yield
    finally:
        _secret.reset(token)
        random.setstate(states[0])
        np.random.set_state(states[1])
        if torch is not None and states[2] is not None:
            torch.set_rng_state(states[2])
