"""The options of a grade, which `grade` and `batch` share."""

from __future__ import annotations

from collections.abc import Callable, Collection

from ..grade.options import GradeOptions
from .options import Command, Flag, Size, options_of
from .timing import timing_options

_CALL: dict[str, str | Flag] = {
    "adapter": "Problem format (auto: detect).",
    "adapter_options": Flag(
        "Set an option of the problem format; may be repeated.", "NAME=VALUE", name="adapter-option"
    ),
    "language": "Language of the submission.  [default: by suffix: .py, .cu, .ptx, .hip]",
    "entry": Flag("Function or class to call.  [default: the problem's, or solution]", "NAME"),
    "convention": "Calling convention (docs/grading.md).  [default: the problem's]",
    "warm_up": Flag(
        "Untimed calls per case before two calls are captured.  [default: 2, up to 4 while a call is short]",
        "N",
    ),
    "cases": Flag(
        "Grade only this test case; may be repeated.  [default: all; the smallest on the CPU driver]",
        "NAME",
        name="case",
    ),
}

_JUDGING: dict[str, str | Flag] = {
    "samples": Flag(
        "Take exactly N samples per case, even if the median has not converged.  [default: by --until; 20 on the "
        "CPU driver]",
        "N",
    ),
    "until": Flag("Stop rule (see `neutrino-bench replay --help`).  [default: ci=0.005]", "ci=W|cv=W"),
    "require_converged": "Exit with 5 if the median is not known as well as --until says.",
    "sets": Flag("Secret input sets per case.", "K"),
    "one_use": Flag("Further input sets that serve one sample each, to detect cached results.", "N"),
    "placements": Flag(
        "Take the samples of a case in N processes, each with its own context; short kernels differ by 1 % between "
        "contexts.  [default: 4 for small cases; 1 on the CPU driver]",
        "N",
    ),
    "timeout": Flag(
        "Stop after this time, and exit with 124.  [default: the suite's time for a ranked submission, or 300]",
        "SECONDS",
    ),
    "wait_for_gpu": Flag(
        "Wait this long while other grades or replays use the GPU. The wait does not count for --timeout.",
        "SECONDS",
    ),
    "memory_bytes": Flag(
        "Memory limit of the submission, as 16G.  [default: half of this machine's]",
        "SIZE",
        "memory",
        Size(),
    ),
    "network": "Let the submission use the network.",
    "require_sandbox": "Refuse to run the submission or a replay in a partial sandbox.",
    "require_evidence": "Exit with 8 if a check of the time could not tell.",
    "cordon_device": "Replay once more with a check before each memory access of the kernels, off the clock.",
    "forbid_library": Flag(
        "Reject a submission that runs a kernel of this name, or from this library (libcublas*); may be repeated.",
        "PATTERN",
    ),
    "allow_images": Flag(
        "Reject kernels but those of this library, of an image with this SHA-256, or of the `submission` itself; "
        "may be repeated.",
        "PATTERN",
    ),
    "inline": "Time in the submission's own process: for work that cannot be replayed, with less trust.",
    "policy": Flag(
        "Deny or log the submission's driver calls by this policy.  [default: quarantine; grading with --inline]",
        "FILE|NAME",
    ),
    "reference_device": "Device that computes the reference results.",
    "keep": Flag("Keep the captures and the audit log in this folder.", "FOLDER"),
}


def grade_options(*, without: Collection[str] = ()) -> Callable[[Command], Command]:
    """An option for each field of GradeOptions but those in `without`, the driver and the device."""

    def decorate(command: Command) -> Command:
        for flags in (_JUDGING, None, _CALL):
            if flags is None:
                command = timing_options(GradeOptions)(command)
            else:
                chosen = {name: flag for name, flag in flags.items() if name not in without}
                command = options_of(GradeOptions, chosen)(command)
        return command

    return decorate
