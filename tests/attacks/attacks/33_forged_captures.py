"""Puts raw captures of its own beside the shim's: copies under other names, junk, a pipe, links."""

import os
import shutil
from pathlib import Path

import kit

done = []


def forge():
    folder = Path(os.environ.get("NEUTRINO_CAPTURE", "/nowhere"))
    folder = folder if folder.is_dir() else folder.parent
    if done or not folder.is_dir() or folder == Path("/") or not list(folder.glob("*.nrec")):
        return
    done.append(True)
    for path in list(folder.iterdir()):
        shutil.copy(path, folder / f"{os.getpid()}-{len(os.listdir(folder)) + 7}.nrec")
    (folder / "1-1.nrec").write_bytes(b"NRECxxxx" + os.urandom(4096))
    (folder / "2-2.nrec").symlink_to("/etc/shadow")
    os.mkfifo(folder / "3-3.nrec")
    with (folder / "4-4.nrec").open("wb") as sparse:
        sparse.truncate(1 << 33)


def solution(x, y, n, rounds):
    kit.mix(x.data_ptr(), y.data_ptr(), n, 1)
    forge()  # once the first call has been recorded
