"""The reward server against clients that are slow, large, foreign or malformed, each beside an honest client."""

from __future__ import annotations

import http.client
import json
import random
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from benchguard.errors import BenchguardError, UsageError
from benchguard.grade.result import GradeResult
from benchguard.rewards import server as module
from benchguard.rewards.request import BODY_MAX, parse_request
from benchguard.rewards.response import Code
from benchguard.rewards.rewarder import Rewarder, RewardTask
from benchguard.rewards.server import UNREAD_MAX, RewardServer, ServerOptions
from tests.support.results import graded_result

REQUEST = {"problem": "add", "source": "x", "language": "cuda"}
JSON = {"Content-Type": "application/json"}


def grade(problem: str, code: Code) -> GradeResult:
    """A submission's source is the verdict."""
    assert problem == "/problems/add.py"
    if code.source == "node lost":
        raise BenchguardError("the node is lost")
    if code.source == "bug":
        raise RuntimeError("/secret/path")
    return graded_result("pass" if code.source == "x" else "wrong")


@contextmanager
def serving(grade: Callable[[str, Code], GradeResult] = grade, **options: Any) -> Iterator[RewardServer]:
    rewarder = Rewarder({"add": RewardTask("/problems/add.py")}, grade)
    with RewardServer(rewarder, ServerOptions(**options), [].append) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def ask(
    server: RewardServer,
    body: Any,
    headers: dict[str, str] = JSON,
    method: str = "POST",
    path: str = "/reward",
) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    try:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(method, path, data, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def test_submission_gets_its_reward() -> None:
    with serving() as server:
        assert ask(server, REQUEST)[1]["score"] == 1.0
        status, reward = ask(server, {"problem": "add", "response": "so:\n```cuda\nx = 1\n```"})
        assert (status, reward["verdict"], reward["score"]) == (200, "wrong", 0.0)
        status, reward = ask(server, {"problem": "add", "response": "I cannot."})
        assert (status, reward["verdict"], reward["score"]) == (200, "failed", 0.0)
        assert ask(server, b"", method="GET", path="/health") == (200, {"problems": ["add"]})


def test_failure_of_the_machine_is_no_reward() -> None:
    with serving() as server:
        status, answer = ask(server, REQUEST | {"source": "node lost"})
    assert (status, answer) == (503, {"error": "no reward: the node is lost"})


def test_bug_of_the_server_shows_clients_no_detail() -> None:
    with serving() as server:
        status, answer = ask(server, REQUEST | {"source": "bug"})
    assert (status, answer) == (500, {"error": "internal error; see the server's messages"})


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"[1", 400),
        (b"\xff\xfe", 400),
        (b"[" * 100_000, 400),
        ({"problem": "add"}, 400),
        (b'{"problem": "add", "response": "x", "response": "y"}', 400),
        (REQUEST | {"response": "x"}, 400),
        (REQUEST | {"extra": 1}, 400),
        (REQUEST | {"language": "rust"}, 400),
        (REQUEST | {"language": "hip"}, 400),
        (REQUEST | {"problem": "/etc/passwd"}, 400),
        (REQUEST | {"problem": 7}, 400),
    ],
)
def test_malformed_request_is_refused_in_one_line(body: Any, status: int) -> None:
    with serving() as server:
        got, answer = ask(server, body)
    assert got == status
    assert set(answer) == {"error"} and "\n" not in answer["error"] and "Traceback" not in answer["error"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (JSON | {"Content-Length": str(BODY_MAX + 1)}, 413),
        (JSON | {"Content-Length": "9" * 5000}, 413),
        (JSON | {"Content-Length": "-1"}, 411),
        (JSON | {"Content-Length": "1e3"}, 411),
        (JSON | {"Content-Length": "\u0663".encode().decode("latin-1")}, 411),
        (JSON | {"Transfer-Encoding": "chunked"}, 411),
        ({"Content-Type": "text/plain"}, 415),
    ],
)
def test_request_without_valid_headers_is_refused(headers: dict[str, str], status: int) -> None:
    with serving() as server:
        assert ask(server, b"{}", headers)[0] == status


