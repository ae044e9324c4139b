"""Messages between the supervisor and the quarantine.

The supervisor writes one Order to a memfd that is the runner's standard input. No code of the problem runs in the
quarantine. The runner sends events, one JSON line each, on an inherited pipe. A hostile submission can forge them, so
they serve for progress and for reasons of failure, never for a verdict of pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

from ..inline.contract import InlineOrder
from ..problem.spec import CaseSpec, Layout, Returned

Language = Literal["python", "cuda", "ptx", "hip"]

Convention = Literal["arguments", "output_first", "tuple", "data", "module", "module_keywords"]
"""How the entry is called.

- arguments: solution(*arguments in the order of the case). A return value other than None replaces the outputs.
- output_first: kernel(output, *inputs) (pygpubench).
- tuple: solution((inputs..., outputs...)), which returns the outputs.
- data: custom_kernel(data), with data of any structure, which returns results of any structure and memory (GPU MODE).
  The case's `calls` has the structure. A function in CUDA C++ gets the tensors and numbers of data in order.
- module: the entry is a class, called as ENTRY(*init)(*inputs) (KernelBench).
- module_keywords: the same, with inputs by keyword.
"""

LINE_MAX = 1 << 16
EVENTS_MAX = 1 << 14
Text: TypeAlias = Annotated[str, Meta(max_length=4096)]


class Confine(msgspec.Struct, frozen=True):
    """Permissions and limits of the process. Sizes are in bytes."""

    scratch: str
    """The only writable folder. HOME, TMPDIR and all caches are in it."""
    readable: tuple[str, ...]
    """Readable folders besides those of the system and of Python: the submission and the shim."""
    hidden: tuple[str, ...] = ()
    """Unreadable folders: the problem's, because it contains the reference."""
    user: int | None = None
    """The uid and gid to run as, if the supervisor is root; None: the supervisor's own."""
    memory_bytes: int = 0
    processes: int = 4096
    file_bytes: int = 64 << 30
    network: bool = False


class Order(msgspec.Struct, frozen=True, tag_field="task", tag="run"):
    """A request to the runner. The cases follow on `channel` (cases.py).

    For each case the runner warms up, then records two regions, "CASE/0" and "CASE/1" (CASE is its index), on
    throw-away set 0 and 1 in the same buffers. Ranges have the names of the case's buffers.
    """

    submission: str
    language: Language
    entry: str
    convention: Convention
    confine: Confine
    channel: int = -1
    """The stream socket on which the Cases come."""
    warm_up: int | None = None
    """Calls before the recorded ones. None: see Rounds.warm_up."""
    beside: str = ""
    """Folder of the problem's files that the submission may import or include; empty: none."""
    arch: str = ""
    """Target of nvcc or NVRTC, such as "sm_90"; empty: the device's own."""
    machine_code: bool = True
    """Whether nvcc puts machine code beside the PTX in a library. Without it the driver compiles the PTX."""
    are_captures_kept: bool = True
    """Whether somebody may use the captures after the grade. If not, they have only the memory that the grade's replay
    needs: that before the call that is replayed."""
    inline_order: InlineOrder | None = None
    """Time in this process, by benchguard/inline's protocol, and record nothing."""

    @property
    def readable(self) -> tuple[str, ...]:
        return (self.submission, *self.confine.readable)

    @property
    def descriptors(self) -> tuple[int, ...]:
        """All descriptors that the runner inherits, besides the one for its events."""
        inline = self.inline_order.descriptors if self.inline_order is not None else ()
        return tuple(each for each in (self.channel, *inline) if each >= 0)


class ReadingStart(msgspec.Struct, frozen=True):
    """The reader's order before the submission has ended. Its Reading comes on the socket `channel`."""

    channel: int
    examiner: str
    """MODULE:FUNCTION, called with both captures of a case and its CaseSpec. Empty: only pack."""


class Reading(msgspec.Struct, frozen=True):
    """The work of the reader of raw captures (reader.py), which waits in a sandbox of its own."""

    raw_captures: tuple[int, ...]
    """Their descriptors. The reader opens no path."""
    calls: tuple[str, ...]
    """The driver's exports, by slot."""
    cases: tuple[CaseSpec, ...]
    deadline: float
    """By the monotonic clock."""
    replayed: tuple[int, ...] = ()
    """By case, the region whose memory is packed. Empty, or where the memory is small: that of both regions is."""


class Task(msgspec.Struct, frozen=True, tag_field="task", tag="call"):
    """A request to call a function of ours that hostile bytes may take over, in a sandbox of its own (confined.py)."""

    function: str
    """MODULE:FUNCTION, called with the text of `argument` and the descriptor for its events."""
    argument: msgspec.Raw
    descriptors: tuple[int, ...]
    """All descriptors that the function uses, besides the one for its events."""
    confine: Confine
    variables: tuple[str, ...] = ()
    """Environment variables that are allowed besides those of sandbox/environment.py."""
    sibling: str = ""
    """MODULE:FUNCTION, called with each descriptor of `siblings`, in a process of its own beside that of `function`,
    which is its parent. It is confined as that is."""
    siblings: tuple[int, ...] = ()

    @property
    def readable(self) -> tuple[str, ...]:
        return self.confine.readable


class Cases(msgspec.Struct, frozen=True):
    """A problem's cases. Their throw-away inputs follow, a Batch after the other."""

    cases: tuple[CaseSpec, ...]
    init: tuple[Any, ...] = ()
    """Arguments of a module's constructor: by place, by keyword, and the precision of its parameters."""
    tensors: bool = False
    """Whether the suite's own harness gives torch's tensors."""


