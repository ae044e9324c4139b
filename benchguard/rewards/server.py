"""The reward server: rewards over HTTP, for trainers on the same machine or behind a proxy.

`POST /reward` takes a request (request.py) and answers with a reward (reward.py); `GET /health` names the problems.
A machine's failure is status 503, never a reward. Clients get one line of JSON, never a traceback.
"""

from __future__ import annotations

import hmac
import ipaddress
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ..errors import UsageError
from ..ipc.json_text import json_line
from ..ipc.text import one_line
from .request import BODY_MAX, answer, parse_request
from .rewarder import Rewarder

LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
RETRY_SECONDS = 5
LOOK_SECONDS = 0.5
"""Time between two looks at a client that waits for its turn."""

UNREAD_MAX = 32
"""Connections whose request has not been read, or is a stranger's. The oldest one ends for one more, so that idle
connections shut nobody out."""

_DRAIN_BYTES = 64 << 10

Say = Callable[[str], None]


@dataclass(frozen=True)
class ServerOptions:
    """Options of the reward server.

    Attributes:
        host: address to listen at. Every address but a loopback one (127.0.0.0/8, ::1) needs a token.
        port: TCP port; 0: a free one.
        token: clients must send it as `Authorization: Bearer TOKEN`. Empty: none is needed.
        grades: submissions that are graded at the same time.
        waiting: further requests that wait for their turn. The next ones get status 503 at once.
        wait_seconds: longest wait of a request for its turn.
        read_seconds: longest time to send a request.

    Raises:
        UsageError: the address is not local and there is no token, or a number is out of range.
    """

    host: str = "127.0.0.1"
    port: int = 0
    token: str = ""
    grades: int = 1
    waiting: int = 64
    wait_seconds: float = 600.0
    read_seconds: float = 20.0

    def __post_init__(self) -> None:
        try:
            is_local = ipaddress.ip_address(self.host).is_loopback
        except ValueError as error:
            raise UsageError(f"{self.host} is not an IP address; give one, such as 127.0.0.1") from error
        if not is_local and not self.token:
            raise UsageError(f"{self.host} is open to other machines; give a token, or listen at 127.0.0.1")
        if not (0 <= self.port < 1 << 16 and self.grades >= 1 and self.waiting >= 0):
            raise UsageError("port is 0 to 65535, grades at least 1, and waiting at least 0")


class RewardServer(ThreadingHTTPServer):
    """Listens from its making; serve_forever() answers. One thread for each connection, and a bounded number: those
    whose request is read wait in `room`, or are refused at once."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, rewarder: Rewarder, options: ServerOptions, say: Say) -> None:
        self.rewarder, self.options, self.say = rewarder, options, say
        self.turns = threading.BoundedSemaphore(options.grades)
        self.room = threading.BoundedSemaphore(options.grades + options.waiting)
        self._unread: dict[socket.socket, None] = {}
        self._lock = threading.Lock()
        self.address_family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
        super().__init__((options.host, options.port), _Handler)

    @property
    def host(self) -> str:
        """The address as it is in a URL."""
        return f"[{self.options.host}]" if ":" in self.options.host else self.options.host

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.server_port}"

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            if len(self._unread) >= UNREAD_MAX:
                oldest = next(iter(self._unread))
                del self._unread[oldest]
                end(oldest)
            self._unread[request] = None
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.has_read(request)
        super().shutdown_request(request)

    def has_read(self, connection: socket.socket) -> None:
        """Take a connection from the unread ones: its request has been read, or it ends."""
        with self._lock:
            self._unread.pop(connection, None)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that broke. The client is gone; the service goes on."""