def test_page_of_a_browser_cannot_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that an attacker points to 127.0.0.1 is in the Host header. Without the check the request is served."""
    rebound = JSON | {"Host": "attacker.example:80"}
    with serving() as server:
        assert ask(server, REQUEST, rebound)[0] == 403
        assert ask(server, REQUEST, JSON | {"Host": f"localhost:{server.server_port}"})[0] == 200
        monkeypatch.setattr(module, "LOCAL_NAMES", frozenset({"attacker.example"}))
        assert ask(server, REQUEST, rebound)[0] == 200


def test_client_without_the_token_cannot_ask() -> None:
    with serving(token="secret") as server:
        for given in ({}, {"Authorization": "Bearer secre"}, {"Authorization": "Bearer s\xe9cret"}):
            assert ask(server, REQUEST, JSON | given)[0] == 401
            assert ask(server, b"", given, "GET", "/health")[0] == 401
        assert ask(server, REQUEST, JSON | {"Authorization": "Bearer secret"})[0] == 200


def test_address_open_to_others_needs_a_token() -> None:
    with pytest.raises(UsageError, match="give a token"):
        ServerOptions(host="0.0.0.0")
    with pytest.raises(UsageError, match="not an IP address"):
        ServerOptions(host="example")
    assert ServerOptions(host="0.0.0.0", token="t").token == "t"


def is_cut(server: RewardServer, seconds: float) -> bool:
    """Send a byte of a request now and then; whether the server ends the connection within some seconds."""
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=0.1) as client:
        client.sendall(b"POST /reward HTTP/1.0\r\nHost: localhost\r\nX: ")
        for _ in range(int(seconds / 0.1)):
            try:
                client.sendall(b"x")
                if client.recv(1) == b"":
                    return True
            except TimeoutError:
                continue
            except OSError:
                return True
    return False


def test_client_that_sends_a_byte_now_and_then_is_cut_off() -> None:
    """With a long limit, the same client holds its connection."""
    with serving(read_seconds=0.3) as server:
        assert is_cut(server, 3.0)
        assert ask(server, REQUEST)[0] == 200
    with serving(read_seconds=60) as server:
        assert not is_cut(server, 0.6)


def test_requests_beyond_the_limit_are_refused_at_once() -> None:
    """One grade runs, one request waits, the third is refused; the first two are answered."""
    began, goes_on = threading.Semaphore(0), threading.Event()

    def slow(problem: str, code: Code) -> GradeResult:
        began.release()
        goes_on.wait(10)
        return grade(problem, code)

    with serving(slow, waiting=1) as server:
        answers: list[int] = []
        clients = [threading.Thread(target=lambda: answers.append(ask(server, REQUEST)[0])) for _ in range(2)]
        for client in clients:
            client.start()
        assert began.acquire(timeout=10)
        while server.room._value:  # until the second request waits
            threading.Event().wait(0.01)
        assert ask(server, REQUEST)[1] == {"error": "no reward: too many requests wait"}
        goes_on.set()
        for client in clients:
            client.join()
    assert answers == [200, 200]


def test_client_that_hangs_up_loses_its_turn_and_is_no_error() -> None:
    """One client hangs up during its grade, one while it waits. Only the first and the last submission are graded."""
    began, goes_on = threading.Semaphore(0), threading.Event()
    graded: list[str] = []

    def slow(problem: str, code: Code) -> GradeResult:
        graded.append(problem)
        began.release()
        goes_on.wait(10)
        return grade(problem, code)

    body = json.dumps(REQUEST).encode()
    head = f"POST /reward HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    with serving(slow, waiting=2) as server:
        said: list[str] = []
        server.say = said.append
        first = socket.create_connection(("127.0.0.1", server.server_port))
        first.sendall(head.encode() + b"\r\n\r\n" + body)
        assert began.acquire(timeout=10)
        second = socket.create_connection(("127.0.0.1", server.server_port))
        second.sendall(head.encode() + b"\r\n\r\n" + body)
        while server.room._value > 1:  # until the second request waits
            threading.Event().wait(0.01)
        second.close()
        while server.room._value < 2:
            threading.Event().wait(0.01)
        first.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        first.close()
        goes_on.set()
        assert ask(server, REQUEST)[0] == 200
    assert len(graded) == 2 and server.turns._value == 1 and server.room._value == 3
    assert said.count("a client hung up before its answer") == 2
    assert not any(each.startswith("error") for each in said)


def test_random_requests_are_parsed_or_refused() -> None:
    """A fuzzer with a fixed seed over the parser of requests."""
    good = json.dumps(REQUEST).encode()
    parsed = 0
    for seed in range(3000):
        draw = random.Random(seed)
        data = bytearray(good)
        for _ in range(draw.randrange(4)):
            at = draw.randrange(len(data) + 1)
            data[at : at + draw.randrange(3)] = draw.randbytes(draw.randrange(3))
        try:
            parsed += parse_request(bytes(data)).problem == "add"
        except UsageError as error:
            assert "\n" not in str(error)
    assert parsed > 300


def test_connection_without_a_thread_leaves_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a machine that was short of threads for a while would refuse every client for good."""

    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with RewardServer(Rewarder({}, grade), ServerOptions(), [].append) as server:
        monkeypatch.setattr(threading.Thread, "start", start)
        connection = socket.socket()
        with pytest.raises(RuntimeError):
            server.process_request(connection, ("127.0.0.1", 1))
        server.shutdown_request(connection)  # as BaseServer does
        assert not server._unread


def test_idle_connections_shut_nobody_out() -> None:
    """Each client that has not sent its request would else hold a place for `read_seconds`."""
    with serving(grade) as server, ExitStack() as stack:
        idle = [
            stack.enter_context(socket.create_connection(("127.0.0.1", server.server_port)))
            for _ in range(2 * UNREAD_MAX)
        ]
        assert ask(server, REQUEST)[0] == 200
        assert len(server._unread) <= UNREAD_MAX
        idle[0].settimeout(10)
        assert idle[0].recv(1) == b""  # the oldest one has ended


def test_strangers_shut_nobody_out_while_a_request_waits() -> None:
    """A request that is read keeps its place, however many connections follow."""
    began, goes_on = threading.Event(), threading.Event()

    def slow(problem: str, code: Code) -> GradeResult:
        began.set()
        goes_on.wait(10)
        return grade(problem, code)

    with serving(slow) as server, ExitStack() as stack, ThreadPoolExecutor(1) as pool:
        answer = pool.submit(ask, server, REQUEST)
        assert began.wait(10)
        for _ in range(UNREAD_MAX + 1):
            stack.enter_context(socket.create_connection(("127.0.0.1", server.server_port)))
        goes_on.set()
        assert answer.result(10)[0] == 200
