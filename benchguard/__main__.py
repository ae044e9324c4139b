"""`python -m benchguard` is `neutrino-bench`."""

import contextlib
import sys
from pathlib import Path

# `python -m` puts the current folder first, where a submission may lie beside the problem.
with contextlib.suppress(FileNotFoundError):  # the current folder was removed
    if not getattr(sys.flags, "safe_path", False) and sys.path[:1] == [str(Path.cwd())]:
        del sys.path[0]

from .cli.main import main

if __name__ == "__main__":
    main()
