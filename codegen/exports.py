"""The exports of a driver library, read from its file without loading it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import CodegenError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_EXPORTS_MAX = 60_000  # a record's slot has 16 bits
_STARTUP = ("_init", "_fini")  # every library has its own
_HIDDEN_VERSION = 0x8000


@dataclass(frozen=True)
class Version:
    """A node of the library's version tree, and the node it builds on."""

    name: str
    parent: str | None


@dataclass(frozen=True)
class DriverExports:
    """Names in the order of .dynsym; `version_of` only for a library that has symbol versions."""

    names: tuple[str, ...]
    soname: str
    build_id: str | None = None
    versions: tuple[Version, ...] = ()
    version_of: tuple[tuple[str, str], ...] = ()


def read_exports(path: Path) -> DriverExports:
    """The functions that an x86-64 shared library exports. Raises CodegenError for other files."""
    from elftools.common.exceptions import ELFError  # noqa: PLC0415 - it takes 20 ms to import
    from elftools.elf.elffile import ELFFile  # noqa: PLC0415

    try:
        if path.exists() and not path.is_file() and not path.is_dir():  # to open a pipe waits for a writer
            raise CodegenError(f"{path}: is not a regular file; name the driver's library file")
        with path.open("rb") as stream:
            return _read(ELFFile(stream), path)
    except OSError as error:
        raise CodegenError(f"{path}: {error.strerror}; name the driver's library file") from error
    except CodegenError:
        raise
    except Exception as error:  # pyelftools raises whatever its parser trips over on a damaged file
        what = str(error) if isinstance(error, ELFError) else type(error).__name__
        raise CodegenError(
            f"{path}: is not a readable ELF library ({what}); name the driver's library file"
        ) from error


def _read(elf: Any, path: Path) -> DriverExports:
    if elf.elfclass != 64 or elf["e_machine"] != "EM_X86_64":
        raise CodegenError(f"{path}: is not for x86-64; only x86-64 drivers are supported")
    symbols = elf.get_section_by_name(".dynsym")
    if symbols is None:
        raise CodegenError(f"{path}: has no dynamic symbols; name the driver's library file")
    version_of = _versions_of_symbols(elf)
    names: dict[str, str | None] = {}
    for number, symbol in enumerate(symbols.iter_symbols()):
        if _is_exported_function(symbol) and _NAME.fullmatch(symbol.name) and symbol.name not in _STARTUP:
            names.setdefault(symbol.name, version_of.get(number))
    if not names or len(names) > _EXPORTS_MAX:
        raise CodegenError(f"{path}: exports {len(names)} functions; a driver has 1 to {_EXPORTS_MAX}")
    return DriverExports(
        tuple(names),
        _soname(elf) or path.name,
        _build_id(elf),
        _version_tree(elf),
        tuple((name, version) for name, version in names.items() if version),
    )


def _is_exported_function(symbol: Any) -> bool:
    info = symbol["st_info"]
    return (
        info["bind"] in ("STB_GLOBAL", "STB_WEAK")
        and info["type"] in ("STT_FUNC", "STT_GNU_IFUNC", "STT_LOOS")
        and symbol["st_shndx"] != "SHN_UNDEF"
        and symbol["st_other"]["visibility"] in ("STV_DEFAULT", "STV_PROTECTED")
    )


def _soname(elf: Any) -> str | None:
    dynamic = elf.get_section_by_name(".dynamic")
    tags = dynamic.iter_tags("DT_SONAME") if dynamic is not None else ()
    return next((str(tag.soname) for tag in tags), None)


def _build_id(elf: Any) -> str | None:
    section = elf.get_section_by_name(".note.gnu.build-id")
    notes = section.iter_notes() if section is not None else ()
    return next((str(note["n_desc"]) for note in notes if note["n_type"] == "NT_GNU_BUILD_ID"), None)


def _definitions(elf: Any) -> list[tuple[int, str, str | None]]:
    """(index, name, parent) of every version but the library's own name, which is flagged as base."""
    from elftools.elf.gnuversions import GNUVerDefSection  # noqa: PLC0415

    section = next((s for s in elf.iter_sections() if isinstance(s, GNUVerDefSection)), None)
    if section is None:
        return []
    rows = []
    for definition, auxiliaries in section.iter_versions():
        names = [auxiliary.name for auxiliary in auxiliaries]
        if not definition["vd_flags"] & 1:
            rows.append((definition["vd_ndx"], names[0], names[1] if len(names) > 1 else None))
    return rows


def _version_tree(elf: Any) -> tuple[Version, ...]:
    return tuple(Version(name, parent) for _, name, parent in _definitions(elf))


def _versions_of_symbols(elf: Any) -> dict[int, str]:
    """Version name by index into .dynsym; only a symbol's default version counts."""
    from elftools.elf.gnuversions import GNUVerSymSection  # noqa: PLC0415

    section = next((s for s in elf.iter_sections() if isinstance(s, GNUVerSymSection)), None)
    names = {index: name for index, name, _ in _definitions(elf)}
    if section is None or not names:
        return {}
    versions = {}
    for number in range(section.num_symbols()):
        index = section.get_symbol(number)["ndx"]
        if isinstance(index, int) and not index & _HIDDEN_VERSION and index in names:
            versions[number] = names[index]
    return versions
