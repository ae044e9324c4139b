"""Options of a recorded run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..audit.parts import PART_BYTES_MIN
from ..audit.selection import parse_selection
from ..errors import UsageError


@dataclass(frozen=True)
class RecordOptions:
    """Options of a recorded run. The defaults are those of `neutrino-bench record`.

    At most one of `launches`, `kernel` and `window` selects the region. Without them, regions are the blocks that the
    program puts in `with benchguard.region():`.

    Attributes:
        launches: "A:B": launches A to B - 1 of a process, counted from 0, and the operations between them.
        kernel: "PATTERN[:N]": the Nth launch, from 1, of a kernel whose name matches the shell pattern.
        window: the operations between the Nth pair, from 1, of timing events on a stream.
        log: path of the audit log. None: beside the capture, x.audit.jsonl.
        log_size: bytes of a file of the log, which continues in other files (docs/tracing.md). None: one file.
        force: replace the capture and the log if they exist.
        driver: "auto" (this machine's driver, else the CPU driver), "sim" (the CPU driver), "hip",
            "hip-sim", or the path of a driver library.
        timeout: seconds until the command and its descendants are killed. None: no limit.
        keep_raw: keep the raw captures (.nrec).
        policy: path or name of a policy, whose rules log or deny driver calls (docs/policy.md). None: no policy.

    Raises:
        UsageError: a selection is malformed, or several are given; log_size is too small.
    """

    launches: str | None = None
    kernel: str | None = None
    window: int | None = None
    log: Path | None = None
    log_size: int | None = None
    force: bool = False
    driver: str = "auto"
    timeout: float | None = None
    keep_raw: bool = False
    policy: str | None = None

    def __post_init__(self) -> None:
        parse_selection(self.launches, self.kernel, self.window)
        if self.log_size is not None and self.log_size < PART_BYTES_MIN:
            raise UsageError(f"log_size {self.log_size} is too small; give at least {PART_BYTES_MIN} bytes")
