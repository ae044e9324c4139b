"""What can be read off a CUDA C++ or PTX source without compiling it."""

from __future__ import annotations

import re

from .failure import SubmissionError

_COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_ATTRIBUTE = re.compile(
    r"__(?:launch_bounds|cluster_dims|maxnreg|block_size|align|attribute)__\s*\((?:[^()]|\([^()]*\))*\)"
)
_KERNEL = re.compile(r"\b__global__\b[^;{}()]*?(\w+)\s*\(")
_ENTRY = re.compile(rb"\.entry\s+([A-Za-z_$][A-Za-z0-9_$]*)")
NAMES_SHOWN = 8


def directive(source: str, word: str) -> str | None:
    """What a comment line `// WORD: ...` among the first lines says; None if there is none."""
    for line in source.splitlines():
        text = line.strip()
        if text and not text.startswith("//"):
            return None
        said = text.removeprefix("//").strip()
        if said.startswith(f"{word}:"):
            return said.removeprefix(f"{word}:")
    return None


def kernel_of(source: str, entry: str) -> str | None:
    """The `__global__` function that is the entry, or the only one where nothing has the entry's name.

    None: the entry is a function of the host.
    """
    code = _ATTRIBUTE.sub(" ", _COMMENT_OR_STRING.sub(" ", source))
    kernels = _KERNEL.findall(code)
    if entry in kernels:
        return entry
    mentioned = re.search(rf"\b{re.escape(entry)}\s*\(", code)
    return kernels[0] if len(kernels) == 1 and mentioned is None else None


def ptx_entry(ptx: bytes, name: str, file: str) -> str:
    """The entry of that name as PTX has it, mangled or not, or the only one. Raises SubmissionError."""
    entries: list[str] = [each.decode() for each in dict.fromkeys(_ENTRY.findall(ptx))]
    mangled = re.compile(rf"_Z{len(name)}{re.escape(name)}\w*", re.ASCII)
    for each in entries:
        if each == name or mangled.fullmatch(each):
            return each
    if len(entries) == 1:
        return entries[0]
    shown = ", ".join(entries[:NAMES_SHOWN]) or "none"
    raise SubmissionError(f"{file} has no kernel {name}; it has {shown}; name one {name}")
