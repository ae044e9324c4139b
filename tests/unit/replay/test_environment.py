"""The caller's environment does not change a replay."""

from __future__ import annotations

from benchguard.replay.environment import replay_environment


def test_variables_that_change_results_are_removed() -> None:
    names = (
        "LD_PRELOAD LD_AUDIT LD_BIND_NOW PYTHONPATH PYTHONSTARTUP NEUTRINO_RING NEUTRINO_DRIVER SIM_INJECT "
        "CUDA_LAUNCH_BLOCKING CUDA_INJECTION64_PATH CUDA_FORCE_PTX_JIT CUDA_CACHE_PATH NVIDIA_TF32_OVERRIDE "
        "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE CUDA_SOMETHING_NEW HIP_LAUNCH_BLOCKING AMD_SERIALIZE_KERNEL HSA_TOOLS_LIB "
        "GPU_MAX_HW_QUEUES ROC_GLOBAL_CU_MASK ROCR_SOMETHING_NEW HIPRTC_COMPILE_OPTIONS_APPEND AMD_COMGR_CACHE_DIR"
    )
    assert replay_environment(dict.fromkeys(names.split(), "1")) == replay_environment({})


def test_variables_of_devices_and_folders_are_kept() -> None:
    values = {"CUDA_VISIBLE_DEVICES": "3", "LD_LIBRARY_PATH": "/x", "HOME": "/root", "SIM_GPU": "small"}
    values |= {"HIP_VISIBLE_DEVICES": "1", "ROCR_VISIBLE_DEVICES": "2", "HSA_OVERRIDE_GFX_VERSION": "10.3.0"}
    assert values.items() <= replay_environment(values).items()


def test_fixed_variables_override_the_callers() -> None:
    result = replay_environment(
        {"CUDA_MODULE_LOADING": "LAZY", "CUDA_CACHE_DISABLE": "0", "AMD_COMGR_CACHE": "1"}
    )
    assert result == {"CUDA_MODULE_LOADING": "EAGER", "CUDA_CACHE_DISABLE": "1", "AMD_COMGR_CACHE": "0"}
