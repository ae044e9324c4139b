"""Generate a submission that compiles and runs, and whose only fault is its arithmetic: it writes zeros.

A kernel in C cannot see how many elements an output has. `sizes` gives the numbers as expressions over the arguments;
an output without one gets its first element only.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Literal, NamedTuple

from .c_types import CType
from .signature import Parameter

Language = Literal["cuda", "hip", "triton", "numba", "cute", "python"]
Parameters = Sequence[Parameter]


PRODUCT = "product_of_lengths"
"""The function of a starter in C++ that multiplies the lengths in an array."""


THREADS_MAX = 1 << 16
"""Threads for an output whose size the host cannot read. They loop, because most cases are smaller than the largest."""


class Size(NamedTuple):
    """The number of elements of an output, as an expression over the scalars, or over an array by PRODUCT.

    `most`: the largest number, if the expression reads an array. `on_host`: the array is in host memory, so only a
    host function can evaluate the expression.
    """

    elements: str
    most: int = 0
    on_host: bool = False


Sizes = Mapping[str, Size]
"""The outputs, with their numbers of elements; in the order of the parameters."""


def starter(
    parameters: Parameters, language: Language, sizes: Sizes | None = None, entry: str = "solution"
) -> str:
    """A whole file with the function `entry`. Without `sizes`, every pointer that is not const is an output of at least
    one element."""
    if sizes is None:
        sizes = {each.name: Size("1") for each in parameters if each.pointer and not each.const}
    return _WRITERS[language](parameters, sizes, entry)


def _cuda(parameters: Parameters, sizes: Sizes, entry: str) -> str:
    words, types = _words(parameters, {})
    i, threads, kernel = (_free(word, types) for word in ("i", "threads", "kernel"))
    passed = {_free(f"{name}_size", types): size.elements for name, size in sizes.items() if size.on_host}
    bounds = {
        name: _free(f"{name}_size", types) if size.on_host else size.elements for name, size in sizes.items()
    }
    on_device = {name: size.most for name, size in sizes.items() if size.most and not size.on_host}
    counts = [
        str(min(size.most, THREADS_MAX)) if name in on_device else size.elements
        for name, size in sizes.items()
    ]
    most = "".join(
        f"    if ({threads} < {each}) {threads} = {each};\n" for each in dict.fromkeys(counts) if each != "1"
    )
    kernel_words = ", ".join([words, *(f"size_t {name}" for name in passed)])
    return (
        f"{_includes(['cuda_runtime.h', *_headers(parameters)])}{_product(sizes)}"
        f"{_note(parameters, '//', 'pointer')}"
        f"__global__ void {kernel}({kernel_words}) {{\n{_zeros(bounds, types, i, on_device)}}}\n\n"
        f'extern "C" void {entry}({words}) {{\n'
        f"    size_t {threads} = 1;\n{most}"
        f"    {kernel}<<<(unsigned)(({threads} + 255) / 256), 256>>>"
        f"({', '.join([*types, *passed.values()])});\n}}\n"
    )


def _product(sizes: Sizes) -> str:
    """The function PRODUCT, if a size needs it."""
    if not any(each.most for each in sizes.values()):
        return ""
    return (
        "// The product of `count` lengths, without the length number `without`.\n"
        "template <typename T>\n"
        f"__host__ __device__ size_t {PRODUCT}(const T* lengths, size_t count, size_t without) {{\n"
        "    size_t product = 1;\n"
        "    for (size_t d = 0; d < count; ++d)\n"
        "        if (d != without) product *= lengths[d];\n"
        "    return product;\n}\n\n"
    )


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


def _hip(parameters: Parameters, sizes: Sizes, entry: str) -> str:
    """One kernel, whose launch a comment gives: hiprtc compiles no host code."""
    words, types = _words(parameters, _HIP_TYPES)
    headers = [_HIP_HEADERS.get(each, each) for each in _headers(parameters)]
    numbers = [
        str(min(each.most, THREADS_MAX)) if each.most else each.elements.replace("(size_t)", "")
        for each in sizes.values()
    ]
    counts = list(dict.fromkeys(numbers)) or ["1"]
    most = f"max({', '.join(counts)})" if len(counts) > 1 else counts[0]
    bounds = {name: size.elements for name, size in sizes.items()}
    zeros = _zeros(bounds, types, _free("i", types), {name for name, size in sizes.items() if size.most})
    return (
        f"{_includes(headers) if headers else ''}{_product(sizes)}{_note(parameters, '//', 'pointer', copied=True)}"
        f"// launch: grid=ceil(({most})/256) block=256\n"
        f'extern "C" __global__ void {entry}({words}) {{\n{zeros}}}\n'
    )


def _headers(parameters: Parameters) -> list[str]:
    return sorted({each.type.header for each in parameters if each.type.header})


def _includes(headers: Sequence[str]) -> str:
    return "".join(f"#include <{each}>\n" for each in headers) + "\n"


def _words(parameters: Parameters, names: dict[str, str]) -> tuple[str, dict[str, str]]:
    """The parameters in C, and their types by name. `names` has other names of types."""
    types = {each.name: names.get(each.type.cuda, each.type.cuda) for each in parameters}
    words = []
    for each in parameters:
        const = "const " if each.const and each.pointer else ""
        words.append(f"{const}{types[each.name]}{'*' if each.pointer else ''} {each.name}")
    return ", ".join(words), types


def _zeros(bounds: Mapping[str, str], types: dict[str, str], i: str, looped: Container[str]) -> str:
    """A kernel's body. The outputs `looped` may have more elements than the launch has threads."""
    at, step = _free("at", types), "(size_t)gridDim.x * blockDim.x"
    writes = "".join(
        f"    for (size_t {at} = {i}; {at} < {bound}; {at} += {step}) {name}[{at}] = {types[name]}{{}};\n"
        if name in looped
        else f"    if ({i} < {bound}) {name}[{i}] = {types[name]}{{}};\n"
        for name, bound in bounds.items()
    )
    return (
        f"    const size_t {i} = blockIdx.x * (size_t)blockDim.x + threadIdx.x;\n"
        f"    // Replace the zeros.\n{writes}"
    )


