"""The listening socket: connections, their limits, and cancel requests."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import suppress
from functools import partial
from typing import Any

from discreet.errors import DiscreetError, NotInForce, TooManyRequests
from discreet.server.access.auth import principal
from discreet.server.access.tokens import Role, Token
from discreet.server.logs import log_failure
from discreet.server.pgwire import messages
from discreet.server.pgwire import messages as m
from discreet.server.pgwire.catalog.browse import Browsers
from discreet.server.pgwire.catalog.rows import search_path
from discreet.server.pgwire.catalog.tables import seen_by
from discreet.server.pgwire.connection import (
    Channel,
    Disconnected,
    Tls,
    arrive,
    no_longer_valid,
    sign_in,
    still_valid,
    tls_of,
)
from discreet.server.pgwire.dispatch import Dispatcher
from discreet.server.pgwire.messages import Failure, reply_of
from discreet.server.pgwire.options import REPORTED, Options
from discreet.server.pgwire.question import Asker
from discreet.server.pgwire.session import WireSession
from discreet.server.workspace import Context

LOOK_AGAIN = 1.0
"""Seconds between looks at the tokens of open sessions."""
MAX_CONNECTIONS = 500
MAX_EACH = 100
"""Connections of one network address that may be open at once, signed in or not."""
START_SECONDS = 30.0
"""How long a client may take until it is signed in, all steps together."""
WRONG_CANCEL = 20.0
"""What a cancel request for nobody's question takes from the bucket of its address."""


async def serve_pg(context: Context) -> asyncio.Server:
    """Return the PostgreSQL endpoint, listening on the port of its settings (0: any free one).

    All front ends share one queue and one set of limits. Closing the returned server ends all its
    connections.
    """
    return await _Connections(context, tls_of(context.settings)).listen()


