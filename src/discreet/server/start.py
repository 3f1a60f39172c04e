"""Start the server: listen, and serve HTTP connections within limits until it is told to stop.

Guarantee: a connection that sends no whole head within `HEAD_SECONDS`, or less than `LEAST_RATE` bytes a second of a body
that the server would read, is closed; one address holds at most `MAX_EACH` connections, fewer than the server takes. So half
requests can take the server away from nobody else (note 0067). A head that another reader, a proxy say, might end elsewhere
or give a body of another length gets 400, and the connection is closed: so nobody's request becomes the body of another's.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import socket
import time
from collections.abc import Callable
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from discreet.errors import InvalidInput
from discreet.server.access.tokens import AccessDb, Role, Tokens
from discreet.server.app import create_app
from discreet.server.logs import start_logs
from discreet.server.settings import Settings

_log = logging.getLogger("discreet.server")


class Server(uvicorn.Server):
    """A uvicorn server that says when it listens."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then say so."""
        await super().startup(sockets)
        if self.started:
            self._ready()


def make_server(settings: Settings, *, ready: Callable[[], None] = lambda: None) -> Server:
    """Return the server, opened but not yet listening; `ready` is called when it is."""
    # uvicorn's access log would write whole addresses, and the first one of a browser has a token.
    logging.getLogger("uvicorn.access").disabled = True
    config = uvicorn.Config(
        create_app(settings),
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ssl_certfile=settings.tls_certificate,
        ssl_keyfile=settings.tls_key,
        timeout_graceful_shutdown=10,
        timeout_keep_alive=30,
        limit_concurrency=2000,
        http=GuardedProtocol,
        h11_max_incomplete_event_size=64 << 10,
    )
    return Server(config, ready)


def serve(
    settings: Settings, *, ready: Callable[[], None] = lambda: None, log_level: str = "INFO"
) -> None:
    """Serve until SIGINT or SIGTERM; running questions end first, then the ledger is closed."""
    refuse_taken(settings.host, settings.port)
    start_logs(log_level)
    if settings.exposed:
        _log.warning("plain http", extra={"facts": {"cookie": "without Secure", "tls": False}})
    # uvicorn raises the signal again after a graceful end; Ctrl-C is how a server is meant to end.
    with contextlib.suppress(KeyboardInterrupt):
        make_server(settings, ready=ready).run()


def owner_token(settings: Settings) -> str | None:
    """Return a first owner token if nobody has one yet; it is shown this once."""
    access = AccessDb(settings.state_folder)
    try:
        tokens, now = Tokens(access), time.time()
        if any(token.role is Role.OWNER and token.valid(now) for token in tokens.all()):
            return None
        return tokens.new(Role.OWNER, label="first").text
    finally:
        access.close()


def refuse_taken(host: str, port: int) -> None:
    """Refuse a port that somebody else listens on, before anything is opened."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            raise InvalidInput(
                f"Port {port} of {host} is not free.", hint="Choose another with --port."
            ) from None


MAX_EACH = 500
"""Connections of one network address; a proxy in front is one address as well."""
HEAD_SECONDS = 20.0
LOOK = 10.0
"""Seconds between looks at a connection."""
LEAST_RATE = 200
"""Bytes of a body a second, over the time between two looks."""
_FULL = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


_BARE_END = re.compile(rb"(?<!\r)\n|\r(?!\n|\Z)")
"""A line of a head that does not end in CR LF; a CR at the end of what has come may get its LF yet."""
_FOLDED = re.compile(rb"\n[ \t]")
_LENGTHS = re.compile(rb"\n(?:content-length|transfer-encoding)[ \t]*:[^\r\n]*", re.IGNORECASE)
_ONE_LENGTH = re.compile(
    rb"\n(?:content-length:[ \t]*[0-9]+|transfer-encoding:[ \t]*chunked)[ \t]*", re.IGNORECASE
)


class OneMeaning(h11.Connection):
    """h11's connection, which reads no head that other readers may take for another request."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._seen = 0  # bytes of a head that is under way: each is looked at once

    def next_event(self) -> Any:
        """Return the next event, or refuse a head that has more than one meaning."""
        if self.their_state is h11.IDLE:
            received = bytes(self.trailing_data[0])
            end = received.find(b"\r\n\r\n", max(0, self._seen - 3))
            found = received if end < 0 else received[: end + 2]
            if _BARE_END.search(found, max(0, self._seen - 1)) or _FOLDED.search(found):
                raise h11.RemoteProtocolError("a line of the head does not end as it should")
            if end >= 0:
                _require_one_length(found)
            self._seen = len(received) if end < 0 else 0
        return super().next_event()


def _require_one_length(head: bytes) -> None:
    """Refuse a head that says no length of a body as it should, or more than one."""
    lengths = _LENGTHS.findall(head)
    if len(lengths) > 1 or not all(map(_ONE_LENGTH.fullmatch, lengths)):
        raise h11.RemoteProtocolError("the length of the body is not said once")
    if b"HTTP/1.0" in head.split(b"\r\n", 1)[0] and b"transfer" in b"".join(lengths).lower():
        raise h11.RemoteProtocolError("HTTP/1.0 knows no transfer encoding")


class GuardedProtocol(H11Protocol):
    """uvicorn's protocol, with an eye on how long a request takes to arrive."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        most = self.config.h11_max_incomplete_event_size
        self.conn = OneMeaning(h11.SERVER, *([] if most is None else [most]))
        self._looking: asyncio.TimerHandle | None = None
        self._head_since: float | None = None
        self._came = 0
        self._in_body = False

    @property
    def address(self) -> str:
        """Return the network address of the client."""
        return self.client[0] if self.client else "unknown"

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection, or say that this address has too many."""
        super().connection_made(transport)
        guarded = [each for each in self.connections if isinstance(each, GuardedProtocol)]
        if sum(each.address == self.address for each in guarded) > MAX_EACH:
            transport.write(_FULL)
            transport.close()
            return
        self._head_since = self.loop.time()
        self._looking = self.loop.call_later(LOOK, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop looking."""
        if self._looking is not None:
            self._looking.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, and note whether a head is under way."""
        self._came += len(data)
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._head_since = None
        elif self._head_since is None and self.conn.trailing_data[0]:
            self._head_since = self.loop.time()

    def _look(self) -> None:
        """Close the connection if it is late, or look again later."""
        if self.transport.is_closing():
            return
        head = self._head_since is not None and self.loop.time() - self._head_since >= HEAD_SECONDS
        in_body = self.conn.their_state is h11.SEND_BODY and not self.flow.read_paused
        if head or (in_body and self._in_body and self._came < LEAST_RATE * LOOK):
            self.transport.abort()
            return
        self._in_body, self._came = in_body, 0
        self._looking = self.loop.call_later(LOOK, self._look)
