"""The largest resident memory of a process while it runs."""

from __future__ import annotations

import threading
import time
from pathlib import Path

SAMPLE_SECONDS = 0.1


class ResidentMemory(threading.Thread):
    """Samples from start() to the end of the process."""

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self._status = Path(f"/proc/{process}/status")
        self.mib = 0.0

    def run(self) -> None:
        while True:
            try:
                lines = self._status.read_text().splitlines()
            except OSError:
                return
            for line in lines:
                if line.startswith("VmHWM:"):
                    self.mib = int(line.split()[1]) / 1024
            time.sleep(SAMPLE_SECONDS)
