"""`python -m benchguard` is `neutrino-bench`."""

import contextlib
import signal
import sys
from pathlib import Path

# Until the command has its own handler, Ctrl-C ends Python without a traceback.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

# `python -m` puts the current folder first, where a submission may lie beside the problem.
with contextlib.suppress(FileNotFoundError):  # the current folder was removed
    if not getattr(sys.flags, "safe_path", False) and sys.path[:1] == [str(Path.cwd())]:
        del sys.path[0]

from .cli.main import main

if __name__ == "__main__":
    main()
