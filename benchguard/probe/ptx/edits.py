"""Insertions, replacements and removals in a text."""

from __future__ import annotations

from dataclasses import dataclass, field

from benchguard.probe.ptx.module import Span


@dataclass
class Edits:
    """Changes of a text, all in offsets of the original. Insertions at one offset keep their order and come before a
    replacement that begins there; changes inside a removed span have no effect."""

    changes: list[tuple[int, int, int, str]] = field(default_factory=list)
    removed: list[Span] = field(default_factory=list)

    def insert(self, offset: int, text: str) -> None:
        """Put a text before the character at an offset."""
        self.changes.append((offset, offset, len(self.changes), text))

    def replace(self, start: int, end: int, text: str) -> None:
        """Put a text in the place of the characters from `start` to `end`."""
        self.changes.append((start, end, len(self.changes), text))

    def remove(self, span: Span) -> None:
        """Take characters out."""
        self.removed.append(span)

    def apply(self, text: str) -> str:
        """The changed text.

        Raises:
            ValueError: Two replacements overlap.
        """
        changes = [(start, end, order, new, False) for start, end, order, new in self.changes]
        changes += [(start, end, -1, "", True) for start, end in set(self.removed)]
        changes.sort(key=lambda change: (change[0], change[1] > change[0], change[2]))
        parts: list[str] = []
        at = removed_to = 0
        for start, end, _, new, is_removal in changes:
            if start < removed_to:
                continue
            if start < at:
                raise ValueError(f"two changes of the text overlap at {start}")
            parts += (text[at:start], new)
            at = end
            if is_removal:
                removed_to = end
        parts.append(text[at:])
        return "".join(parts)
