"""Start the server: one ASGI application; listen, and serve HTTP connections within limits until it is told to stop.

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
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import h11
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse
from starlette.concurrency import run_in_threadpool
from starlette.routing import Mount
from uvicorn.protocols.http.h11_impl import H11Protocol

from discreet import __version__
from discreet.errors import InternalError, InvalidInput
from discreet.server.access import sign_in
from discreet.server.access.auth import (
    API,
    GuardedRoute,
    add_routes,
    all_routes,
    allow,
    api_router,
    everybody,
    maybe_caller,
)
from discreet.server.access.limits import BodyLimit
from discreet.server.access.sign_in import SignInByAddress
from discreet.server.access.tokens import AccessDb, Role, Tokens
from discreet.server.feature import features, larger_bodies, limited_features, warm_modules
from discreet.server.logs import RequestLog, start_logs
from discreet.server.problems import SecurityHeaders, add_problems
from discreet.server.settings import Settings
from discreet.server.workspace import CatalogState, Context, context_of

health_router = api_router("health")


@health_router.get("/health")
@everybody
async def health(request: Request) -> dict[str, Any]:
    """Say that the server lives, whether the latest discreet.toml is in force, and what takes nothing just now.

    An owner reads why the catalog is not in force or the ledger cannot be used; why a capability is
    closed is for everybody.
    """
    context, who = context_of(request), maybe_caller(request)
    workspace, refused = context.workspace, context.watch.refused
    state, problem = workspace.state, workspace.problem or refused
    said: dict[str, Any] = {
        "status": "ok" if state is CatalogState.IN_FORCE else "closed",
        "version": __version__,
        "catalog": state.value,
    }
    limited = await run_in_threadpool(limited_features, request)
    if refused is not None:
        limited["ledger"] = "The ledger cannot be used, so nothing that costs budget is answered."
    if limited:
        said["limited"] = limited
        if state is CatalogState.IN_FORCE:
            said["status"] = "limited"
    if problem is not None and who is not None and who.role is Role.OWNER:
        said["problem"] = str(problem)
    return said


@health_router.get("/metrics", response_class=PlainTextResponse)
@allow(Role.OWNER, Role.REVIEWER)
def metrics(request: Request) -> PlainTextResponse:
    """Return counters in Prometheus' text form, and how much of each budget is used."""
    context = context_of(request)
    waiting, running = context.runner.load
    used = context.watch.look()
    return PlainTextResponse(context.metrics.text(waiting=waiting, running=running, budgets=used))


OWN_ROUTERS = (sign_in.token_router, sign_in.audit_router, health_router)
"""What every server has, whatever its features."""


def create_app(settings: Settings) -> FastAPI:
    """Return the application; its curator, ledger and engine open now and close with it."""
    context = Context.open(settings, warm=warm_modules())
    try:
        return _built(context)
    except BaseException:
        context.close()
        raise


def _built(context: Context) -> FastAPI:
    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        postgres = await _postgres(context)
        watching = asyncio.create_task(context.watch.watch())
        try:
            yield
        finally:
            watching.cancel()
            if postgres is not None:
                postgres.close()
            context.close()

    app = FastAPI(
        title="Discreet",
        version=__version__,
        summary="Private answers about people's data.",
        docs_url=None,  # it would load scripts from elsewhere
        redoc_url=None,
        openapi_url=f"{API}/openapi.json",
        lifespan=lifespan,
    )
    app.state.context = context
    add_problems(app)
    for router in OWN_ROUTERS:
        add_routes(app, router)
    for feature in features():
        feature.add_to(app)
    _refuse_unguarded(app)
    _add_layers(app, context)
    return app


async def _postgres(context: Context) -> asyncio.Server | None:
    """Return the PostgreSQL endpoint, if one is wanted; it shares the queue and the limits."""
    if context.settings.pg_port is None:
        return None
    # Here, because its certificates and its own catalog take a second that most starts do not need.
    from discreet.server.pgwire.server import serve_pg

    return await serve_pg(context)


def _refuse_unguarded(app: FastAPI) -> None:
    """Let no route live that does not say who may call it."""
    for route in all_routes(app.routes):
        guarded = isinstance(route, GuardedRoute | Mount)
        if not guarded and getattr(route, "path", "") != app.openapi_url:
            raise InternalError(f"{route} is not guarded")


def _one_route(written: str) -> re.Pattern[str]:
    """Return what the addresses of one route look like: a name has no stroke in it."""
    return re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(written)))


def _add_layers(app: FastAPI, context: Context) -> None:
    """Wrap the application; the layer added last is the outermost."""
    settings = context.settings

    usual = settings.max_body_kb << 10

    def limit_of(path: str) -> int:
        return next((size for route, size in larger if route.fullmatch(path)), usual)

    larger = [(_one_route(route), size) for route, size in larger_bodies(settings).items()]
    app.add_middleware(SignInByAddress, context=context)
    app.add_middleware(BodyLimit, limit_of=limit_of, bodies=context.bodies)
    app.add_middleware(SecurityHeaders, tls=settings.tls)
    app.add_middleware(RequestLog, metrics=context.metrics)


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
