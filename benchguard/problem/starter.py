"""Generate starter code for a submission from a problem's signature, in Tensara's form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from .c_types import CType
from .signature import Parameter

Language = Literal["cuda", "hip", "triton", "numba", "cute", "python"]
Parameters = Sequence[Parameter]


def starter(parameters: Parameters, language: Language) -> str:
    """A whole file."""
    return _WRITERS[language](parameters)


def _cuda(parameters: Parameters) -> str:
    headers = ["cuda_runtime.h", *_headers(parameters)]
    return _c(parameters, headers, {})


_HIP_HEADERS = {
    "cuda_fp16.h": "hip/hip_fp16.h",
    "cuda_bf16.h": "hip/hip_bf16.h",
    "cuda_fp8.h": "hip/hip_fp8.h",
}
_HIP_TYPES = {
    "__nv_bfloat16": "__hip_bfloat16",
    "__nv_fp8_e4m3": "__hip_fp8_e4m3",
    "__nv_fp8_e5m2": "__hip_fp8_e5m2",
}


def _hip(parameters: Parameters) -> str:
    headers = [_HIP_HEADERS.get(each, each) for each in _headers(parameters)]
    return _c(parameters, ["hip/hip_runtime.h", *headers], _HIP_TYPES)


def _headers(parameters: Parameters) -> list[str]:
    return sorted({each.type.header for each in parameters if each.type.header})


def _c(parameters: Parameters, headers: Sequence[str], names: dict[str, str]) -> str:
    words = []
    for each in parameters:
        const = "const " if each.const and each.pointer else ""
        words.append(
            f"{const}{names.get(each.type.cuda, each.type.cuda)}{'*' if each.pointer else ''} {each.name}"
        )
    includes = "".join(f"#include <{each}>\n" for each in headers)
    return (
        f"{includes}\n{_note(parameters, '//', 'device pointers')}"
        f'extern "C" void solution({", ".join(words)}) {{\n}}\n'
    )


def _triton(parameters: Parameters) -> str:
    return "import triton\nimport triton.language as tl\n\n\n" + _function(parameters)


def _numba(parameters: Parameters) -> str:
    return "from numba import cuda\n\n\n" + _function(parameters)


def _python(parameters: Parameters) -> str:
    return _function(parameters)


def _cute(parameters: Parameters) -> str:
    words = [f"{each.name}: {'cute.Tensor' if each.pointer else _cutlass(each.type)}" for each in parameters]
    return (
        "import cutlass\nimport cutlass.cute as cute\n\n\n"
        + _note(parameters, "#", "device tensors")
        + f"@cute.jit\ndef solution({', '.join(words)}):\n    pass\n"
    )


def _cutlass(type_: CType) -> str:
    """CUTLASS's name of a dtype: float32 is cutlass.Float32, uint64 cutlass.Uint64; two dtypes are irregular."""
    special = {
        "bfloat16": "BFloat16",
        "bool": "Boolean",
        "float8_e4m3": "Float8E4M3FN",
        "float8_e5m2": "Float8E5M2",
    }
    return f"cutlass.{special.get(type_.dtype, type_.dtype.capitalize())}"


def _function(parameters: Parameters) -> str:
    words = [each.name if each.pointer else f"{each.name}: {_of_python(each.type)}" for each in parameters]
    return f"{_note(parameters, '#', 'device tensors')}def solution({', '.join(words)}):\n    pass\n"


def _of_python(type_: CType) -> str:
    if type_.dtype == "bool":
        return "bool"
    return "float" if type_.is_float else "int"


def _note(parameters: Parameters, comment: str, what: str) -> str:
    names = ", ".join(each.name for each in parameters if each.pointer)
    return f"{comment} Note: {names} are {what}\n" if names else ""


_WRITERS: dict[Language, Callable[[Parameters], str]] = {
    "cuda": _cuda,
    "hip": _hip,
    "triton": _triton,
    "numba": _numba,
    "cute": _cute,
    "python": _python,
}
