"""The quarantined process of these tests: prepares, then runs a submission that may do what it likes.

    child.py DRIVER SUBMISSION < {"order": InlineOrder, "cases": [CaseSpec, ...]}

A submission defines `bind(cuda, number, case, places)`, which returns a call, or a call and its outputs.
"""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from benchguard.inline.contract import InlineOrder
from benchguard.inline.run import prepare
from benchguard.problem.spec import CaseSpec
from tests.unit.inline.cuda import Cuda


class Plan(msgspec.Struct):
    order: InlineOrder
    cases: tuple[CaseSpec, ...]


def main() -> None:
    driver, path = sys.argv[1:3]
    plan = msgspec.json.decode(sys.stdin.buffer.read(), type=Plan)
    session = prepare(plan.order, plan.cases, driver)
    names: dict[str, object] = {"session": session, "order": plan.order}
    exec(compile(Path(path).read_text(), path, "exec"), names)
    cuda = Cuda(driver)
    for number, case in enumerate(plan.cases):
        places = {buffer.name: cuda.allocate(buffer.bytes) for buffer in case.buffers}
        bound = names["bind"](cuda, number, case, places)  # type: ignore[operator]
        call, outputs = bound if isinstance(bound, tuple) else (bound, None)
        session.run(number, call, places, outputs)


if __name__ == "__main__":
    main()