def end(connection: socket.socket) -> None:
    """End a connection that another thread uses, which then reads its end."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


class _GoneError(Exception):
    """The client has hung up."""


class _Handler(BaseHTTPRequestHandler):
    server: RewardServer
    server_version = "neutrino-bench"
    sys_version = ""

    def setup(self) -> None:
        super().setup()
        # A limit for the whole request: a timeout of the socket would begin again with each byte.
        self._limit = threading.Timer(self.server.options.read_seconds, end, [self.connection])
        self._limit.daemon = True
        self._limit.start()

    def finish(self) -> None:
        self._limit.cancel()
        super().finish()

    def do_GET(self) -> None:
        self._limit.cancel()
        if self.path != "/health":
            return self._refuse(HTTPStatus.NOT_FOUND, "the paths are /reward and /health")
        if (refusal := self._stranger()) is not None:
            return self._refuse(*refusal)
        return self._send(HTTPStatus.OK, {"problems": sorted(self.server.rewarder.tasks)})

    def do_POST(self) -> None:
        if self.path != "/reward":
            return self._refuse(HTTPStatus.NOT_FOUND, "the paths are /reward and /health")
        refusal = self._stranger() or self._bad_headers()
        if refusal is not None:
            self._refuse(*refusal)
            return self._drain()
        size = int(self.headers["Content-Length"])
        data = self.rfile.read(size)
        self._limit.cancel()
        if len(data) < size:
            return self._refuse(HTTPStatus.BAD_REQUEST, "the request ended early")
        self.server.has_read(self.connection)
        return self._answer(data)

    def _answer(self, data: bytes) -> None:
        try:
            self._reward(data)
        except UsageError as error:
            self._refuse(HTTPStatus.BAD_REQUEST, str(error))
        except (_GoneError, ConnectionError):
            self.server.say("a client hung up before its answer")
        except Exception as error:
            self.server.say(f"error: {type(error).__name__}: {error}")
            self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, "internal error; see the server's messages")

    def _reward(self, data: bytes) -> None:
        request = parse_request(data)
        self.server.rewarder.task(request.problem)
        if not self.server.room.acquire(blocking=False):
            return self._busy("too many requests wait")
        try:
            if not self._wait_for_turn():
                return self._busy("no turn came")
            try:
                began = time.monotonic()
                reward = answer(self.server.rewarder, request)
            finally:
                self.server.turns.release()
        finally:
            self.server.room.release()
        score = "no score" if reward.score is None else f"score {reward.score:.3f}"
        self.server.say(f"{request.problem}: {reward.verdict}, {score}, in {time.monotonic() - began:.1f} s")
        if reward.score is None:
            return self._busy(reward.reason)
        return self._send_bytes(HTTPStatus.OK, reward.to_json())

    def _wait_for_turn(self) -> bool:
        """Take a turn, or return False after `wait_seconds`. Raises _GoneError if the client hangs up before that."""
        until = time.monotonic() + self.server.options.wait_seconds
        while True:
            left = until - time.monotonic()
            has_turn = self.server.turns.acquire(timeout=max(0.0, min(left, LOOK_SECONDS)))
            if self._is_gone():
                if has_turn:
                    self.server.turns.release()
                raise _GoneError
            if has_turn or left <= LOOK_SECONDS:
                return has_turn

    def _is_gone(self) -> bool:
        """Whether the client has ended its side of the connection."""
        try:
            return not self.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def _stranger(self) -> tuple[HTTPStatus, str] | None:
        """Why the client may not ask. Without a token, a page of a browser must not: its Host or its type differ."""
        token = self.server.options.token
        if token:
            given = self.headers.get("Authorization", "").encode("utf-8", "surrogateescape")
            if not hmac.compare_digest(given, b"Bearer " + token.encode()):
                return HTTPStatus.UNAUTHORIZED, "send the header `Authorization: Bearer TOKEN`"
        else:
            host = self.headers.get("Host", "")
            names = LOCAL_NAMES | {self.server.host}
            if host not in names and host.rpartition(":")[0] not in names:
                return HTTPStatus.FORBIDDEN, "the Host must be localhost"
        return None

    def _bad_headers(self) -> tuple[HTTPStatus, str] | None:
        if self.headers.get_content_type() != "application/json":
            return HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the Content-Type must be application/json"
        size = self.headers.get("Content-Length", "")
        if "Transfer-Encoding" in self.headers or not (size.isascii() and size.isdigit()):
            return HTTPStatus.LENGTH_REQUIRED, "send a Content-Length"
        if len(size) > 12 or int(size) > BODY_MAX:
            return HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a request may have {BODY_MAX} bytes"
        return None

    def _busy(self, reason: str) -> None:
        self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, f"no reward: {reason}")

    def _refuse(self, status: HTTPStatus, text: str) -> None:
        self._send(status, {"error": one_line(text)})

    def _drain(self) -> None:
        """Read some of an unread body: closing before that resets the connection, and loses the answer."""
        self.connection.settimeout(0.2)
        try:
            self.rfile.read1(_DRAIN_BYTES)
        except OSError:
            return

    def _send(self, status: HTTPStatus, document: dict[str, Any]) -> None:
        self._send_bytes(status, json_line(document))

    def _send_bytes(self, status: HTTPStatus, data: bytes) -> None:
        self.connection.settimeout(self.server.options.read_seconds)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        if status == HTTPStatus.SERVICE_UNAVAILABLE:
            self.send_header("Retry-After", str(RETRY_SECONDS))
        self.end_headers()
        self.wfile.write(data)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """The base class's refusals of malformed requests, as JSON and without the request's own words."""
        self._send(HTTPStatus(code), {"error": HTTPStatus(code).phrase})

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """The base class prints every request; `say` gets the grades."""
