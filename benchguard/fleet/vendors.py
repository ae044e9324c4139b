"""The vendors whose submissions a fleet grades: those of its driver.

A submission chooses no driver. On a machine with an NVIDIA GPU, `grade --driver auto` takes the CPU driver for a kernel
in HIP, because its user named that one file. In a fleet, a stranger's file could avoid the GPU so.
"""

from __future__ import annotations

from ..errors import UsageError
from ..grade.options import GradeOptions
from ..grade.vendor import api_in, can_grade_hip
from ..quarantine.contract import Language
from ..quarantine.submission import submission_of
from ..shim.driver import discover
from ..shim.vendors import HIP, Api
from .job import Source, Submission

LANGUAGES: dict[Api, frozenset[Language]] = {
    "cuda": frozenset({"cuda", "ptx", "python"}),
    "hip": frozenset({"hip"}),
}


def apis_of(options: GradeOptions, engine: str) -> frozenset[Api]:
    """The vendors whose submissions are graded. The CPU driver has both, if HIP's headers were there to build it.

    Raises UsageError for a HIP driver with the engine "ray"; ShimError if there is no such driver.
    """
    if engine == "ray":
        if options.driver in (HIP.api, HIP.sim_spec):
            raise UsageError(
                f"--driver {options.driver}: the engine ray grades on CUDA drivers; use the engine local for HIP"
            )
        return frozenset({"cuda"})
    driver = discover(options.driver)
    if driver.is_sim and driver.api == "cuda" and can_grade_hip():
        return frozenset({"cuda", "hip"})
    return frozenset({driver.api})


def languages_of(apis: frozenset[Api]) -> frozenset[Language]:
    """The languages of submissions for these vendors."""
    return frozenset[Language]().union(*(LANGUAGES[each] for each in apis))


def check_vendor(
    submission: Submission, options: GradeOptions, apis: frozenset[Api], place: str = "a submission"
) -> None:
    """Raises UsageError, with the place, for a submission that these options and vendors cannot grade; ShimError."""
    if isinstance(submission, Source):
        language = submission.language
        if options.language not in (None, language):
            raise UsageError(
                f"{place}: its language is {language}, and --language is {options.language}; leave out one"
            )
    else:
        convention = options.convention or "arguments"
        language = submission_of(submission, options.language, options.entry, convention).language
    try:
        api = api_in(options, [language])
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from error
    if api not in apis:
        kind = "HIP" if api == "hip" else "CUDA, PTX or Python"
        remedy = "hip, hip-sim or sim" if api == "hip" else "auto, sim or the path of a CUDA driver"
        raise UsageError(
            f"{place}: a submission in {kind} cannot be graded on --driver {options.driver} here; give {remedy} "
            "with the engine local, or leave it out"
        )
