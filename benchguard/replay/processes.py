"""Processes take the samples of a replay in turn. Each has an engine and holds the input sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace as changed

from .contract import EngineError, Sampler
from .inputs import Inputs
from .protocol import CANNOT, NO_DRIVER, Request, Sample


@dataclass
class Process:
    """A process that takes samples: its engine, the input sets that it holds, and the timed samples that it took."""

    engine: Sampler
    inputs: Inputs
    samples: list[Sample] = field(default_factory=list)


class Processes:
    """The replay process, and its siblings after it. `lacking` says why there are fewer than wanted; empty if not."""

    def __init__(
        self,
        engines: Sequence[Sampler],
        request: Request,
        memory: memoryview,
        clock: Callable[[], float],
    ) -> None:
        """`memory` has the inputs' parts."""
        self.all = [Process(each, Inputs(each, request, memory, clock)) for each in engines]
        self.at = 0
        """The one that takes samples now."""
        self.lacking = ""
        self._request = request

    @property
    def current(self) -> Process:
        return self.all[self.at]

    @property
    def used(self) -> list[int]:
        """Those that took timed samples."""
        return [number for number, each in enumerate(self.all) if each.samples]

    def prepare_siblings(self) -> Callable[[], None]:
        """Begin to rebuild the state in all siblings at once; return what waits for the end of that."""
        numbers = range(1, len(self.all))
        if not numbers:
            return lambda: None
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - it takes a while to import

        begun = [ThreadPoolExecutor(1).submit(self._prepare, each) for each in numbers]

        def wait() -> None:
            ready = self.all[:1]
            for sibling, each in zip(self.all[1:], begun, strict=True):
                try:
                    each.result()
                    ready.append(sibling)
                except EngineError as error:
                    if error.status not in (NO_DRIVER, CANNOT):
                        raise
                    self.lacking = (
                        f"one process fewer takes samples, because it could not be prepared: {error}"
                    )
            self.all = ready

        return wait

    def _prepare(self, number: int) -> None:
        sibling, request = self.all[number], self._request
        seed, key = request.options.seed + number, request.options.key + number
        _, prepared = sibling.engine.prepare(request.driver, changed(request.options, seed=seed, key=key))
        sibling.inputs.give(one_set=bool(prepared.one_set))
        if request.warm:
            sibling.engine.warm(True)
        for part in request.slots.parts if request.slots else ():
            if part.written:
                sibling.engine.output(part.address, part.bytes)

    def keep_first(self) -> None:
        """Leave all samples to the first process."""
        del self.all[1:]

    def due(self, goal: int) -> int:
        """The one that takes the next sample: this one, until it has its share of `goal` timed samples."""
        if len(self.all) * len(self.current.samples) < goal:
            return self.at
        counts = [len(each.samples) for each in self.all]
        return counts.index(min(counts))

    def waited(self) -> float:
        return sum(each.engine.waited() for each in self.all)

    def write_seconds(self) -> float:
        return sum(each.inputs.write_seconds for each in self.all)
