"""One connection's bytes: read in whole messages, within limits of size and time."""

from __future__ import annotations

import asyncio
import ssl
import struct

from discreet.server.pgwire.protocol.messages import (
    MAX_MESSAGE,
    MAX_STARTUP,
    First,
    Message,
    ProtocolError,
    read_first,
    read_message,
)

_FULL = 2 * MAX_MESSAGE
"""Unread bytes after which the client must wait."""


class Disconnected(Exception):  # says it better than DisconnectedError
    """The client has hung up, or was silent for too long."""


class Channel(asyncio.Protocol):
    """Bytes to and from one client.

    Guarantee: never more than a few messages are held in memory; what was sent before TLS began is
        never read as if it had come through TLS.
    """

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self._arrived = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._ended = False
        self._paused = False
        self.tls = False
        self._made = asyncio.Event()

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin; also called when TLS has taken over."""
        assert isinstance(transport, asyncio.Transport), "a stream"
        self._transport = transport
        self._made.set()

    def data_received(self, data: bytes) -> None:
        """Keep what came, and let the client wait when that is too much."""
        self._buffer += data
        if len(self._buffer) > _FULL and not self._paused and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()
        self._arrived.set()

    def eof_received(self) -> bool:
        """Note that nothing more will come."""
        self._ended = True
        self._arrived.set()
        return False

    def connection_lost(self, _error: Exception | None, /) -> None:
        """Note that nobody listens any more."""
        self._ended = True
        self._arrived.set()
        self._writable.set()

    def pause_writing(self) -> None:
        """Hold back: the client reads too slowly."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Go on."""
        self._writable.set()

    # What the session calls.

    @property
    def peer(self) -> str:
        """Return the network address of the client."""
        found = self._transport.get_extra_info("peername") if self._transport else None
        return str(found[0]) if found else "unknown"

    @property
    def alive(self) -> bool:
        """Return whether the client is still there."""
        return not self._ended

    async def connected(self) -> None:
        """Wait until the connection stands."""
        await self._made.wait()

    async def first(self, seconds: float) -> First:
        """Return the connection's first message, or the next one after a refused one."""
        return read_first(await self._body(await self._take(4, seconds), MAX_STARTUP, seconds))

    async def next(self, seconds: float) -> Message:
        """Return the next message; `seconds` is how long the client may be silent."""
        head = await self._take(5, seconds)
        return read_message(head[:1], await self._body(head[1:], MAX_MESSAGE, seconds))

    async def _body(self, length: bytes, limit: int, seconds: float) -> bytes:
        size: int = struct.unpack("!i", length)[0] - 4
        if not 0 <= size <= limit:
            raise ProtocolError("a message is too long, or this is another protocol")
        return await self._take(size, seconds)

    async def _take(self, count: int, seconds: float) -> bytes:
        try:
            async with asyncio.timeout(seconds):
                while len(self._buffer) < count:
                    if self._ended:
                        raise Disconnected
                    self._arrived.clear()
                    await self._arrived.wait()
        except TimeoutError:
            raise Disconnected from None
        found = bytes(self._buffer[:count])
        del self._buffer[:count]
        if self._paused and len(self._buffer) <= _FULL // 2 and self._transport is not None:
            self._paused = False
            self._transport.resume_reading()
        return found

    def put(self, data: bytes) -> None:
        """Send; `drained` waits until the client keeps up."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    async def drained(self, seconds: float) -> None:
        """Wait until the client has read most of what was sent."""
        if self._writable.is_set():
            return
        try:
            async with asyncio.timeout(seconds):
                await self._writable.wait()
        except TimeoutError:
            raise Disconnected from None

    async def start_tls(self, context: ssl.SSLContext, seconds: float) -> None:
        """Speak TLS from here on."""
        if self._buffer:
            raise ProtocolError("bytes before TLS has begun")
        assert self._transport is not None, "connected"
        self._transport.pause_reading()
        loop = asyncio.get_running_loop()
        try:
            transport = await loop.start_tls(
                self._transport, self, context, server_side=True, ssl_handshake_timeout=seconds
            )
        except (OSError, ssl.SSLError, TimeoutError):
            raise Disconnected from None
        if transport is None:
            raise Disconnected
        self._transport = transport
        self.tls = True

    def close(self) -> None:
        """Hang up, after what was written has been sent."""
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Hang up now."""
        if self._transport is not None:
            self._transport.abort()