class _Connections:
    """All open connections of one endpoint."""

    def __init__(self, context: Context, tls: Tls) -> None:
        self._context = context
        self._tls = tls
        self._browsers = Browsers()
        self._open: dict[asyncio.Task[None], str] = {}
        self._signed_in: dict[asyncio.Task[None], Token] = {}
        self._ended: set[asyncio.Task[None]] = set()
        self._askers: dict[tuple[int, int], Asker] = {}
        self._processes = 0

    async def listen(self) -> asyncio.Server:
        settings = self._context.settings
        loop = asyncio.get_running_loop()
        server = await loop.create_server(
            self._connected, settings.host, settings.pg_port or 0, start_serving=True
        )
        close, watch = server.close, loop.create_task(self._watch())

        def close_all() -> None:
            close()
            watch.cancel()
            for task in list(self._open):
                task.cancel()
            self._browsers.close()
            self._context.planner.close()

        server.close = close_all  # type: ignore[method-assign]  # closing ends the connections too
        return server

    async def _watch(self) -> None:
        """End the sessions of tokens that are revoked, expired or taken out of the catalog."""
        while True:
            await asyncio.sleep(LOOK_AGAIN)
            if self._context.workspace.changed():
                await asyncio.to_thread(self._context.workspace.refresh)
            held = {token.id for token in self._signed_in.values()}
            gone = {each for each in held if self._over(each)}
            for task, token in self._signed_in.items():
                if token.id in gone and task not in self._ended:
                    self._ended.add(task)
                    task.cancel()

    def _over(self, token_id: str) -> bool:
        try:
            return self._context.tokens.by_id(token_id) is None
        except NotInForce:
            return False  # each of its statements is refused until that is known

    def _connected(self) -> Channel:
        channel = Channel()
        task = asyncio.get_running_loop().create_task(self._serve(channel))
        self._open[task] = ""
        task.add_done_callback(lambda done: self._open.pop(done, None))
        return channel

    async def _serve(self, channel: Channel) -> None:
        """Serve one connection. Whatever comes in, only this connection can suffer from it."""
        await channel.connected()
        task = asyncio.current_task()
        assert task is not None, "runs as a task"
        self._open[task] = channel.peer
        try:
            self._room_for(channel)
            await self._served(channel)
        except (m.ProtocolError, Disconnected):
            pass
        except DiscreetError as error:
            channel.put(reply_of(error, severity="FATAL"))
        except asyncio.CancelledError:
            stopping = Failure("57P01", "The server is stopping.")
            why = no_longer_valid() if task in self._ended else stopping
            channel.put(reply_of(why, severity="FATAL"))
        except Exception as error:  # noqa: BLE001  # the listening socket must live on
            log_failure(error)
        finally:
            self._ended.discard(task)
            channel.close()

    async def _served(self, channel: Channel) -> None:
        try:
            async with asyncio.timeout(START_SECONDS):
                begun = await self._begun(channel)
        except TimeoutError:
            raise Disconnected from None
        if begun is not None:
            await self._session(channel, *begun)

    async def _begun(self, channel: Channel) -> tuple[Token, dict[str, str], str] | None:
        """Return who signs in, with which parameters and as which user; None for a cancel request."""
        context = self._context
        arrival = await arrive(channel, self._tls, plain=context.settings.loopback)
        if isinstance(arrival, m.CancelRequest):
            with suppress(TooManyRequests):
                self._cancel(arrival, channel.peer)
            return None
        parameters = arrival.parameters
        if arrival.version != m.PROTOCOL:
            unknown = [name for name in parameters if name.startswith("_pq_.")]
            channel.put(messages.negotiate(0, unknown))
        await asyncio.to_thread(partial(context.workspace.refresh, at_once=True))
        user = parameters.get("user", "")
        if user != Role.OWNER.value:  # whether there is such a user or not
            context.workspace.require_in_force()
        token = await sign_in(channel, user, context.tokens, self._tls, context.by_address)
        return token, parameters, user

    async def _session(
        self, channel: Channel, token: Token, parameters: dict[str, str], user: str
    ) -> None:
        context = self._context
        caller = principal(token)
        options = Options(default_epsilon=context.settings.default_epsilon)
        path = await asyncio.to_thread(self._path, token.analyst)
        options.other["search_path"] = ", ".join(path)
        options.begin(parameters)
        asker = Asker(context.workspace, context.runner, context.planner, caller)
        dispatcher = Dispatcher(context.workspace, self._browsers, asker, options, user)
        for name, shown in REPORTED.items():
            channel.put(messages.parameter(shown, options.show(name)))
        self._processes = (self._processes + 1) & 0x7FFFFFFF
        key = (self._processes, secrets.randbits(32))
        channel.put(messages.key_data(*key))
        self._askers[key] = asker
        task = asyncio.current_task()
        assert task is not None, "runs as a task"
        self._signed_in[task] = token

        async def allowed() -> None:
            if context.workspace.changed():
                await asyncio.to_thread(context.workspace.refresh)
            still_valid(context.tokens, token)
            context.by_token.take(token.id)

        try:
            await WireSession(channel, dispatcher, options, allowed).run()
        finally:
            del self._askers[key], self._signed_in[task]
            asker.cancel()

    def _path(self, analyst: str | None) -> list[str]:
        with self._context.workspace.last_curator() as curator:
            return search_path(seen_by(curator, analyst))

    def _room_for(self, channel: Channel) -> None:
        each = sum(peer == channel.peer for peer in self._open.values())
        if len(self._open) > MAX_CONNECTIONS or each > MAX_EACH:
            raise Failure("53300", "There are too many connections already.", hint="Close some.")

    def _cancel(self, request: m.CancelRequest, peer: str) -> None:
        """Cancel what runs under a key. Guessing one of 32 bits is fined as a wrong password is."""
        self._context.by_address.take(peer)
        wanted: Any = (request.process, request.secret)
        asker = self._askers.get(wanted)
        if asker is None:
            self._context.by_address.take(peer, WRONG_CANCEL)
        else:
            asker.cancel()
