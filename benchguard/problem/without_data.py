"""Run a problem's code on tensors without data: the shapes of its inputs and results, at no cost.

A problem can have gigabytes of inputs, and its reference can take minutes on a CPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module


@contextmanager
def without_data() -> Iterator[None]:
    """A context in which torch computes shapes and dtypes only. Code that looks at values fails in it."""
    mode = import_module("torch._subclasses.fake_tensor").FakeTensorMode
    with mode(allow_non_fake_inputs=True):
        yield
