"""Grade many pairs at once, on several GPUs, until a deadline."""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchguard.gpu.turns import WAIT_SECONDS

from .grading import GRACE_SECONDS, Outcome, grade_pair, not_run
from .pairs import Pair

DEADLINE = "the deadline of the whole run had passed"
CUT = "it ran when the deadline of the whole run passed"


@dataclass(frozen=True)
class Batch:
    """How pairs are graded: `jobs` at once on each of `gpus`, each at most `timeout` seconds.

    `deadline` is in seconds from the start. A grade that runs at the deadline ends then, and counts as not run.
    """

    folder: Path
    scratch: Path
    gpus: tuple[str, ...] = ("",)
    jobs: int = 1
    timeout: float = 120.0
    deadline: float | None = None
    driver: str = "auto"

    def run(self, pairs: Sequence[Pair], report: Callable[[Outcome], None]) -> list[Outcome]:
        """The outcomes in the order of `pairs`. `report` is called as each ends, one call at a time."""
        end = None if self.deadline is None else time.monotonic() + self.deadline
        waiting: queue.SimpleQueue[Pair] = queue.SimpleQueue()
        for each in pairs:
            waiting.put(each)
        outcomes: dict[str, Outcome] = {}
        lock = threading.Lock()

        def work(gpu: str) -> None:
            while True:
                try:
                    pair = waiting.get_nowait()
                except queue.Empty:
                    return
                outcome = self._one(pair, gpu, end)
                with lock:
                    outcomes[pair.id] = outcome
                    report(outcome)

        threads = [
            threading.Thread(target=work, args=(gpu,), daemon=True)
            for _ in range(self.jobs)
            for gpu in self.gpus
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return [outcomes[each.id] for each in pairs]

    def _one(self, pair: Pair, gpu: str, end: float | None) -> Outcome:
        timeout, wait = self.timeout, WAIT_SECONDS
        if end is not None:
            left = end - time.monotonic() - GRACE_SECONDS / 4
            if left < 1:
                return not_run(pair, DEADLINE)
            timeout, wait = min(timeout, left), min(wait, left)
        outcome = grade_pair(
            pair, self.folder, self.scratch, end, gpu=gpu, timeout=timeout, wait=wait, driver=self.driver
        )
        is_cut = timeout < self.timeout and outcome.verdict in ("timeout", "error")
        return not_run(pair, CUT) if is_cut else outcome


class Journal:
    """Prints a line for each outcome, and appends it to a file of JSON lines if there is one."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("", encoding="utf-8")

    def __call__(self, outcome: Outcome) -> None:
        mark = "ok " if outcome.good else "NOT"
        said = "" if outcome.verdict == "pass" else f": {outcome.reason[:160]}"
        print(f"{mark} {outcome.id}: {outcome.verdict} in {outcome.wall_s:.1f} s{said}", flush=True)
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(outcome.row()) + "\n")
