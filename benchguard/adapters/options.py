"""Parse --adapter-option NAME=VALUE."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import UsageError


def known(options: Mapping[str, str], names: Mapping[str, str], adapter: str) -> dict[str, str]:
    """Options with defaults from `names`. Raises UsageError for unknown names."""
    for name in options:
        if name not in names:
            raise UsageError(f"the adapter {adapter} has no option {name!r}; options are {', '.join(names)}")
    return {**names, **options}


def one_of(options: Mapping[str, str], name: str, values: tuple[str, ...]) -> str:
    """Raises UsageError."""
    if options[name] not in values:
        raise UsageError(f"{name} cannot be {options[name]!r}; give {', '.join(values)}")
    return options[name]
