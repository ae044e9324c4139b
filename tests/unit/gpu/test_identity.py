"""Which GPUs are locked, from the variables that choose among them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from benchguard.gpu.identity import WHOLE_MACHINE, gpus_of, visible_gpus

A, B, C = "GPU-aaaa-1", "GPU-abbb-2", "GPU-cccc-3"


class NVMLError(Exception):
    pass


def nvml(*gpus: tuple[str, str], starts: bool = True) -> SimpleNamespace:
    """An NVML that lists `gpus`, each a UUID and a name."""

    def start() -> None:
        if not starts:
            raise NVMLError

    return SimpleNamespace(
        NVMLError=NVMLError,
        nvmlInit=start,
        nvmlShutdown=lambda: None,
        nvmlDeviceGetCount=lambda: len(gpus),
        nvmlDeviceGetHandleByIndex=lambda index: gpus[index],
        nvmlDeviceGetUUID=lambda gpu: gpu[0].encode(),
        nvmlDeviceGetName=lambda gpu: gpu[1],
    )


EQUAL = nvml((A, "H200"), (B, "H200"), (C, "H200"))
MIXED = nvml((A, "H200"), (B, "T4"))


@pytest.mark.parametrize(
    ("library", "device", "variables", "expected"),
    [
        (EQUAL, 1, {}, (B,)),
        (EQUAL, 0, {"CUDA_VISIBLE_DEVICES": "2,0"}, (C,)),
        (EQUAL, 1, {"CUDA_VISIBLE_DEVICES": "GPU-cc, GPU-aa"}, (A,)),
        (MIXED, 1, {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}, (B,)),
        (MIXED, 0, {"CUDA_VISIBLE_DEVICES": B}, (B,)),
        (nvml((A, "H200")), 0, {"CUDA_VISIBLE_DEVICES": "0"}, (A,)),
    ],
)
def test_ordinal_names_one_gpu(
    library: Any, device: int, variables: dict[str, str], expected: tuple[str, ...]
) -> None:
    assert gpus_of(device, variables, lambda: library) == expected


@pytest.mark.parametrize(
    ("library", "device", "variables"),
    [
        (MIXED, 0, {}),
        (MIXED, 0, {"CUDA_VISIBLE_DEVICES": "1"}),
        (EQUAL, 3, {}),
        (EQUAL, 0, {"CUDA_VISIBLE_DEVICES": ""}),
        (EQUAL, 0, {"CUDA_VISIBLE_DEVICES": "GPU-a"}),
        (EQUAL, 0, {"CUDA_VISIBLE_DEVICES": "MIG-1234"}),
        (EQUAL, 0, {"CUDA_VISIBLE_DEVICES": "7"}),
    ],
)
def test_unclear_ordinal_names_all_gpus(library: Any, device: int, variables: dict[str, str]) -> None:
    """Also for a number of no GPU and a prefix of two UUIDs."""
    assert gpus_of(device, variables, lambda: library) == ((A, B, C) if library is EQUAL else (A, B))


def test_machine_without_nvml_has_one_name() -> None:
    def absent() -> Any:
        raise ImportError("no module pynvml")

    assert gpus_of(0, {}, absent) == WHOLE_MACHINE
    assert gpus_of(0, {}, lambda: nvml((A, "H200"), starts=False)) == WHOLE_MACHINE
    assert gpus_of(0, {}, nvml) == WHOLE_MACHINE


@pytest.mark.parametrize(
    ("library", "variables", "expected"),
    [
        (EQUAL, {}, (A, B, C)),
        (MIXED, {}, (A, B)),
        (EQUAL, {"CUDA_VISIBLE_DEVICES": "2,0"}, (C, A)),
        (MIXED, {"CUDA_VISIBLE_DEVICES": B}, (B,)),
        (MIXED, {"CUDA_VISIBLE_DEVICES": "1"}, ()),
        (EQUAL, {"CUDA_VISIBLE_DEVICES": ""}, ()),
        (EQUAL, {"CUDA_VISIBLE_DEVICES": "MIG-1234"}, ()),
        (nvml(), {}, ()),
    ],
)
def test_visible_gpus_are_never_those_that_the_user_left_out(
    library: Any, variables: dict[str, str], expected: tuple[str, ...]
) -> None:
    assert visible_gpus(variables, lambda: library) == expected
