"""Locks of the shim: every one belongs to a component, and every component is in the composition root's table."""

from __future__ import annotations

import re
from pathlib import Path

HOOK = Path(__file__).parents[3] / "hook"
SOURCES = [path for folder in ("core", "cuda", "hip") for path in sorted((HOOK / folder).rglob("*.c"))]
ROOTS = ("compose.c", "stream.c")
"""Where tables of components are: for all vendors, and for HIP alone."""
HANDLED_APART = {
    ("attach.c", "lock"),  # taken after all components, by the fork handlers themselves
    ("driver.c", "lock"),  # made anew in the child: constructors of the driver may fork while it is held
    ("register.c", "binaries.lock"),  # constructors register code before a process attaches:
    ("register.c", "nb_registered_kernels.lock"),  # these have fork handlers of their own
    ("register.c", "globals.lock"),
}
MUTEX = re.compile(r"^(?:static )?pthread_mutex_t (\w+) *=", re.MULTILINE)
MAP = re.compile(r"^(?:static )?struct nb_handle_map (\w+) *=", re.MULTILINE)
LOCKED = re.compile(r"\.locks = \{([^}]*)\}")
DEFINED = re.compile(r"^const struct nb_component (\w+) =", re.MULTILINE)


def locks_of(text: str) -> set[str]:
    return set(MUTEX.findall(text)) | {f"{name}.lock" for name in MAP.findall(text)}


def locks_in_components(text: str) -> set[str]:
    return {name.strip().removeprefix("&") for names in LOCKED.findall(text) for name in names.split(",")}


def test_locks_all_belong_to_components() -> None:
    missing = {
        (path.name, lock)
        for path in SOURCES
        for lock in locks_of(path.read_text()) - locks_in_components(path.read_text())
    }
    assert missing == HANDLED_APART


def test_locks_found_include_those_of_cuda() -> None:
    """A control of the search: mutexes and handle maps of hook/cuda, which are many."""
    items = [lock for path in SOURCES if "cuda" in path.parts for lock in locks_of(path.read_text())]
    assert len(items) >= 17


def test_components_all_are_in_a_table() -> None:
    defined = {name for path in SOURCES for name in DEFINED.findall(path.read_text())}
    tables = "".join(path.read_text() for path in SOURCES if path.name in ROOTS)
    assert defined and {name for name in defined if f"&{name}," not in tables} == set()
