"""benchguard.region(): memory of values, and regions in processes that are not recorded."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from typing import Any

import pytest

import benchguard
from benchguard.region import Memory, memory_of
from tests.support.tensors import GradTensor, InterfaceOnly


@dataclass
class Tensor:
    """The attributes of torch.Tensor that region() reads."""

    shape: tuple[int, ...]
    steps: tuple[int, ...]
    dtype: str = "torch.bfloat16"
    is_cuda: bool = True

    def data_ptr(self) -> int:
        return 0x1000

    def element_size(self) -> int:
        return 2

    def stride(self) -> tuple[int, ...]:
        return self.steps


@dataclass
class Array:
    """The attributes of CuPy's and Numba's arrays that region() reads."""

    shape: tuple[int, ...]
    typestr: str = "<f4"
    strides: tuple[int, ...] | None = None
    __cuda_array_interface__: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.__cuda_array_interface__ = {
            "data": (0x1000, False),
            "shape": self.shape,
            "typestr": self.typestr,
            "strides": self.strides,
            "version": 3,
        }


@pytest.mark.parametrize(
    ("value", "memory"),
    [
        ((0x1000, 64), Memory(0x1000, 64)),
        (Memory(0x1000, 64, "float32", (16,)), Memory(0x1000, 64, "float32", (16,))),
        (Tensor((4, 8), (8, 1)), Memory(0x1000, 64, "bfloat16", (4, 8))),
        (Tensor((4, 1, 8), (8, 99, 1)), Memory(0x1000, 64, "bfloat16", (4, 1, 8))),
        (Tensor((8, 4), (1, 8)), Memory(0x1000, 64, "bfloat16")),  # transposed
        (Tensor((4, 8), (16, 1)), Memory(0x1000, 112, "bfloat16")),  # every other row
        (Tensor((4, 8), (0, 1)), Memory(0x1000, 16, "bfloat16")),  # expanded
        (Tensor((), ()), Memory(0x1000, 2, "bfloat16")),
        (Tensor((0, 8), (8, 1)), Memory(0x1000, 0, "bfloat16", (0, 8))),
        (Array((4, 8)), Memory(0x1000, 128, "float32", (4, 8))),
        (Array((4, 8), "|b1"), Memory(0x1000, 32, "bool", (4, 8))),
        (Array((3,), "<c16", (16,)), Memory(0x1000, 48, "complex128", (3,))),
        (Array((3,), "<i8", (-8,)), Memory(0x1000 - 16, 24, "int64")),  # backwards
        (Array((3,), "<u2"), Memory(0x1000, 6, "uint16", (3,))),
        (GradTensor(0x1000), Memory(0x1000, 32, "float32", (8,))),
        (InterfaceOnly(0x1000), Memory(0x1000, 32, "float32", (8,))),
    ],
)
def test_value_gives_range_of_its_elements(value: object, memory: Memory) -> None:
    assert memory_of("x", value) == memory


def test_other_error_of_an_interface_is_raised() -> None:
    class Broken:
        @property
        def __cuda_array_interface__(self) -> dict[str, Any]:
            raise RuntimeError("no such device")

    with pytest.raises(RuntimeError, match="no such device"):
        memory_of("x", Broken())


@pytest.mark.parametrize(
    "value",
    [None, 5, "text", [1, 2], (1, 2, 3), (-1, 4), (1 << 64, 4), (0, -1), b"bytes", Tensor((4,), (1,), is_cuda=False)],
)  # fmt: skip
def test_value_without_device_memory_is_refused(value: object) -> None:
    with pytest.raises(benchguard.RegionError, match="x: "):
        memory_of("x", value)


@pytest.mark.parametrize("choice", [{}, {"NEUTRINO_CAPTURE": "/tmp", "NEUTRINO_REGION": "launches=0:1"}])
def test_region_without_recording_does_nothing(
    monkeypatch: pytest.MonkeyPatch, choice: dict[str, str]
) -> None:
    """Invalid values are ignored too, unless a capture is required."""
    for name in ("NEUTRINO_CAPTURE", "NEUTRINO_REGION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in choice.items():
        monkeypatch.setenv(name, value)
    with benchguard.region("r", inputs={"x": None}) as recorded:
        assert recorded is False
    with (
        pytest.raises(benchguard.RegionError, match="neutrino-bench record"),
        benchguard.region("r", required=True),
    ):
        pass


def test_range_without_recording_checks_only_role(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NEUTRINO_CAPTURE", raising=False)
    benchguard.region_range("y", None, "output")
    with pytest.raises(benchguard.RegionError, match="role 'result' is invalid; give input, output, state"):
        benchguard.region_range("y", (0x1000, 4), "result")  # type: ignore[arg-type]


def test_region_without_shim_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A child that was started without LD_PRELOAD."""
    monkeypatch.setenv("NEUTRINO_CAPTURE", "/tmp")
    monkeypatch.setenv("NEUTRINO_REGION", "program")
    with benchguard.region("r") as recorded:
        assert recorded is False


def test_package_import_loads_nothing_heavy() -> None:
    """Timed programs import benchguard, so the import must be cheap."""
    heavy = "numpy torch click rich zstandard cffi"
    code = f"import sys, benchguard; print([name for name in {heavy.split()!r} if name in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=240, check=True
    )
    assert result.stdout == "[]\n"
