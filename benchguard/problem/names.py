"""Names that parameters cannot have, because they are reserved in a language of submissions."""

from __future__ import annotations

import keyword

# https://en.cppreference.com/w/cpp/keywords, those of C++17 and of CUDA's own.
_CPP = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t class compl const
    const_cast constexpr continue decltype default delete do double dynamic_cast else enum explicit export extern
    false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq
    private protected public register reinterpret_cast return short signed sizeof static static_assert static_cast
    struct switch template this thread_local throw true try typedef typeid typename union unsigned using virtual void
    volatile wchar_t while xor xor_eq size_t blockIdx blockDim threadIdx gridDim warpSize
"""


def unfit(name: str) -> str:
    """Why the name cannot be a parameter's; empty if it can."""
    if not (name.isascii() and name.isidentifier() and len(name) <= 64):
        return "is not a C identifier; use letters, digits and _, at most 64"
    if keyword.iskeyword(name) or name in _CPP.split():
        return "is a word of Python or C++; give another"
    return ""
