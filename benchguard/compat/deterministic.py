"""pygpubench.DeterministicContext, which test generators use around their references."""

from __future__ import annotations

import importlib
import os
from typing import Any

_WORKSPACE = "CUBLAS_WORKSPACE_CONFIG"


class DeterministicContext:
    """Makes torch deterministic inside the block: no TF32, deterministic algorithms."""

    def __enter__(self) -> DeterministicContext:
        torch = self._torch = importlib.import_module("torch")
        cudnn = torch.backends.cudnn
        self._settings: Any = (
            cudnn.allow_tf32,
            cudnn.deterministic,
            torch.are_deterministic_algorithms_enabled(),
            os.environ.get(_WORKSPACE),
        )
        os.environ[_WORKSPACE] = ":4096:8"
        self._set(False, True, True)
        return self

    def __exit__(self, *exception: object) -> None:
        *flags, workspace = self._settings
        self._set(*flags)
        if workspace is None:
            os.environ.pop(_WORKSPACE, None)
        else:
            os.environ[_WORKSPACE] = workspace

    def _set(self, tf32: bool, deterministic: bool, algorithms: bool) -> None:
        cudnn = self._torch.backends.cudnn
        cudnn.allow_tf32, cudnn.deterministic = tf32, deterministic
        self._torch.use_deterministic_algorithms(algorithms)
