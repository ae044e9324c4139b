"""The environment of the replay process: nothing in it may change what is replayed or how fast.

Removed: LD_* but LD_LIBRARY_PATH (preloads and audits get in first; the driver's own parts are found by the path),
PYTHON*, NEUTRINO_* (a session of a shim), SIM_INJECT, and CUDA_* and NVIDIA_TF32_OVERRIDE, of which these matter:

    CUDA_LAUNCH_BLOCKING                 every launch would wait, a primed queue would never be released
    CUDA_DEVICE_MAX_CONNECTIONS          how many streams run side by side
    CUDA_FORCE_PTX_JIT, CUDA_DISABLE_PTX_JIT, CUDA_*JIT*   which code is run
    CUDA_MPS_ACTIVE_THREAD_PERCENTAGE, CUDA_MPS_*          how many multiprocessors there are
    CUDA_MANAGED_FORCE_DEVICE_ALLOC, CUDA_AUTO_BOOST       where memory is; clocks
    CUDA_INJECTION64_PATH, CUDA_ENABLE_COREDUMP*, CUDA_DEVICE_WAITS_ON_EXCEPTION   other code; hangs

and HIP's: HIP_*, HSA_*, AMD_*, ROC*_*, GPU_*, COMGR_* and HIPRTC_*, of which these matter:

    HIP_LAUNCH_BLOCKING, AMD_SERIALIZE_KERNEL, AMD_SERIALIZE_COPY, AMD_DIRECT_DISPATCH   as CUDA_LAUNCH_BLOCKING
    GPU_MAX_HW_QUEUES, HSA_CU_MASK, ROC_GLOBAL_CU_MASK   how much runs side by side, and on how many compute units
    HSA_TOOLS_LIB, HIPRTC_COMPILE_OPTIONS_APPEND, AMD_COMGR_*   other code

Kept: those that say which devices there are, because device numbers count among them, and what a device is to
be taken for (HSA_OVERRIDE_GFX_VERSION), which some run no code without. Set:

    CUDA_MODULE_LOADING=EAGER   lazily loaded code would be loaded within a sample, or behind a primed queue for ever
                                (https://github.com/NVIDIA/nvbench/issues/240)
    CUDA_CACHE_DISABLE=1        the cache of compiled PTX is in the home folder, where the program that was
                                recorded may have written other code
    AMD_COMGR_CACHE=0           the same of hiprtc's
"""

from __future__ import annotations

from collections.abc import Mapping

_OF_HIP = ("HIP_", "HSA_", "AMD_", "ROC_", "ROCR_", "ROCP_", "ROCPROFILER_", "GPU_", "COMGR_", "HIPRTC_")
_REMOVED_PREFIXES = ("LD_", "PYTHON", "NEUTRINO_", "CUDA_", *_OF_HIP)
_REMOVED = frozenset({"NVIDIA_TF32_OVERRIDE", "SIM_INJECT"})
_KEPT = frozenset(
    {
        *("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_MPS_PIPE_DIRECTORY"),
        *("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "HSA_OVERRIDE_GFX_VERSION"),
    }
)
_SET = {"CUDA_MODULE_LOADING": "EAGER", "CUDA_CACHE_DISABLE": "1", "AMD_COMGR_CACHE": "0"}


def replay_environment(base: Mapping[str, str]) -> dict[str, str]:
    """The variables of `base` that are passed on, and those that are set."""
    environment = {
        name: value
        for name, value in base.items()
        if name in _KEPT or not (name.startswith(_REMOVED_PREFIXES) or name in _REMOVED)
    }
    return {**environment, **_SET}


def sandboxed_names(environment: Mapping[str, str]) -> list[str]:
    """The variables of replay_environment() that a sandboxed replay gets besides those of every sandbox."""
    return [name for name in environment if name in _KEPT or name in _SET or name.startswith("SIM_")]
