"""Fetching a small JSON document from a provider, within a time that ends and few at once.

Guarantee: one call takes at most `SECONDS` once the provider's address is known, however slowly its bytes come, headers
and handshake among them: a timer shuts the connection down. At most `AT_ONCE` calls run; whoever comes meanwhile is told at
once, so that a silent provider holds no more threads of the server than that (note 0067).
"""

from __future__ import annotations

import http.client
import json
import os
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from discreet.errors import NotSignedIn

SECONDS, LARGEST = 10.0, 1 << 20
AT_ONCE = 4
_turns = threading.BoundedSemaphore(AT_ONCE)
_watched = threading.local()


def fetched(address: str, data: bytes | None = None) -> dict[str, Any]:
    """Return the JSON object at an address, or raise NotSignedIn with one sentence."""
    if not _turns.acquire(blocking=False):
        raise busy()
    try:
        request = urllib.request.Request(  # noqa: S310 https or loopback, see require_safe
            address, data, {"Accept": "application/json"}
        )
        with _ended_after(SECONDS), _OPENER.open(request, timeout=SECONDS) as reply:
            found = json.loads(reply.read(LARGEST))
    except (OSError, ValueError, RecursionError, urllib.error.URLError, http.client.HTTPException):
        raise _unexpected() from None
    finally:
        _turns.release()
    if not isinstance(found, dict):
        raise _unexpected()
    return found


def busy() -> NotSignedIn:
    """Return what somebody hears who would have to wait for others."""
    return NotSignedIn(
        "The sign-in provider is being asked for others.",
        hint="Try again in a moment, or sign in with a token.",
    )


def _unexpected() -> NotSignedIn:
    return NotSignedIn(
        "The sign-in provider did not answer as expected.",
        hint="Try again, or sign in with a token.",
    )


@contextmanager
def _ended_after(seconds: float) -> Iterator[None]:
    """Shut down, after so many seconds, every connection that this thread opens in the block."""
    handles: list[socket.socket] = []
    _watched.handles = handles

    def shut() -> None:
        for handle in handles:
            with suppress(OSError):
                handle.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, shut)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        for handle in handles:
            handle.close()


def _connected(*arguments: Any, **named: Any) -> socket.socket:
    """Return a connection, with a second handle on it that outlives the handshake's own."""
    made = socket.create_connection(*arguments, **named)
    _watched.handles.append(socket.socket(fileno=os.dup(made.fileno())))
    return made


class _Http(http.client.HTTPConnection):
    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._create_connection = _connected


class _Https(http.client.HTTPSConnection):
    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._create_connection = _connected


class _OpenHttp(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_Http, req)


class _OpenHttps(urllib.request.HTTPSHandler):
    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_Https, req)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_args: Any, **_named: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirects, _OpenHttp, _OpenHttps)
