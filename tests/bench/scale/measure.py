"""Measure the stages of a grade, and the dispatcher's work for each: python tests/bench/scale/measure.py -o stages.json

The stages are those of `seconds` in the results of 12 grades of examples/problems/vector_add.py, on this machine's GPU
or on the CPU driver. The dispatcher's work is CPU time of one process: for each job of the dispatcher with 125 machines
that answer at once, and for each empty task of Ray. Where Ray is not installed, give the task's time and where it was
measured: --ray-task 0.00055 --ray-machine "another machine". Prints the medians.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from benchguard.fleet.dispatch import Dispatcher, Place
from benchguard.fleet.grading import grade_all
from benchguard.fleet.job import Job
from benchguard.fleet.order import Answer, order_bytes, parse_answer
from benchguard.grade.options import GradeOptions
from benchguard.grade.result import GradeResult
from benchguard.ipc.json_text import json_line

FOLDER = ROOT / "examples" / "problems"
SUBMISSIONS = [FOLDER / "submissions" / "vector_add" / name for name in ("kernel.ptx", "cuda.cu")]
GRADES = 12
DISPATCHED = 10_000
TASKS = 500


def stages_of(result: GradeResult, wall_s: float) -> dict[str, float]:
    """Seconds of the stages. `start` is the rest: processes, imports, reading the captures."""
    known = {name: result.seconds.get(name, 0.0) for name in ("quarantine", "references", "replay")}
    compiling = result.seconds.get("submission: compile", 0.0)
    known["quarantine"] -= compiling
    return {"start": wall_s - sum(known.values()) - compiling, "compile": compiling, **known}


def measure_grades(driver: str) -> tuple[list[dict[str, float]], GradeResult]:
    """Stages of each grade. The first one, which may build a shim, does not count."""
    rows: list[dict[str, float]] = []
    paths = [SUBMISSIONS[number % 2] for number in range(GRADES + 1)]
    began = time.monotonic()
    for graded in grade_all(FOLDER / "vector_add.py", paths, GradeOptions(driver=driver)):
        assert graded.result is not None and graded.result.verdict == "pass", graded
        now = time.monotonic()
        rows.append(stages_of(graded.result, now - began))
        began, result = now, graded.result
    return rows[1:], result


@dataclass(frozen=True)
class _Ready:
    """A place that answers at once."""

    name: str
    data: bytes
    slots: int = 8

    async def grade(self, job: Job) -> Answer:
        order_bytes(job, GradeOptions())
        return parse_answer(self.data)


@dataclass(frozen=True)
class _Ready125:
    places: list[Place]

    async def update(self) -> list[Place]:
        return self.places

    async def changed(self) -> None:
        await asyncio.sleep(1)

    @property
    def is_joining(self) -> bool:
        return False


def measure_dispatch(result: GradeResult) -> float:
    """CPU seconds of the driver for each job, with 125 machines of 8 GPUs."""
    data = json_line(Answer(result))
    source = SUBMISSIONS[1].read_bytes()
    places: list[Place] = [_Ready(str(number), data) for number in range(125)]

    def jobs() -> Iterator[Job]:
        for number in range(DISPATCHED):
            yield Job(str(number), "p.py", "cuda.cu", False, {"cuda.cu": source})

    async def run() -> int:
        return len([each async for each in Dispatcher(_Ready125(places)).run(jobs())])

    began = time.process_time()
    assert asyncio.run(run()) == DISPATCHED
    return (time.process_time() - began) / DISPATCHED


def measure_ray(result: GradeResult) -> float:
    """CPU seconds of the driver for each task of Ray with an order and an answer of the usual size."""
    import ray

    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    answer = json_line(Answer(result))
    ray.init(
        num_cpus=1,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
        object_store_memory=80 << 20,
    )

    def echo(order: bytes) -> bytes:
        assert order
        return answer

    order = order_bytes(
        Job("0", "p.py", "cuda.cu", False, {"cuda.cu": SUBMISSIONS[1].read_bytes()}), GradeOptions()
    )
    task: Any = ray.remote(echo)

    async def run(count: int) -> None:
        for _ in range(count // 50):
            await asyncio.gather(*(task.remote(order) for _ in range(50)))

    asyncio.run(run(100))
    began = time.process_time()
    asyncio.run(run(TASKS))
    took = (time.process_time() - began) / TASKS
    ray.shutdown()
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--driver", default="auto")
    parser.add_argument("--ray-task", type=float, metavar="SECONDS")
    parser.add_argument("--ray-machine", default="")
    arguments = parser.parse_args()
    rows, result = measure_grades(arguments.driver)
    document = {
        "schema": "neutrino-bench/stages/1",
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "device": result.device.name if result.device is not None else "",
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[1], 1),
        "answer_bytes": len(json_line(Answer(result))),
        "dispatch_s": round(measure_dispatch(result), 6),
        "ray_task_s": arguments.ray_task or round(measure_ray(result), 6),
        "ray_machine": arguments.ray_machine,
        "grades": [{name: round(value, 4) for name, value in row.items()} for row in rows],
    }
    arguments.output.write_text(json.dumps(document, indent=1) + "\n")
    for name in rows[0]:
        print(f"{name:12} {statistics.median(row[name] for row in rows):8.3f} s")
    print({name: value for name, value in document.items() if name != "grades"})


if __name__ == "__main__":
    main()
