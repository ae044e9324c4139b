"""The start of a quarantined process, which every grade waits for."""

from __future__ import annotations

import subprocess
import sys


def test_runner_imports_no_package_that_only_some_submissions_need() -> None:
    program = (
        "import sys, benchguard.quarantine.runner\n"
        "print(*sorted({'cffi', 'elftools', 'numpy', 'rich', 'torch'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"