class Batch(msgspec.Struct, frozen=True):
    """Two throw-away input sets for each case from `first` on, in a memfd that comes beside this message.

    They are laid out by `layouts`. Set 0 of the nth case of the batch begins at `offsets[n]`.
    """

    first: int
    layouts: tuple[Layout, ...]
    offsets: tuple[int, ...]

    @property
    def end(self) -> int:
        """The first case of the next batch."""
        return self.first + len(self.layouts)


# Events, from the runner.


class Confined(msgspec.Struct, frozen=True, tag_field="event", tag="confined"):
    """The sandbox's protections. Sent before any code of the submission runs, so the supervisor trusts it."""

    features: dict[str, Text]
    """For each name in FEATURES: "on", or the reason why it is off."""


RunnerPhase = Literal["arm", "driver", "import", "compile", "warm-up", "record", "time"]
"""Phases of the runner; `arm` and `time` are of --inline. No other text is shown as progress: a forged phase could look
like a verdict."""


class Began(msgspec.Struct, frozen=True, tag_field="event", tag="began"):
    """Start of a phase, shown as progress."""

    phase: RunnerPhase
    case: int = -1


CONFINE = "confine"
FIRST_PHASES = frozenset({CONFINE, "arm", "driver"})
"""Phases before any code of the submission runs: set up the sandbox, with --inline hide the secrets, set up the driver.

The driver is set up later for Python, whose code may set variables that the driver reads. Its context is made while
nvcc reads the submission, so that phase is `compile`.
"""


class Broke(msgspec.Struct, frozen=True, tag_field="event", tag="broke"):
    """The submission failed. `text` is one line; `detail` is the output of the compiler, or a traceback."""

    phase: Annotated[str, Meta(max_length=32)]
    text: Text
    detail: Annotated[str, Meta(max_length=1 << 15)] = ""
    unreplayable: bool = False
    """The submission may be right but cannot be recorded: for example, its outputs are in host memory."""

    lacks: Annotated[str, Meta(max_length=64)] = ""
    """The compiler that this machine lacks (runner/compilers.py)."""


class Gave(msgspec.Struct, frozen=True, tag_field="event", tag="gave"):
    """The results of a case with `returns`."""

    case: int
    returned: Returned


class Finished(msgspec.Struct, frozen=True, tag_field="event", tag="finished"):
    """The runner called the submission for all cases."""

    seconds: dict[str, float]
    """Duration of driver, import, compile, warm-up and record, as the runner claims. The driver's overlaps nvcc's."""


Event: TypeAlias = Confined | Began | Broke | Gave | Finished


# Events, from the reader. A hostile raw capture may have taken over its process.


class ReadCase(msgspec.Struct, frozen=True, tag_field="event", tag="read"):
    """Both captures of the next case are packed. `examined` is the examiner's result, as JSON."""

    examined: str


class Unreadable(msgspec.Struct, frozen=True, tag_field="event", tag="unreadable"):
    text: Text


ReaderEvent: TypeAlias = ReadCase | Unreadable
READER_LINE_MAX = 4 << 20

FEATURES = (
    "identity",
    "privileges",
    "filesystem",
    "system calls",
    "limits",
    "environment",
    "network",
    "processes",
)
"""Protections of the sandbox.

- identity: a user other than root.
- privileges: no_new_privs, no capabilities.
- filesystem: landlock.
- system calls: seccomp.
- limits: rlimits.
- environment: no variables besides those listed in sandbox/environment.py.
- network: none, unless allowed.
- processes: all ended.
"""


def is_full(features: Mapping[str, str]) -> bool:
    """Whether all protections of the sandbox are on."""
    return all(features.get(name) == "on" for name in FEATURES)


def missing_features(features: Mapping[str, str], network: bool) -> str:
    """The protections that are off, each with its reason; empty for a full sandbox. `network`: it may be allowed."""
    allowed = {"network"} if network else set()
    return "; ".join(
        f"{name}: {why}" for name, why in features.items() if why != "on" and name not in allowed
    )


@dataclass(frozen=True)
class Audit:
    """Summary of the audit log."""

    path: str
    head: str
    records: int
    dropped: int
    complete: bool
    unread_bytes: int = 0
    """Bytes of trace records that could not be read before the deadline."""


@dataclass(frozen=True)
class Quarantined:
    """Result of a quarantine.

    `captures` has the captures of both regions of each case, in order; fewer if the submission failed.
    `submission_sha256` is of the files before the run; `altered`: the files differ after the run.
    """

    captures: tuple[tuple[Path, Path], ...]
    confinement: dict[str, str]
    submission_sha256: str
    altered: bool
    status: int
    timed_out: bool
    broke: Broke | None
    seconds: dict[str, float]
    wall_s: float
    audit: Audit
    output: str
    """The end of the submission's output, shown to the user."""
    trouble: str = ""
    """Why the captures cannot be used: invalid events or damaged raw captures, for example."""
    examined: tuple[str, ...] = ()
    """For each case in `captures`, the result of ReadingStart.examiner."""
    returned: dict[int, Returned] = field(default_factory=dict)
    """By case, the results of its calls, as the submission's process reports them. replayed_case() accepts them."""
    replayed: tuple[int, ...] = ()
    """By case, which of both captures is replayed: a random one, so that a submission cannot prepare for it."""
    is_ours: bool = False
    """Whether no code of the submission ran before `trouble` or the time-out."""

    @property
    def confined(self) -> bool:
        """Whether the sandbox is full: all protections are on."""
        return is_full(self.confinement)