def _free(word: str, taken: Container[str]) -> str:
    """The word, with as many underscores as make it no parameter's name."""
    while word in taken:
        word += "_"
    return word


def _triton(parameters: Parameters, sizes: Sizes, entry: str) -> str:
    head = (
        "import triton\nimport triton.language as tl\n\n\n"
        "@triton.jit\ndef kernel(output, size, BLOCK: tl.constexpr):\n"
        "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        "    tl.store(output + i, 0, i < size)  # replace the zeros\n\n\n"
    )
    return head + _function(
        parameters,
        entry,
        [f"kernel[(triton.cdiv({name}.numel(), 256),)]({name}, {name}.numel(), BLOCK=256)" for name in sizes],
    )


def _numba(parameters: Parameters, sizes: Sizes, entry: str) -> str:
    head = (
        "from numba import cuda\n\n\n"
        "@cuda.jit\ndef kernel(output):\n"
        "    i = cuda.grid(1)\n"
        "    if i < output.size:\n"
        "        output[i] = 0  # replace the zeros\n\n\n"
        "def launch(output):\n"
        "    flat = cuda.as_cuda_array(output).ravel()\n"
        "    kernel[-(-flat.size // 256), 256](flat)\n\n\n"
    )
    return head + _function(parameters, entry, [f"launch({name})" for name in sizes])


def _python(parameters: Parameters, sizes: Sizes, entry: str) -> str:
    return "import torch  # tensors are torch's\n\n\n" + _function(
        parameters, entry, [f"torch.zeros({name}.shape, out={name})  # replace the zeros" for name in sizes]
    )


def _cute(parameters: Parameters, sizes: Sizes, entry: str) -> str:
    words = [f"{each.name}: {'cute.Tensor' if each.pointer else _cutlass(each.type)}" for each in parameters]
    launches = "".join(
        f"    kernel({name}).launch(grid=[cute.ceil_div(cute.size({name}), 256), 1, 1], block=[256, 1, 1])\n"
        for name in sizes
    )
    return (
        "import cutlass\nimport cutlass.cute as cute\n\n\n"
        "@cute.kernel\ndef kernel(output: cute.Tensor):\n"
        "    thread, _, _ = cute.arch.thread_idx()\n"
        "    block, _, _ = cute.arch.block_idx()\n"
        "    i = block * 256 + thread\n"
        "    if i < cute.size(output):\n"
        "        output[i] = output.element_type(0)  # replace the zeros\n\n\n"
        + _note(parameters, "#", "tensor")
        + f"@cute.jit\ndef {entry}({', '.join(words)}):\n{launches or '    pass' + chr(10)}"
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


def _function(parameters: Parameters, entry: str, body: Sequence[str]) -> str:
    words = [each.name if each.pointer else f"{each.name}: {_of_python(each.type)}" for each in parameters]
    lines = "".join(f"    {each}\n" for each in body) or "    pass\n"
    return f"{_note(parameters, '#', 'tensor')}def {entry}({', '.join(words)}):\n{lines}"


def _of_python(type_: CType) -> str:
    if type_.dtype == "bool":
        return "bool"
    return "float" if type_.is_float else "int"


def _note(parameters: Parameters, comment: str, what: str, *, copied: bool = False) -> str:
    """Where the memory is. `copied`: host memory is copied to the device, because a kernel is called."""
    notes = []
    for place in ("device", "host"):
        names = [
            each.name
            for each in parameters
            if each.pointer and (each.on_host and not copied) == (place == "host")
        ]
        if names:
            are = f"are {place} {what}s" if len(names) > 1 else f"is a {place} {what}"
            notes.append(f"{', '.join(names)} {are}")
    return f"{comment} Note: {'; '.join(notes)}\n" if notes else ""


_WRITERS: dict[Language, Callable[[Parameters, Sizes, str], str]] = {
    "cuda": _cuda,
    "hip": _hip,
    "triton": _triton,
    "numba": _numba,
    "cute": _cute,
    "python": _python,
}
