"""Chooses the driver for a replay: one of the vendor that the capture was recorded with."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import UsageError
from ..gpu import identity
from ..gpu.quiet import CPU_DRIVER
from ..ipc.lock_file import FOLDER
from ..shim.driver import Driver, discover
from ..shim.nvrtc import hiprtc_environment
from ..shim.vendors import Api
from ..toolchain.errors import ShimError
from ..toolchain.paths import HIP_BRIDGE

BRIDGE_DRIVER = "NEUTRINO_BRIDGE_DRIVER"
"""Says to libcuda-over-hip.so which HIP library it stands on."""


@dataclass(frozen=True)
class Target:
    """`library` has the CUDA driver's functions, which the engine calls: it is the driver itself, or stands on it."""

    driver: Driver
    library: str
    environment: Mapping[str, str]


def target_of(api: Api, spec: str) -> Target:
    """Raises ShimError without such a driver, or if another vendor's is asked for."""
    driver = discover(spec, api=api)
    if api == "cuda":
        return Target(driver, str(driver.path), {})
    if not HIP_BRIDGE.is_file():
        raise ShimError(
            f"{HIP_BRIDGE}: the library that replays HIP is not built; install HIP's headers and run "
            "`python build.py build`"
        )
    variables = {BRIDGE_DRIVER: str(driver.path), **hiprtc_environment(driver.path)}
    return Target(driver, str(HIP_BRIDGE), variables)


def check_device(driver: Driver, device: int) -> None:
    """Raises UsageError for a number of no device, if that is known without starting the driver."""
    if device == 0:
        return
    if driver.is_sim:
        raise UsageError(f"--device {device}: the CPU driver has device 0 only; leave --device out")
    gpus = identity.visible_gpus(os.environ) if driver.api == "cuda" else ()
    if gpus and device >= len(gpus):
        raise UsageError(
            f"--device {device}: programs see {len(gpus)} GPU{'s' if len(gpus) > 1 else ''} here; give a number from 0 "
            f"to {len(gpus) - 1}, or change CUDA_VISIBLE_DEVICES"
        )


def gpus_of(driver: Driver, device: int) -> tuple[str, ...]:
    """The names under which the GPU is locked. The CPU driver has one only if the folder of the locks is given."""
    if driver.is_sim:
        return (CPU_DRIVER,) if os.environ.get(FOLDER) else ()
    if driver.api == "hip":
        return ("hip",)  # nothing tells AMD's devices apart before the driver starts
    return identity.gpus_of(device, os.environ)
