"""How to grade."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ..replay.protocol import Cold

TIMEOUT_SECONDS = 300.0


@dataclass(frozen=True)
class GradeOptions:
    """Times in seconds, sizes in bytes.

    `adapter` says what kind of problem it is (benchguard/adapters), `adapter_options` what it wants to know.
    `language`, `entry` and `convention` are the submission's; None: from its suffix, and the problem's.
    `sets` input sets are made for each case, and `one_use` more that serve one sample each. `timeout` is for all of it,
    `memory_bytes` for the submission's processes together (0: half of this machine's). `keep` is a folder for captures
    and the audit log; None: a temporary one.
    """

    adapter: str = "problem"
    adapter_options: dict[str, str] = field(default_factory=dict)
    language: Literal["python", "cuda", "ptx"] | None = None
    entry: str | None = None
    convention: str | None = None
    cases: tuple[str, ...] = ()
    driver: str = "auto"
    device: int = 0
    cold: Cold = "flush"
    flush_cache: bool = False
    samples: int | None = None
    until: str | None = None
    timeout: float = TIMEOUT_SECONDS
    memory_bytes: int = 0
    sets: int = 8
    one_use: int = 12
    warm_up: int = 2
    network: bool = False
    require_sandbox: bool = False
    forbid_library: tuple[str, ...] = ()
    inline: bool = False
    reference_device: Literal["auto", "cpu", "cuda"] = "auto"
    keep: Path | None = None
    seed: int | None = None
    """Of the inputs, for tests: who knows it knows the inputs. None: the OS's."""
