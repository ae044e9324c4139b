"""The Ray engine: the machines of a Ray cluster as places.

Every machine is checked before it gets work, and again when it comes back. A machine has a slot for each GPU, with the
CPU driver for each CPU. Ray's own retries are off: the dispatcher decides where a job goes next.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from ..errors import BenchguardError, UsageError
from ..grade.beside import GRACE_SECONDS
from ..grade.options import GradeOptions
from ..ipc.text import one_line
from .cascade import CascadePlace
from .dispatch import Place
from .job import Job
from .node import REPORT_MAX, Needs, Refused, needs_of, parse_report, refusal_of
from .order import ANSWER_MAX, Answer, order_bytes, parse_answer
from .ray_task import check_node, grade_on_node

CHECK_SECONDS = 300.0
"""Time of a machine's check. It may build a shim."""

PENDING_SECONDS = 600.0
"""Time in which a task may wait for its GPU, which other programs of the cluster may use."""

POLL_SECONDS = 1.0

Say = Callable[[str], None]


def import_ray() -> Any:
    """The package ray. Raises UsageError if it is not installed."""
    try:
        import ray  # noqa: PLC0415
    except ImportError as error:
        raise UsageError("the engine ray needs the package ray: pip install 'neutrino-bench[ray]'") from error
    return ray


@contextlib.contextmanager
def connected(ray: Any, address: str | None) -> Iterator[None]:
    """A connection to the cluster at `address`, or to a new local one, which ends with this.

    A connection that exists already is used. A local cluster listens at all addresses of the machine; since Ray 2.60 it
    needs a token, unless RAY_AUTH_MODE says otherwise. Raises BenchguardError if the cluster does not answer.
    """
    if ray.is_initialized():
        yield
        return
    settings: dict[str, Any] = {"address": address} if address is not None else {"include_dashboard": False}
    try:
        ray.init(log_to_driver=False, logging_level="ERROR", **settings)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise BenchguardError(f"cannot connect to the Ray cluster: {one_line(str(error))}") from error
    try:
        yield
    finally:
        ray.shutdown()


@dataclass(frozen=True)
class RayPlace:
    """A machine of the cluster. A grade takes a GPU, or with the CPU driver a CPU."""

    ray: Any
    node: str
    name: str
    slots: int
    options: GradeOptions

    async def grade(self, job: Job) -> Answer:
        gpus = 0 if self.options.driver == "sim" else 1
        task = self.ray.remote(grade_on_node).options(
            num_cpus=1, num_gpus=gpus, max_retries=0, scheduling_strategy=_only_on(self.ray, self.node)
        )
        options = self.options.limited(job.problem)
        limit = options.seconds + options.wait_for_gpu + GRACE_SECONDS + PENDING_SECONDS
        reference = task.remote(order_bytes(job, self.options))
        return parse_answer(await _result(self.ray, reference, limit, ANSWER_MAX))


