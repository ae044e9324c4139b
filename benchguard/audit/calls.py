"""Driver calls, of both vendors, that the interpreter of a log handles by name."""

from __future__ import annotations

UNLOADS = frozenset(
    {
        "cuLibraryUnload",
        "cuLinkDestroy",
        "cuModuleUnload",
        "__hipUnregisterFatBinary",
        "hipModuleUnload",
    }
)
"""Calls that unload code and its image. The first argument is the handle that the image was stored for."""

EXPORT_TABLES = frozenset({"cuGetExportTable"})
"""Calls that return functions without a name. HIP has no such call."""
