"""The vendor of the driver that a submission needs, by its language."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..errors import UsageError
from ..quarantine.contract import Language
from ..quarantine.submission import submission_of
from ..shim.vendors import Api
from ..toolchain.errors import ShimError
from ..toolchain.paths import HIP_BRIDGE
from .options import GradeOptions

_CUDA_ALONE = {
    "inline": "the inline timer calls CUDA's driver",
    "cordon_device": "the kernels' PTX is rewritten, and AMD's code has none",
    "forbid_library": "AMD's code in installed libraries is not searched",
    "allow_images": "AMD's code in installed libraries is not searched",
}


def api_of(options: GradeOptions, *submissions: str | os.PathLike[str]) -> Api:
    """ "hip" for submissions in HIP C++, else "cuda".

    Raises UsageError for an invalid submission, for two vendors, and for an option that this vendor lacks;
    ShimError if no HIP kernel can be graded here.
    """
    convention = options.convention or "arguments"
    return api_in(
        options,
        [submission_of(each, options.language, options.entry, convention).language for each in submissions],
    )


def api_in(options: GradeOptions, languages: Sequence[Language]) -> Api:
    """As api_of(), for submissions in these languages."""
    if "hip" not in languages:
        return "cuda"
    if set(languages) != {"hip"}:
        raise UsageError("one submission is in HIP and the other is not; compare two of one vendor")
    for name, why in _CUDA_ALONE.items():
        if getattr(options, name):
            raise UsageError(f"--{name.replace('_', '-')} cannot be used with a submission in HIP: {why}")
    if not can_grade_hip():
        raise ShimError(
            f"{HIP_BRIDGE}: the library that grades HIP is not built; install HIP's headers and run "
            "`python build.py build`"
        )
    return "hip"


def can_grade_hip() -> bool:
    """Whether this installation has the library that grades HIP: HIP's headers were there when it was built."""
    return HIP_BRIDGE.is_file()