@dataclass
class RayPlaces:
    """The machines of a cluster that passed their check."""

    ray: Any
    problems: Sequence[str]
    options: GradeOptions
    say: Say = lambda _: None
    first: GradeOptions | None = None
    """Options of the first stage of a cascade."""
    refused: list[Refused] = field(default_factory=list)
    _needs: Needs | None = None
    _places: dict[str, Place] = field(default_factory=dict)
    _checks: dict[str, asyncio.Task[None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._needs = needs_of(self.problems, self.options)
        self._fresh_until = 0.0

    async def update(self) -> list[Place]:
        """The machines that work now. Raises BenchguardError if every machine was refused."""
        if time.monotonic() < self._fresh_until:
            return list(self._places.values())
        self._fresh_until = time.monotonic() + POLL_SECONDS / 2
        alive = {node["NodeID"]: node for node in self.ray.nodes() if node["Alive"]}
        for name in [each for each in self._places if each not in alive]:
            self.say(f"{self._places[name].name} is gone")
            del self._places[name]
        for name in [each for each in self._checks if each not in alive]:
            self._checks.pop(name).cancel()  # a machine that comes back has another number
        for name, node in alive.items():
            if name not in self._checks and self._slots(node):
                self._checks[name] = asyncio.ensure_future(self._check(name, node))
        if not self._places and all(task.done() for task in self._checks.values()):
            self._refuse_all(bool(self._checks))
        return list(self._places.values())

    async def changed(self) -> None:
        """Return after a second: Ray tells of machines only when it is asked."""
        await asyncio.sleep(POLL_SECONDS)

    @property
    def is_joining(self) -> bool:
        """Whether a check still runs. It has a limit of its own."""
        return not all(task.done() for task in self._checks.values())

    async def close(self) -> None:
        """End the checks that still run."""
        for task in self._checks.values():
            task.cancel()
        await asyncio.gather(*self._checks.values(), return_exceptions=True)

    def _refuse_all(self, has_slots: bool) -> None:
        if self.refused:
            reasons = "; ".join(dict.fromkeys(f"{each.node}: {each.reason}" for each in self.refused))
            raise BenchguardError(f"no machine of the Ray cluster can grade: {reasons}")
        if not has_slots and self.options.driver != "sim":
            raise BenchguardError(
                "no machine of the Ray cluster has a GPU; add one, or give --driver sim for the CPU driver"
            )

    def _slots(self, node: dict[str, Any]) -> int:
        kind = "CPU" if self.options.driver == "sim" else "GPU"
        return int(node["Resources"].get(kind, 0))

    async def _check(self, node: str, entry: dict[str, Any]) -> None:
        """Check a machine, and add it to the places or to the refused ones."""
        assert self._needs is not None
        name = f"{entry['NodeManagerAddress']} ({node[:8]})"
        task = self.ray.remote(check_node).options(
            num_cpus=0, max_retries=0, scheduling_strategy=_only_on(self.ray, node)
        )
        try:
            data = await _result(
                self.ray, task.remote(msgspec.msgpack.encode(self._needs)), CHECK_SECONDS, REPORT_MAX
            )
            reason = refusal_of(parse_report(data), self._needs, gpu=self.options.driver != "sim")
        except Exception as error:
            reason = one_line(f"the check failed: {error}")
        if reason:
            self.refused.append(Refused(name, reason))
            self.say(f"{name} gets no work: {reason}")
            return
        place = RayPlace(self.ray, node, name, self._slots(entry), self.options)
        if self.first is None:
            self._places[node] = place
            return
        # A CPU for each GPU's own grade, the others for first stages.
        others = max(1, int(entry["Resources"].get("CPU", 0)) - place.slots)
        first = RayPlace(self.ray, node, name, others, self.first)
        self._places[node] = CascadePlace(first, place)


@contextlib.asynccontextmanager
async def ray_places(
    problems: Sequence[str], options: GradeOptions, first: GradeOptions | None, address: str | None, say: Say
) -> AsyncIterator[RayPlaces]:
    """The places of a cluster. `first`: options of the first stage of a cascade.

    Raises UsageError for options that a cluster cannot honour, and BenchguardError if it does not answer.
    """
    if options.network:
        raise UsageError(
            "--network is not possible with the engine ray: a submission could send work to the cluster itself"
        )
    if options.keep is not None:
        raise UsageError("--keep is not possible with the engine ray: the folder would be on another machine")
    if options.device:
        raise UsageError(
            "--device is not possible with the engine ray, which chooses the GPU of each submission"
        )
    ray = import_ray()
    with connected(ray, address):
        places = RayPlaces(ray, problems, options, say, first)
        try:
            yield places
        finally:
            await places.close()


async def _result(ray: Any, reference: Any, seconds: float, limit: int) -> bytes:
    """The bytes of a task. The task is cancelled if this is, or after some seconds. Raises BenchguardError."""
    try:
        data = await asyncio.wait_for(reference, seconds)
    except asyncio.TimeoutError as error:
        raise BenchguardError(f"no answer after {seconds:g} s") from error
    except ray.exceptions.RayError as error:
        raise BenchguardError(f"{type(error).__name__}: {one_line(str(error), 300)}") from error
    finally:
        with contextlib.suppress(Exception):
            ray.cancel(reference, force=True)
    if not isinstance(data, bytes) or len(data) > limit:
        raise BenchguardError("the answer is not as long as it may be, or no bytes")
    return data


def _only_on(ray: Any, node: str) -> Any:
    return ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node_id=node, soft=False)
