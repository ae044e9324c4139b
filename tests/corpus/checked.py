"""A driver on which each access of a kernel is checked, as in the device cordon: python -m tests.corpus.checked

Prints each violation. Exits with 1 if a kernel that is checked completely has one, or if its outputs change.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from pathlib import Path
from typing import Any

from benchguard.probe.bounds.check import SITE_BYTES, Place, map_bytes
from benchguard.probe.bounds.report import violations
from benchguard.probe.bounds.rewrite import Site, rewrite
from benchguard.probe.source import SourceError, read_source
from tests.corpus.driver import Driver, Module
from tests.corpus.families import FAMILIES
from tests.corpus.running import Session

SITES, TABLE_BYTES = 1 << 13, 1 << 16


class CheckedDriver(Driver):
    """Loads PTX with checks. `found` has the sites of violations, `doubts` kernels that are not checked completely."""

    def __init__(self, path: Path | str | None = None) -> None:
        super().__init__(path)
        self.found: list[tuple[Site, int]] = []
        self.doubts: set[str] = set()
        self._sites: tuple[Site, ...] = ()
        self._sizes: dict[int, int] = {}
        self._map = super().allocate(bytes(map_bytes(SITES)))
        self._table = super().allocate(bytes(TABLE_BYTES))

    def load(self, image: bytes) -> Module:
        kernels = [each.name for each in read_source(image).functions if each.is_entry]
        code = rewrite(image, kernels, Place(self._map.value, self._table.value))
        assert len(code.sites) <= SITES
        self._sites = code.sites
        self.doubts |= {name for name, doubts in code.doubts.items() if doubts}
        return super().load(code.text.encode("latin-1") + b"\0")

    def allocate(self, data: bytes) -> ctypes.c_uint64:
        address = super().allocate(data)
        self._sizes[address.value] = len(data)
        self._write_table()
        return address

    def free(self, address: ctypes.c_uint64) -> None:
        del self._sizes[address.value]
        self._write_table()
        super().free(address)

    def synchronize(self) -> None:
        super().synchronize()
        raw = self.read(self._map, map_bytes(len(self._sites)))
        self.found += [(self._sites[each.site], each.address) for each in violations(raw)]
        self.write(self._map, bytes(len(raw)))

    def _write_table(self) -> None:
        rows = b"".join(struct.pack("<QQQQ", *each, 0, 0) for each in sorted(self._sizes.items()))
        self.write(self._table, struct.pack("<QQ", len(self._sizes), 0) + rows)


class CheckedSession(Session):
    """Cases on a CheckedDriver."""

    def __init__(self, path: Path | None = None) -> None:
        super().__init__(path)
        self.driver: Any = CheckedDriver(path)


def main(families: list[str]) -> int:
    session = CheckedSession()
    driver = session.driver
    bad = runs = 0
    for family in families or FAMILIES:
        before = len(driver.found)
        try:
            results = session.family(family)
        except SourceError as error:
            print(f"{family}: not checked: {error}")
            continue
        runs += len(results)
        doubtful = {each.case for each in results} & driver.doubts
        for result in results:
            if result.problem and result.case not in doubtful:
                bad += 1
                print(f"{family} {result.image} {result.case}: {result.problem[:200]}")
        for site, address in dict.fromkeys(driver.found[before:]):
            known = site.function in driver.doubts
            bad += not known
            print(
                f"{family} {site.function}: {site.opcode} at {address:#x}, line {site.line}{' (doubtful)' * known}"
            )
    print(f"{runs} runs, {bad} failed, {len(driver.doubts)} kernels with doubts, sites of {SITE_BYTES} bytes")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
