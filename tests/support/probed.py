"""Launch rewritten kernels of the corpus on a driver, beside the originals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchguard.probe.engine import Probed, Request, Unit
from tests.corpus.case import Case
from tests.corpus.driver import Driver, Module
from tests.corpus.running import Launch

Build = Callable[[Request], Probed]


@dataclass
class ProbedModule:
    """Stands for the original module: its globals are the original's, its kernel is the rewritten one."""

    original: Module
    probed: Module
    maps: list[bytes]
    """The content of each map after a launch."""
    answer: Probed
    sizes: list[int] = field(default_factory=list)

    @property
    def driver(self) -> Driver:
        return self.original.driver

    def global_address(self, name: str) -> Any:
        return self.original.global_address(name)

    def launch(
        self, kernel: str, grid: Any, block: Any, parameters: list[bytes], shared: int, cooperative: bool
    ) -> None:
        blocks = grid[0] * (*grid, 1, 1)[1] * (*grid, 1, 1)[2]
        threads = block[0] * (*block, 1, 1)[1] * (*block, 1, 1)[2]
        units = {
            Unit.THREAD: blocks * threads,
            Unit.WARP: blocks * -(-threads // 32),
            Unit.BLOCK: blocks,
            Unit.LAUNCH: 1,
        }
        for symbol, variable in self.answer.addresses:
            value = self.original.global_address(variable).value
            self.driver.write(self.probed.global_address(symbol), value.to_bytes(8, "little"))
        sizes = [units[one.unit] * one.bytes for one in self.answer.maps]
        addresses = [self.driver.allocate(bytes(size)) for size in sizes]
        added = [address.value.to_bytes(8, "little") for address in addresses]
        self.probed.launch(kernel, grid, block, [*parameters, *added], shared, cooperative)
        self.driver.synchronize()
        for address, size in zip(addresses, sizes, strict=True):
            self.maps.append(self.driver.read(address, size))
            self.driver.free(address)


def run_probed(driver: Driver, text: str, case: Case, build: Build) -> tuple[list[bytes], str]:
    """Launch a case with the kernel that an engine rewrites.

    Returns:
        The maps, and the first difference from the reference: empty if they are equal.
    """
    answer = build(Request(case.kernel, text))
    original = driver.load(text.encode() + b"\0")
    probed = driver.load(answer.ptx.encode() + b"\0")
    module: Any = ProbedModule(original, probed, [], answer)
    launch = Launch(module, case)
    launch.run()
    problem = launch.judge()[1]
    probed.unload()
    original.unload()
    return module.maps, problem
