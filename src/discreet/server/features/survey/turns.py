"""Turns at the collector: few requests are worked on at a time, so that threads are left for everybody else."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from starlette.concurrency import run_in_threadpool

from discreet.errors import CollectorClosed
from discreet.server.access.limits import network_of
from discreet.server.context import kept_once
from discreet.server.settings import Settings
from discreet.survey.collect.store import LATER

Given = ParamSpec("Given")
Found = TypeVar("Found")

IN_WORK = 4
"""Requests with reports that are worked on at a time; the server has 40 threads for short requests in all."""
WAITING, WAITING_EACH = 200, 100
"""Requests with reports that may wait for their turn: in all, and of one address (a classroom is one)."""


class ReportTurns:
    """Gives requests with reports their turn in the order of their coming.

    Guarantee: they hold at most `IN_WORK` threads of the server, and at most `WAITING` wait, of which
        one address has `WAITING_EACH`; whoever comes then is refused at once.
    """

    def __init__(self, _settings: Settings) -> None:
        self._turns = asyncio.Semaphore(IN_WORK)
        self._waiting: Counter[str] = Counter()

    async def take(
        self, address: str, act: Callable[Given, Found], *args: Given.args, **named: Given.kwargs
    ) -> Found:
        """Return what `act` returns, in a thread, when it is its turn; or refuse it."""
        sender = network_of(address)
        if self._waiting.total() >= WAITING or self._waiting[sender] >= WAITING_EACH:
            raise CollectorClosed(
                "The server takes no reports just now: too many arrive at once.", hint=LATER
            )
        self._waiting[sender] += 1
        try:
            await self._turns.acquire()
        finally:
            self._waiting -= Counter([sender])  # keeps no senders who wait for nothing
        try:
            return await run_in_threadpool(act, *args, **named)
        finally:
            self._turns.release()


turns_of = kept_once(ReportTurns)
"""The turns of this server's collector."""
