"""Where the package keeps its C sources and its compiled libraries."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
SOURCE = PACKAGE / "source"
NATIVE = PACKAGE / "native"
ENGINES = SOURCE / "engine"
ENGINE = ENGINES / "replay"
"""The timing loop's sources, which nothing but the package has."""

INLINE_ENGINE = ENGINES / "inline"
"""Those of the loop that runs within a submission's process."""

SONAME = "libcuda.so.1"
SIM = NATIVE / "sim" / SONAME
RUNTIME_SONAME = "libcudart.so.13"
SIM_RUNTIME = NATIVE / "sim" / RUNTIME_SONAME
"""The CUDA runtime that works on the CPU driver, and on any other."""
SIM_NVRTC_SONAME = "libneutrino_nvrtc.so"
"""Gives PTX to programs that ask NVRTC for machine code."""
HIP_SONAME = "libamdhip64.so.5"
HIP_SIM = NATIVE / "hip" / HIP_SONAME
"""The CPU driver as HIP programs call it."""
HIP_BRIDGE_SONAME = "libcuda-over-hip.so"
HIP_BRIDGE = NATIVE / "hip" / HIP_BRIDGE_SONAME
"""CUDA's driver, as far as the replay engine calls it, over whatever HIP driver the process finds."""
GENERIC_SHIM = NATIVE / "shim" / SONAME
GENERIC_SURFACE = NATIVE / "shim" / "surface.json"
PRELOAD_SONAME = "libneutrino_preload.so"
PRELOAD = NATIVE / "preload" / PRELOAD_SONAME
REPLAY_SONAME = "libneutrino_replay.so"
REPLAY = NATIVE / "replay" / REPLAY_SONAME
REPLAY_ABI = "neutrino_replay.abi"
"""Generated from replay.h, and read by ctypes bindings."""

INLINE_SONAME = "libneutrino_inline.so"
INLINE = NATIVE / "inline" / INLINE_SONAME
