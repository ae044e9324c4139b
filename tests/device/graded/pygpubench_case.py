"""The submission to pygpubench, which imports it by name in a process of its own."""

from __future__ import annotations

import os
from typing import Any

import torch
from variants import make

_call = make(os.environ["NEUTRINO_VARIANT"], lambda x: torch.sin(x) * 2 + torch.cos(x))


def kernel(output: Any, x: Any) -> None:
    output.copy_(_call(x))
