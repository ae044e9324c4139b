"""The environment of the replay process: nothing in it may change what is replayed or how fast.

Removed: LD_* but LD_LIBRARY_PATH (preloads and audits get in first; the driver's own parts are found by the path),
PYTHON*, NEUTRINO_* (a session of a shim), SIM_INJECT, and CUDA_* and NVIDIA_TF32_OVERRIDE, of which these matter:

    CUDA_LAUNCH_BLOCKING                 every launch would wait, a primed queue would never be released
    CUDA_DEVICE_MAX_CONNECTIONS          how many streams run side by side
    CUDA_FORCE_PTX_JIT, CUDA_DISABLE_PTX_JIT, CUDA_*JIT*   which code is run
    CUDA_MPS_ACTIVE_THREAD_PERCENTAGE, CUDA_MPS_*          how many multiprocessors there are
    CUDA_MANAGED_FORCE_DEVICE_ALLOC, CUDA_AUTO_BOOST       where memory is; clocks
    CUDA_INJECTION64_PATH, CUDA_ENABLE_COREDUMP*, CUDA_DEVICE_WAITS_ON_EXCEPTION   other code; hangs

Kept: those that say which devices there are, because device numbers count among them. Set:

    CUDA_MODULE_LOADING=EAGER   lazily loaded code would be loaded within a sample, or behind a primed queue for ever
                                (https://github.com/NVIDIA/nvbench/issues/240)
    CUDA_CACHE_DISABLE=1        the cache of compiled PTX is in the home folder, where the program that was
                                recorded may have written other code
"""

from __future__ import annotations

from collections.abc import Mapping

_REMOVED_PREFIXES = ("LD_", "PYTHON", "NEUTRINO_", "CUDA_")
_REMOVED = frozenset({"NVIDIA_TF32_OVERRIDE", "SIM_INJECT"})
_KEPT = frozenset({"LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_MPS_PIPE_DIRECTORY"})
_SET = {"CUDA_MODULE_LOADING": "EAGER", "CUDA_CACHE_DISABLE": "1"}


def replay_environment(base: Mapping[str, str]) -> dict[str, str]:
    """What is left of `base`, and what is set."""
    kept = {
        name: value
        for name, value in base.items()
        if name in _KEPT or not (name.startswith(_REMOVED_PREFIXES) or name in _REMOVED)
    }
    return {**kept, **_SET}
