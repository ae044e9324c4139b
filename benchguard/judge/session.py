"""Open a problem and answer the supervisor's questions about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import msgspec

from ..errors import UsageError
from ..ipc.shared_memory import READ_ONLY, SharedMemory
from ..problem.ranking import UNTIMED_SETS, timed_cases
from ..problem.spec import Buffer, CaseSpec, overlaps_itself
from ..problem.suite import Suite, TestCase
from ..problem.threads import as_in_this_thread, threads
from ..problem.turns import Turns
from ..problem.withheld import leave_submissions, withhold
from .case import THROWAWAY_SETS, CaseJudge, Tools
from .compare import check_tolerance
from .contract import (
    Answer,
    Ask,
    AskChecked,
    AskExpected,
    AskSecrets,
    AskSlots,
    AskThrowaway,
    Opened,
    Question,
    Throwaway,
)
from .making import Here, Maker
from .room import ROOM, available_bytes
from .troubles import FaultError, trouble_of
from .workers import Workers, can_fork

Load = Callable[[str, str, Mapping[str, str]], Suite]
"""Opens a suite from PATH[:NAME], adapter and options."""

SHARE_OF_MEMORY = 6
"""Input sets, references and output slots of all cases together use at most half of the available memory."""

OWN_CHECKS = 4
"""Sets at once that the problem's own check is asked about: it runs for one, and arrays of the others go to a GPU."""

BATCH_BYTES = 1 << 30
"""Throw-away sets that are made at once, if they are those of several cases. There are two such batches at most: one
that the submission is called on, and the next one."""

CASES_SHOWN = 20
PAGE = 4096


