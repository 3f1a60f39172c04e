"""Limits on requests: a token bucket for each caller; how large bodies may be, and how slowly they may arrive."""

from __future__ import annotations

import asyncio
import ipaddress
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.errors import TooLarge, TooManyRequests
from discreet.server.problems import answer_with, problem_of

KEPT = 10_000
"""Callers whose buckets are remembered; the longest unseen are forgotten first."""


WRONG = 5.0
"""What a wrong token takes from the bucket of its address, whichever way it came."""


class Buckets:
    """One bucket for each caller: `burst` requests at once, then `rate` a second."""

    def __init__(
        self, rate: float, burst: int, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._lock = threading.Lock()
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str, amount: float = 1.0) -> None:
        """Take from the caller's bucket, or raise TooManyRequests and take nothing."""
        now = self._clock()
        with self._lock:
            level, seen = self._levels.pop(caller, (float(self._burst), now))
            level = min(float(self._burst), level + (now - seen) * self._rate)
            enough = level >= amount
            self._levels[caller] = (level - amount if enough else level, now)
            if len(self._levels) > KEPT:
                self._levels.popitem(last=False)
        if not enough:
            raise TooManyRequests(
                "Too many requests.", hint=f"At most {self._rate:g} a second are answered."
            )


def fine(buckets: Buckets, caller: str, amount: float = WRONG) -> None:
    """Take more for a wrong token than for a right one; raise when there is nothing left to take."""
    try:
        buckets.take(caller, amount)
    except TooManyRequests:
        buckets.take(caller)


def network_of(address: str) -> str:
    """Return what one sender may be: an address, or the 64 bits of IPv6 that one network is given.

    >>> network_of("2001:db8::1:2"), network_of("192.0.2.7")
    ('2001:db8::/64', '192.0.2.7')
    """
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return address
    return str(found.ipv4_mapped or ipaddress.ip_network((found, 64), strict=False))


MB = 1 << 20
SMALL = 16 << 10
"""The first bytes of each body, which are not counted: a report, a form to sign in. Connections bound their sum."""
HELD, HELD_EACH = 64 * MB, 32 * MB
"""Bytes beyond those of all bodies that are under way or worked on: in all, and of one address."""
GRACE = 30.0
"""Seconds that a body may take whatever its size."""
LEAST_RATE = 64 << 10
"""Bytes for which it may take a second more."""
_AGAIN = {"Retry-After": "5"}


class BodiesUnderWay:
    """Counts the bytes that bodies of strangers hold until their requests are answered.

    Guarantee: beyond the first `SMALL` bytes of each body they are at most `HELD`, and at most `HELD_EACH` from
        one address. All of it happens in one event loop.
    """

    def __init__(self) -> None:
        self._held: Counter[str] = Counter()

    @property
    def held(self) -> int:
        """Return the bytes that are counted now."""
        return self._held.total()

    def take(self, sender: str, size: int) -> None:
        """Count so many bytes more, or refuse the request."""
        if self._held[sender] + size > HELD_EACH:
            raise HTTPException(
                503,
                "Requests of your network address hold as many bytes as they may; send again later",
                _AGAIN,
            )
        if self.held + size > HELD:
            raise HTTPException(
                503,
                "The server holds as many bytes of unfinished requests as it may; send again later",
                _AGAIN,
            )
        self._held[sender] += size

    def give_back(self, sender: str, size: int) -> None:
        """Count so many bytes no more."""
        self._held -= Counter({sender: size})


class ArrivingBody:
    """The body of one request: counted and timed for as long as nobody is known to send it."""

    def __init__(self, bodies: BodiesUnderWay, scope: Scope) -> None:
        self._bodies, self._scope = bodies, scope
        self._sender = network_of(scope["client"][0]) if scope.get("client") else "unknown"
        self._seen = self._taken = 0
        self._waited = 0.0
        self._whole = False

    async def next(self, receive: Receive) -> Message:
        """Return the next message, or refuse a body that is late or for which there is no room.

        FastAPI turns any other exception of a body's reader into a status of 400.
        """
        if self._whole or self._scope.get("state", {}).get("caller") is not None:
            return await receive()
        clock = asyncio.get_running_loop().time
        start = clock()
        try:
            async with asyncio.timeout(GRACE + self._seen / LEAST_RATE - self._waited):
                message = await receive()
        except TimeoutError:
            raise HTTPException(
                408, "The body of the request did not arrive in time", {"Connection": "close"}
            ) from None
        self._waited += clock() - start
        self._seen += len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        more = max(0, self._seen - SMALL) - self._taken
        if more:
            self._bodies.take(self._sender, more)
            self._taken += more
        return message

    def end(self) -> None:
        """Give back what the body held: the request is answered."""
        self._bodies.give_back(self._sender, self._taken)
        self._taken = 0


class BodyLimit:
    """ASGI layer that refuses bodies above a limit, declared or streamed, and those of strangers that are too many or late."""

    def __init__(
        self, app: ASGIApp, *, limit_of: Callable[[str], int], bodies: BodiesUnderWay
    ) -> None:
        self._app, self._bodies = app, bodies
        self._limit_of = limit_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, counting what comes in."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._limit_of(scope["path"])
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if not declared.isdigit() or int(declared[:20]) > limit:
            await answer_with(problem_of(too_large(limit)))(scope, receive, send)
            return
        seen, body = 0, ArrivingBody(self._bodies, scope)

        async def counted() -> Message:
            nonlocal seen
            message = await body.next(receive)
            seen += len(message.get("body", b""))
            if seen > limit:
                # FastAPI turns any other exception of a body's reader into a status of 400.
                raise HTTPException(413, too_large(limit).message.rstrip("."))
            return message

        try:
            await self._app(scope, counted, send)
        finally:
            body.end()


def too_large(limit: int) -> TooLarge:
    """Return the error for a body above `limit` bytes."""
    size = f"{limit >> 20:,} MB" if limit >= 1 << 20 else f"{limit >> 10:,} KB"
    return TooLarge(f"The request is larger than {size}.", hint="Send less, or ask the owner.")
