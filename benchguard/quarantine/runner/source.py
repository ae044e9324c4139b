"""Read directives, kernels and compiler flags from CUDA C++ or PTX source, without compiling it."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, replace

from .reporting import SubmissionError

_COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_ATTRIBUTE = re.compile(
    r"__(?:launch_bounds|cluster_dims|maxnreg|block_size|align|attribute)__\s*\((?:[^()]|\([^()]*\))*\)"
)
_KERNEL = re.compile(r"\b__global__\b[^;{}()]*?(\w+)\s*\(")
_EXPORTED = re.compile(r"\bextern\s+(?!__global__)void\s+\w+\s*\([^;{}]*\{")
"""A function with extern "C", after the removal of strings."""
_ENTRY = re.compile(rb"\.entry\s+([A-Za-z_$][A-Za-z0-9_$]*)")
NAMES_SHOWN = 8
DEFAULT_ENTRY = "solution"


def directive(source: str, word: str) -> str | None:
    """The text of a comment `// WORD: ...` before the first line of code other than `#` lines; None without one."""
    for line in source.removeprefix("\ufeff").splitlines():
        text = line.strip()
        if text and not text.startswith(("//", "#")):
            return None
        content = text.removeprefix("//").strip()
        if content.startswith(f"{word}:"):
            return content.removeprefix(f"{word}:")
    return None


def code_of(source: str) -> str:
    """The source without comments and strings."""
    return _COMMENT_OR_STRING.sub(" ", source)


def kernel_of(source: str, entry: str) -> str | None:
    """The `__global__` function named `entry`, or the only kernel if no function has that name.

    None: the entry is a host function. It has another name if the file exports one that launches the only kernel, as
    another suite's submissions do. Without a launch directive the grader would launch that kernel with a grid that it
    is not written for. So an entry that the suite or the user named is not replaced by the only kernel, either.
    """
    code = _ATTRIBUTE.sub(" ", code_of(source))
    kernels: list[str] = _KERNEL.findall(code)
    if entry in kernels:
        return entry
    mentioned = re.search(rf"\b{re.escape(entry)}\s*\(", code)
    exports_launcher = "<<<" in code and _EXPORTED.search(code) is not None
    is_host = exports_launcher or entry != DEFAULT_ENTRY
    if len(kernels) != 1 or mentioned or (is_host and directive(source, "launch") is None):
        return None
    return kernels[0]


def ptx_entry(ptx: bytes, name: str, file: str) -> str:
    """The PTX entry named `name`, mangled or not, or the only entry. Raises SubmissionError."""
    entries: list[str] = [each.decode() for each in dict.fromkeys(_ENTRY.findall(ptx))]
    mangled = re.compile(rf"_Z{len(name)}{re.escape(name)}\w*", re.ASCII)
    for each in entries:
        if each == name or mangled.fullmatch(each):
            return each
    if len(entries) == 1:
        return entries[0]
    others = (
        f", only {', '.join(entries[:NAMES_SHOWN])}; rename one to {name}"
        if entries
        else " and no other kernel"
    )
    raise SubmissionError(f"{file} has no kernel {name}{others}")


_LIBRARIES = "cublas|cublasLt|cufft|curand|cusolver|cusparse|cutensor|cudnn|cuda|nvrtc|nvJitLink|m"
_BOTH = re.compile(
    r"--?use_fast_math|--?(?:fmad|ftz|prec-div|prec-sqrt)=(?:true|false)|--?maxrregcount=[0-9]{1,3}"
    r"|--?extra-device-vectorization|-D[A-Za-z_][A-Za-z0-9_]*(?:=[A-Za-z0-9_.+-]*)?|-I[^\s]+|-w"
    r"|(?:--std|-std)=c\+\+(?:14|17|20)"
)
_NVCC = re.compile(
    r"--?expt-relaxed-constexpr|--?expt-extended-lambda|--?extended-lambda|--?generate-line-info|-lineinfo|-O[0-3]"
    r"|--?diag-suppress=[0-9,]+|(?:-Xptxas|--ptxas-options)=(?:-O[0-3]|-v|-dlcm=c[agsv]|-dscm=[a-z]{2}"
    r"|--allow-expensive-optimizations=(?:true|false)|-warn-spills)"
)
_LINK = re.compile(rf"-l(?:{_LIBRARIES})")


@dataclass(frozen=True)
class Flags:
    """`compile` is for nvcc and NVRTC, `nvcc` and `link` are for nvcc only."""

    compile: tuple[str, ...] = ()
    nvcc: tuple[str, ...] = ()
    link: tuple[str, ...] = ()

    @property
    def has_standard(self) -> bool:
        return any("std=" in each for each in self.compile)

    def including(self, folder: str) -> Flags:
        """These flags, with a folder of headers; empty: none."""
        return replace(self, compile=(*self.compile, f"-I{folder}")) if folder else self


def flags_of(directive: str | None) -> Flags:
    """Raises SubmissionError for an option that submissions may not set, such as other inputs or outputs."""
    try:
        words = shlex.split(directive or "")
    except ValueError as error:
        raise SubmissionError(f"`// nvcc:{directive}` cannot be read: {error}") from error
    kinds = {"compile": _BOTH, "nvcc": _NVCC, "link": _LINK}
    flags: dict[str, list[str]] = {kind: [] for kind in kinds}
    for word in words:
        kind = next((kind for kind, known in kinds.items() if known.fullmatch(word)), None)
        if kind is None:
            raise SubmissionError(
                f"`// nvcc: {word}` is not allowed; allowed are -l, -D, -I, -std, -O, --use_fast_math, "
                "--maxrregcount=N, -Xptxas=... and the like, each in one word"
            )
        flags[kind].append(word)
    return Flags(**{kind: tuple(words) for kind, words in flags.items()})
