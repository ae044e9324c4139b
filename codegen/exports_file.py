"""A library's exports as a text file, for what is built where the library is not.

soname libamdhip64.so.5
version hip_4.2
version hip_4.3 hip_4.2
hipInit hip_4.2
"""

from __future__ import annotations

from pathlib import Path

from .errors import CodegenError
from .exports import DriverExports, Version

_HEAD = """\
# The exports of {soname}, by version and then by name.
# Made by: python -m benchguard.codegen exports --driver {soname} --out FILE
"""


def exports_text(driver: DriverExports) -> str:
    """The same exports give the same text, whatever order the library has them in."""
    version_of = dict(driver.version_of)
    place = {version.name: number for number, version in enumerate(driver.versions)}
    names = sorted(driver.names, key=lambda name: (place.get(version_of.get(name, ""), -1), name))
    lines = [f"soname {driver.soname}"]
    lines += [" ".join(filter(None, ("version", each.name, each.parent))) for each in driver.versions]
    lines += [" ".join(filter(None, (name, version_of.get(name)))) for name in names]
    return _HEAD.format(soname=driver.soname) + "\n".join(lines) + "\n"


def load_exports(path: Path) -> DriverExports:
    """Read the output of exports_text. Raises CodegenError with the first invalid line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise CodegenError(f"{path}: {error.strerror}") from error
    soname = None
    versions: dict[str, Version] = {}
    names: dict[str, str | None] = {}
    for number, line in enumerate(lines, 1):
        match line.split():
            case []:
                continue
            case [first, *_] if first.startswith("#"):
                continue
            case ["soname", name]:
                soname = name
            case ["version", name]:
                versions[name] = Version(name, None)
            case ["version", name, parent] if parent in versions:
                versions[name] = Version(name, parent)
            case [name]:
                names[name] = None
            case [name, version] if version in versions:
                names[name] = version
            case _:
                raise CodegenError(f"{path}, line {number}: {line!r} names no version that a line above has")
    if soname is None or not names:
        raise CodegenError(f"{path}: has no soname or no export; make it anew by codegen exports")
    version_of = tuple((name, version) for name, version in names.items() if version)
    return DriverExports(tuple(names), soname, None, tuple(versions.values()), version_of)
