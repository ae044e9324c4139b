"""What is asked of the quarantine, and what comes back of it.

The supervisor writes one Order to a memfd that is the runner's standard input; nothing of a problem's code is in
that process. The runner's events, a JSON line each on an inherited pipe, are what a hostile process says: they are
for progress and for reasons, never for a verdict of pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

from ..inline.contract import InlineOrder
from ..problem.spec import CaseSpec, Layout

Language = Literal["python", "cuda", "ptx"]

Convention = Literal["arguments", "output_first", "tuple", "tuple_of_inputs", "input", "module"]
"""How the entry is called. arguments: solution(*arguments in the order of the case); what it returns, if not None,
are the outputs. output_first: kernel(output, *inputs) (pygpubench). tuple: custom_kernel((inputs..., outputs...)),
returning the outputs (GPU MODE). tuple_of_inputs, input: custom_kernel((inputs...)), custom_kernel(the one input),
returning the outputs (GPU MODE, where a task's data has no memory for them). module: entry is a class,
ENTRY(*init)(*inputs) (KernelBench)."""

LINE_MAX = 1 << 16
EVENTS_MAX = 1 << 14
Text: TypeAlias = Annotated[str, Meta(max_length=4096)]


class Confine(msgspec.Struct, frozen=True):
    """What the process may do. Sizes in bytes, times in seconds."""

    scratch: str
    """The one folder it may write to; HOME, TMPDIR and every cache are in it."""
    readable: tuple[str, ...]
    """Beside the system's and Python's folders: the submission."""
    hidden: tuple[str, ...] = ()
    """Folders it may not even read: the problem's, for its reference."""
    user: int | None = None
    """Its uid and gid, where we are root; None: ours."""
    memory_bytes: int = 0
    processes: int = 4096
    file_bytes: int = 64 << 30
    network: bool = False


class Order(msgspec.Struct, frozen=True):
    """What the runner is asked to do, except for the cases, which follow on `channel` (cases.py).

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
    warm_up: int = 2
    arch: str = ""
    """Of nvcc's or NVRTC's output, as "sm_90"; empty: ask the device."""
    inline_order: InlineOrder | None = None
    """Time in this process, by benchguard/inline's protocol, and record nothing."""

    @property
    def descriptors(self) -> tuple[int, ...]:
        """All descriptors that the runner inherits, besides the one for its events."""
        inline = self.inline_order.descriptors if self.inline_order is not None else ()
        return tuple(each for each in (self.channel, *inline) if each >= 0)


class Cases(msgspec.Struct, frozen=True):
    """A problem's cases. `inputs` is a memfd with two throw-away input sets for each case, laid out by `layouts`.

    Set 0 of case n begins at `offsets[n]`. The runner gets `inputs` as another descriptor, beside this message.
    """

    cases: tuple[CaseSpec, ...]
    layouts: tuple[Layout, ...]
    offsets: tuple[int, ...]
    inputs: int
    init: tuple[Any, ...] = ()
    """Arguments of a module's constructor."""


# Events, from the runner.


class Confined(msgspec.Struct, frozen=True, tag_field="event", tag="confined"):
    """Sent by the stage before any byte of the submission ran, so it may be believed."""

    features: dict[str, Text]
    """By name (FEATURES): "on", or why not."""


class Began(msgspec.Struct, frozen=True, tag_field="event", tag="began"):
    """For people who wait: import, compile, warm-up, record."""

    phase: Annotated[str, Meta(max_length=32)]
    case: int = -1


class Broke(msgspec.Struct, frozen=True, tag_field="event", tag="broke"):
    """The submission, or what it needs, failed. `text` is one line; `detail` what a compiler or Python said."""

    phase: Annotated[str, Meta(max_length=32)]
    text: Text
    detail: Annotated[str, Meta(max_length=1 << 15)] = ""
    unreplayable: bool = False
    """Not wrong, but nothing that can be recorded: outputs on the host, say."""


class Finished(msgspec.Struct, frozen=True, tag_field="event", tag="finished"):
    """All cases were called."""

    seconds: dict[str, float]
    """What import, compile, warm-up and record took, by its word."""


Event: TypeAlias = Confined | Began | Broke | Finished

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
"""identity: another user than root. privileges: no_new_privs, no capabilities. filesystem: landlock. system calls:
seccomp. limits: rlimits. environment: nothing of ours in it. network: none, unless allowed. processes: all ended."""


@dataclass(frozen=True)
class Audit:
    """Of the shim's log (design, Result)."""

    path: str
    head: str
    records: int
    dropped: int
    complete: bool


@dataclass(frozen=True)
class Quarantined:
    """What came back. `captures` has, for each case in order, the captures of its two regions; fewer if it broke.

    `submission_sha256` is of the files as they were before it ran; `altered`: they differ after it.
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
    """The last of what it printed; for people."""
    trouble: str = ""
    """Why its captures cannot be used. Empty if they can."""
    is_ours: bool = False
    """Whether `trouble` is the sandbox's: it did not start, or processes of the submission are left."""

    @property
    def confined(self) -> bool:
        """Every feature is on."""
        return all(self.confinement.get(name) == "on" for name in FEATURES)
