"""Options of a compiler that a submission may choose itself: `// nvcc: -lcublas --use_fast_math`."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from .failure import SubmissionError

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
    """`compile` suits nvcc and NVRTC, `nvcc` and `link` nvcc alone."""

    compile: tuple[str, ...] = ()
    nvcc: tuple[str, ...] = ()
    link: tuple[str, ...] = ()

    @property
    def has_standard(self) -> bool:
        return any("std=" in each for each in self.compile)


def flags_of(directive: str | None) -> Flags:
    """Raises SubmissionError for an option that may not be chosen: where code comes from and goes to is ours to say."""
    try:
        words = shlex.split(directive or "")
    except ValueError as error:
        raise SubmissionError(f"`// nvcc:{directive}` cannot be read: {error}") from error
    kinds = {"compile": _BOTH, "nvcc": _NVCC, "link": _LINK}
    found: dict[str, list[str]] = {kind: [] for kind in kinds}
    for word in words:
        kind = next((kind for kind, known in kinds.items() if known.fullmatch(word)), None)
        if kind is None:
            raise SubmissionError(
                f"`// nvcc: {word}` is no option that a submission may choose; those are -l, -D, -I, -std, -O, "
                "--use_fast_math, --maxrregcount=N, -Xptxas=... and the like, each in one word"
            )
        found[kind].append(word)
    return Flags(**{kind: tuple(words) for kind, words in found.items()})
