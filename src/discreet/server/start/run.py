"""Run the server until it is told to stop."""

from __future__ import annotations

import contextlib
import logging
import socket
import time
from collections.abc import Callable

import uvicorn

from discreet.errors import InvalidInput
from discreet.server.access.access_db import AccessDb
from discreet.server.access.tokens import Role, Tokens
from discreet.server.app import create_app
from discreet.server.settings import Settings
from discreet.server.start.guarded_http import GuardedProtocol
from discreet.server.start.logs import start_logs

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
