"""Calls that the log's readers must know by name, of either vendor."""

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
"""Code goes, and its image with it: the first argument is the handle that the image was stored for."""

EXPORT_TABLES = frozenset({"cuGetExportTable"})
"""Functions are handed out that have no name. HIP has no such call."""