class Session:
    """Answers questions in order, in one thread. Failures are answered with Trouble."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._cases: list[CaseJudge] = []
        self._maker: Maker | None = None
        self._names: list[str] = []
        self._suite: Suite | None = None

    def answer(self, question: Question) -> tuple[Answer, list[int]]:
        """The answer and its descriptors, which the caller closes."""
        doing = "opening the problem" if isinstance(question, Ask) else ""
        try:
            if isinstance(question, Ask):
                return self._open(question), []
            if self._suite is None:
                raise UsageError("no problem is open; ask for one first")
            if isinstance(question, AskThrowaway):
                return self._throwaway(question.first)
            if not 0 <= question.case < len(self._cases):
                raise UsageError(f"no case {question.case}; the problem has {len(self._cases)} cases")
            what = {AskSecrets: "its secret inputs and references", AskExpected: "its expected outputs"}
            doing = f"case {self._names[question.case]}: {what.get(type(question), 'its samples')}"
            answer = _of_case(self._cases[question.case], question)
            if isinstance(question, AskSecrets):
                ROOM.reserve(self._least_bytes())
            return answer
        except (Exception, SystemExit) as error:
            return trouble_of(error, doing), []

    def free(self) -> None:
        """Free memory that is no longer needed. Call it after an answer is sent."""
        for each in self._cases:
            each.free()

    def _open(self, ask: Ask) -> Opened:
        if self._suite is not None:
            raise UsageError("a problem is open; this process judges one")
        ROOM.join(ask.locks)
        wish = {} if ask.device == "auto" else {"device": ask.device}
        problem = ask.problem
        if ask.submissions:
            withhold(ask.submissions, problem)
            problem = leave_submissions(problem)
        suite = self._load(problem, ask.adapter, {**ask.adapter_options, **wish})
        cases = _chosen(suite, ask)
        for case in cases:
            _check_case(case)
        pool_bytes = min(ask.pool_bytes, available_bytes() // SHARE_OF_MEMORY // len(cases))
        tools = _tools(cases)
        self._maker = tools.maker
        self._names = [case.spec.name for case in cases]
        timed = timed_cases(self._names, suite.ranking)
        self._cases = [
            CaseJudge(i, case, _ask_of(ask, case.spec.name in timed), pool_bytes, tools)
            for i, case in enumerate(cases)
        ]
        self._suite = suite
        return Opened(
            suite.name,
            suite.convention,
            suite.entry,
            tuple(case.spec for case in cases),
            tuple(dict(case.tolerances) for case in cases),
            suite.init,
            suite.tensors,
            {name: str(path) for name, path in suite.files.items()},
            suite.ranking,
            tuple(case.name for case in suite.cases if case not in cases) if ask.smallest else (),
            any(case.own_verdict or case.has_own_check for case in cases),
        )

    def _least_bytes(self) -> int:
        """Memory for the secret sets of any case that are not made yet."""
        return max((each.least_bytes for each in self._cases), default=0)

    def _throwaway(self, first: int) -> tuple[Answer, list[int]]:
        offsets, cases = [0], self._cases[first:]
        for case in cases:
            end = offsets[-1] + -(-case.throwaway_bytes // PAGE) * PAGE
            if len(offsets) > 1 and end > BATCH_BYTES:
                break
            offsets.append(end)
        *begins, size = offsets
        cases, names = cases[: len(begins)], self._names[first : first + len(begins)]
        with ROOM.planning(size + self._least_bytes()):
            ROOM.reserve(self._least_bytes())
            ROOM.claim(size + self._least_bytes(), THROWAWAY_SETS * max(1, len(cases)))
        shared = SharedMemory("neutrino-throwaway", size)
        try:
            sets = [case.throwaway(shared, start) for case, start in zip(cases, begins, strict=True)]
            assert self._maker is not None
            orders = [order for _, orders in sets for order in orders]
            results = iter(self._maker.make(orders, shared))
            for name, (source, orders) in zip(names, sets, strict=True):
                try:
                    source.all_settled(orders, results)
                except (Exception, SystemExit) as error:
                    shared.close()
                    return trouble_of(error, f"case {name}: its throw-away inputs"), []
            shared.seal(READ_ONLY)
            ROOM.reserve(self._least_bytes())
        except BaseException:
            shared.close()
            raise
        return Throwaway(tuple(case.read for case in cases), tuple(begins)), [shared.descriptor]


def _of_case(
    judged: CaseJudge, question: AskSecrets | AskSlots | AskExpected | AskChecked
) -> tuple[Answer, list[int]]:
    if isinstance(question, AskSecrets):
        return judged.secrets()
    if isinstance(question, AskSlots):
        return judged.slots(question.returned)
    if isinstance(question, AskExpected):
        return judged.expected()
    return judged.checked(in_a_row=question.in_a_row), []


def _ask_of(ask: Ask, is_timed: bool) -> Ask:
    """The question as it is meant for a case."""
    if is_timed or not ask.few_untimed:
        return ask
    return msgspec.structs.replace(ask, sets_max=UNTIMED_SETS, one_use=UNTIMED_SETS, patience=None)


def _tools(cases: Sequence[TestCase]) -> Tools:
    """Fork the workers, before this process starts other threads."""
    count, enter = threads(), as_in_this_thread()
    problem = Turns()
    samples = ThreadPoolExecutor(count, "samples", enter)
    sets = ThreadPoolExecutor(min(count, OWN_CHECKS), "own checks", enter)
    maker: Maker = Here(cases, problem)
    if count > 1 and can_fork():
        maker = Workers(cases, count, maker)
    return Tools(problem, maker, samples, ThreadPoolExecutor(count, "parts"), sets, count)


def _chosen(suite: Suite, ask: Ask) -> list[TestCase]:
    there = {case.name: case for case in suite.cases}  # a specification may need the reference to run
    if len(there) < len(suite.cases):
        raise FaultError("two cases of the problem have the same name; rename one")
    if not there:
        raise FaultError("the problem has no cases; add one")
    names = ask.cases
    unknown = [name for name in names if name not in there]
    if unknown:
        known = "; ".join(list(there)[:CASES_SHOWN])
        more = f"; and {len(there) - CASES_SHOWN} more" if len(there) > CASES_SHOWN else ""
        others = f"; {suite.left_out}" if suite.left_out else ""
        raise UsageError(f"{suite.name} has no case {unknown[0]!r}; its cases are {known}{more}{others}")
    if names:
        return [there[name] for name in dict.fromkeys(names)]
    if ask.smallest and len(there) > 1:
        return [suite.smallest]
    return list(suite.cases)


def _check_case(case: TestCase) -> None:
    """Validate a case's specification. Raises FaultError."""
    spec: CaseSpec = case.spec
    names = [argument.name for argument in spec.arguments]
    fault = ""
    if len(set(names)) < len(names):
        fault = "two of its arguments have the same name"
    elif not any(buffer.bytes for buffer in spec.checked):
        fault = "it has no output with an element"
    elif not case.distributions or len(set(case.distributions)) < len(case.distributions):
        fault = "its distributions are missing or not all different"
    for buffer in spec.buffers:
        fault = fault or _buffer_fault(buffer)
    for buffer in spec.checked:
        tolerance = case.tolerances.get(buffer.name)
        if tolerance is None:
            fault = fault or f"its output {buffer.name} has no tolerance"
        else:
            text = check_tolerance(tolerance)
            fault = fault or (f"of its output {buffer.name}, {text}" if text else "")
    if fault:
        raise FaultError(f"case {spec.name}: {fault}; fix the problem")


def _buffer_fault(buffer: Buffer) -> str:
    """Why strides are invalid: their number differs from the shape's, or two elements of an output share memory."""
    if buffer.strides is None:
        return ""
    if len(buffer.strides) != len(buffer.shape):
        return f"{buffer.name} has {len(buffer.strides)} strides for {len(buffer.shape)} extents"
    if not buffer.is_checked or 0 in buffer.shape:
        return ""
    if overlaps_itself(buffer.shape, buffer.strides):
        return f"two elements of its output {buffer.name} may share memory"
    return ""
