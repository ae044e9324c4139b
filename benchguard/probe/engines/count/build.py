"""Count the instructions that threads execute, by class.

Each function keeps counters in registers, one for each class that it has. A run of instructions without a guard and
without a way in or out between them adds its number in one step. An instruction with a guard is counted only for the
threads that execute it; the others are counted as "guarded off". The counters of a thread are added to the map when the
thread or the function ends, and before a call, since the called function may end the thread.
"""

from __future__ import annotations

from benchguard.probe.engine import Map, Probed, Request, Unit, finish
from benchguard.probe.engines.count.classes import CLASSES, class_of
from benchguard.probe.ptx import Function, Instruction, Rewrite

GUARDED_OFF = len(CLASSES)
"""The place of the counter of threads whose guard was false."""
COUNTERS = len(CLASSES) + 1
_LEAVES = frozenset({"bra", "brx", "ret", "exit", "trap", "call"})


def build(request: Request) -> Probed:
    """Instrument a kernel.

    Args:
        request: The kernel. The engine has no options.

    Raises:
        PtxError: The PTX cannot be rewritten.
        UsageError: An option was given.
    """
    request.allow_options()
    rewrite = request.rewrite()
    pointer = rewrite.add_pointer()
    for function in rewrite.functions:
        _Counting(rewrite, function, pointer.register(function)).instrument()
    return finish(rewrite, [Map(Unit.LAUNCH, 8 * COUNTERS)])


class _Counting:
    def __init__(self, rewrite: Rewrite, function: Function, pointer: str) -> None:
        self.rewrite, self.function, self.pointer = rewrite, function, pointer
        self.counters: dict[int, str] = {}

    def instrument(self) -> None:
        """Add the counters of one function."""
        function, rewrite = self.function, self.rewrite
        run: list[Instruction] = []
        labels = sorted(function.labels)
        passed = 0
        for instruction in function.instructions:
            behind_label = False
            while passed < len(labels) and labels[passed] < instruction.start:
                behind_label, passed = True, passed + 1
            if behind_label:
                self._count_run(run)
                run = []
            if instruction.guard:
                self._count_guarded(instruction)
            else:
                run.append(instruction)
            if instruction.opcode in _LEAVES:
                self._count_run(run)
                run = []
        self._count_run(run)
        begin = [f"mov.u64 {register}, 0;" for register in self.counters.values()]
        rewrite.at_entry(function, "\n".join(begin))
        flush = "\n".join(
            f"red.global.add.u64 [{self.pointer}+{8 * place}], {register};"
            for place, register in sorted(self.counters.items())
        )
        if not flush:
            return
        rewrite.at_function_end(function, flush)
        for instruction in function.instructions:
            if instruction.opcode == "call":  # without a branch: none may come between st.param and the call
                rewrite.edits.insert(instruction.start, "\n".join([flush, *begin, ""]))

    def _counter(self, place: int) -> str:
        if place not in self.counters:
            self.counters[place] = self.rewrite.new_register(self.function, ".u64")
        return self.counters[place]

    def _count_run(self, run: list[Instruction]) -> None:
        """Add a run's numbers before its first instruction."""
        numbers: dict[int, int] = {}
        for instruction in run:
            place = CLASSES.index(class_of(instruction))
            numbers[place] = numbers.get(place, 0) + 1
        lines = []
        for place, number in sorted(numbers.items()):
            register = self._counter(place)
            lines.append(f"add.u64 {register}, {register}, {number};")
        if lines:
            self.rewrite.before(self.function, run[0], "\n".join(lines))

    def _count_guarded(self, instruction: Instruction) -> None:
        """Add 1 to the counter of the class, or of the threads whose guard is false."""
        executed = self._counter(CLASSES.index(class_of(instruction)))
        skipped = self._counter(GUARDED_OFF)
        sign, other = ("!", "") if instruction.negated else ("", "!")
        self.rewrite.edits.insert(
            instruction.start,
            f"@{sign}{instruction.guard} add.u64 {executed}, {executed}, 1;\n"
            f"@{other}{instruction.guard} add.u64 {skipped}, {skipped}, 1;\n",
        )
