"""The start of a quarantined process, which every grade waits for."""

from __future__ import annotations

import subprocess
import sys


def test_runner_imports_nothing_that_only_some_submissions_need() -> None:
    names = {"cffi", "elftools", "numpy", "rich", "torch", "hmac", "benchguard.inline.run"}
    program = (
        f"import sys, benchguard.quarantine.sandbox.stage, benchguard.quarantine.runner\n"
        f"print(*sorted({names} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"
