"""Cases with one batch of throw-away inputs, in place of an open problem."""

from __future__ import annotations

import os
from dataclasses import dataclass

from benchguard.quarantine.contract import Batch, Cases


@dataclass(frozen=True)
class Given:
    """A source for quarantine(). `inputs` are the bytes of the batch's memfd."""

    cases: Cases
    batch: Batch | None = None
    inputs: bytes = b""

    def find(self) -> Cases:
        return self.cases

    def throwaway(self, first: int) -> tuple[Batch, int]:
        assert self.batch is not None and first == self.batch.first
        made = os.memfd_create("inputs", os.MFD_CLOEXEC)
        os.write(made, self.inputs)
        return self.batch, made
