"""One connection to a server's HTTP API: requests, jobs that are followed, files, and errors as the classes of this package."""

from __future__ import annotations

import http.client
import json
import ssl
import threading
import time
from types import TracebackType
from typing import Any, Self

from discreet import errors
from discreet.base.display import Progress
from discreet.errors import DiscreetError, ServerFailed

API = "/api/v1"
TIMEOUT = 120.0
FIRST_LOOK, LAST_LOOK = 0.1, 2.0
"""Seconds between looks at a job: short at first, then longer."""


class ServerConnection:
    """A connection that is kept, and opened anew when it was closed; safe to share among threads."""

    def __init__(
        self, host: str, port: int | None, *, token: str, trust: ssl.SSLContext | None
    ) -> None:
        self._place = (host, port)
        self._token = token
        self._trust = trust
        self._lock = threading.Lock()
        self._connection: http.client.HTTPConnection | None = None

    def _done(self, path: str, body: dict[str, Any] | None, progress: Progress) -> dict[str, Any]:
        """Return the answer of the job that a request starts, when it has one."""
        return self._followed(self._call("POST", path, body)["job"], progress)

    def _followed(self, job: str, progress: Progress) -> dict[str, Any]:
        """Return the answer of a job when it has one, or raise its problem."""
        waited = FIRST_LOOK
        while True:
            found = self._call("GET", f"/jobs/{job}")
            if found["progress"] is not None:
                now = found["progress"]
                progress(now["done"], now["of"], now["what"])
            if "answer" in found:
                answer: dict[str, Any] = found["answer"]
                return answer
            if "problem" in found:
                raise error_of(int(found["problem"].get("status", 500)), found["problem"])
            time.sleep(waited)
            waited = min(2 * waited, LAST_LOOK)

    def _file(self, path: str) -> bytes:
        """Return a file that the server sends as it is."""
        with self._lock:
            status, content = self._sent("GET", API + path, None, self._headers())
        if status >= 400:
            raise error_of(status, _parsed(content))
        return content

    def close(self) -> None:
        """Let go of the connection."""
        with self._lock:
            self._drop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        content = None if body is None else json.dumps(body).encode()
        headers = self._headers()
        if content is not None:
            headers["Content-Type"] = "application/json"
        with self._lock:
            status, text = self._sent(method, API + path, content, headers)
        found = _parsed(text)
        if status >= 400 or not isinstance(found, dict):
            raise error_of(status, found)
        return found

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}

    def _sent(
        self, method: str, path: str, content: bytes | None, headers: dict[str, str]
    ) -> tuple[int, bytes]:
        """Return status and body; a kept connection that was closed meanwhile is opened anew."""
        for attempt in (1, 2):
            fresh = self._connection is None
            connection = self._connection or self._open()
            self._connection = connection
            try:
                connection.request(method, path, content, headers)
                reply = connection.getresponse()
                return reply.status, reply.read()
            except (OSError, http.client.HTTPException) as error:
                self._drop()
                if fresh or attempt == 2:
                    host, port = self._place
                    place = host if port is None else f"{host}:{port}"
                    raise ServerFailed(
                        f"The server at {place} could not be reached.",
                        hint=f"{type(error).__name__}; check the address and try again.",
                    ) from None
        raise AssertionError("the second attempt returns or raises")

    def _open(self) -> http.client.HTTPConnection:
        host, port = self._place
        if self._trust is None:
            return http.client.HTTPConnection(host, port, timeout=TIMEOUT)
        return http.client.HTTPSConnection(host, port, timeout=TIMEOUT, context=self._trust)

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise ServerFailed("The server sent something that is not JSON.") from None


def error_of(status: int, found: Any) -> DiscreetError:
    """Return the error that the server named, as the class of this package."""
    facts = found if isinstance(found, dict) else {}
    said = {
        "message": facts.get("detail", f"The server answered with status {status}."),
        "hint": "",
    }
    if facts.get("kind") == errors.MissingExtra.__name__:  # there, not here
        facts = {**facts, "kind": ""}
    return errors.from_facts(said | facts, otherwise=ServerFailed)
