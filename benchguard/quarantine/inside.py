"""Open files of a folder that its owner may change at any moment, and no file outside of it.

A path is looked up again at each use. Whoever owns a submission's folder could put a link to a file of root's in the
place of a file or of a folder that was checked a moment ago.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path, PurePosixPath

LINKS_MAX = 16
_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


def open_inside(root: Path, name: str, links: int = LINKS_MAX) -> int:
    """A descriptor of the file `name` of the folder `root`, which is an absolute path without links.

    Follows only links to other files of the folder, whose targets are relative. Raises OSError.
    """
    *folders, last = PurePosixPath(name).parts
    here = os.open("/", _FOLDER)
    try:
        for part in (*root.parts[1:], *folders):
            inner = os.open(part, _FOLDER, dir_fd=here)
            os.close(here)
            here = inner
        try:
            return os.open(last, _FILE, dir_fd=here)
        except OSError as error:
            if error.errno != errno.ELOOP or links == 0:
                raise
            target = os.readlink(last, dir_fd=here)
    finally:
        os.close(here)
    return open_inside(root, _target(folders, target), links - 1)


def _target(folders: list[str], target: str) -> str:
    """The name of a link's target. Raises OSError for one outside of the folder."""
    parts = list(folders)
    for part in PurePosixPath(target).parts:
        if part == "/" or (part == ".." and not parts):
            raise OSError(errno.EXDEV, "it is a link that leaves the folder")
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    if not parts:
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    return "/".join(parts)
