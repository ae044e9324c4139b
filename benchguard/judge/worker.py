"""The main program of the judge's process, which runs the problem's code and holds the secret inputs."""

from __future__ import annotations

import faulthandler
import os
import queue
import socket
import sys
import threading
from collections.abc import Mapping

import msgspec

from ..ipc.messages import ClosedError, MessageError, receive, send
from ..ipc.processes import lower_priority, protect
from ..problem.suite import Suite
from .contract import Question, decode_question, encode
from .session import Load, Session


def main(descriptor: int, parent: int, load: Load | None = None) -> None:
    """Answer questions from `descriptor` until the supervisor closes its end, and end the process."""
    protect(parent)
    lower_priority()
    os.dup2(2, 1)  # the problem's output is shown if the judge fails
    faulthandler.enable()  # prints a traceback on a crash, and on SIGABRT when the supervisor's time-out strikes
    end = socket.socket(fileno=descriptor)
    os.register_at_fork(
        after_in_child=end.close
    )  # or a child would keep the socket open after this process ends
    questions: queue.SimpleQueue[Question] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(end, questions), name="questions", daemon=True).start()
    session = Session(load or open_suite)
    while True:
        answer, descriptors = session.answer(questions.get())
        try:
            send(end, encode(answer), descriptors)
        except ClosedError:
            os._exit(0)
        finally:
            for each in descriptors:
                os.close(each)
        session.free()


def open_suite(problem: str, adapter: str, options: Mapping[str, str]) -> Suite:
    """Open a suite. Adapters are imported here because some import large packages."""
    from ..adapters import load_suite  # noqa: PLC0415

    return load_suite(problem, adapter, options)


def _listen(end: socket.socket, questions: queue.SimpleQueue[Question]) -> None:
    """Read questions in a thread, so that the process ends with its supervisor even while the problem's code runs."""
    try:
        while True:
            data, descriptors = receive(end)
            for each in descriptors:
                os.close(each)
            questions.put(decode_question(data))
    except ClosedError:
        os._exit(0)
    except (MessageError, OSError, msgspec.MsgspecError) as error:
        print(f"malformed question: {error}", file=sys.stderr, flush=True)
        os._exit(1)
