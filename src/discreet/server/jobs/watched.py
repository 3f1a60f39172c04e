"""A curator that reports progress and obeys cancelling; its reads take turns with other jobs'."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Self, cast

from discreet.base.bill import OWNER, name_of
from discreet.base.proof import Permit
from discreet.curator import Curator
from discreet.data.engines.base import Exact, KeepSql, PaidReader, RunSql, UnpaidReader
from discreet.errors import EngineFailed

Tell = Callable[[str], None]
"""Told "charged", "reading" and "noise" as they happen; raises Cancelled when it is enough."""


class _Watched:
    """Passes everything on to `inner`, except what a subclass says about itself."""

    def __init__(self, inner: Any, tell: Tell) -> None:
        self._inner = inner
        self._tell = tell

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _Ledger(_Watched):
    def __init__(self, inner: Any, tell: Tell, asker: str) -> None:
        super().__init__(inner, tell)
        self._asker = asker

    def charge(self, payer: Any, *arguments: Any, **named: Any) -> Any:
        return self._told(self._inner.charge, payer, *arguments, **named)

    def charge_all(self, payer: Any, *arguments: Any, **named: Any) -> Any:
        return self._told(self._inner.charge_all, payer, *arguments, **named)

    def _told(self, charge: Callable[..., Any], payer: Any, *arguments: Any, **named: Any) -> Any:
        self._tell("charging")
        other = self._asker if self._asker != name_of(payer.analyst) else ""
        paid = charge(payer, *arguments, **named, asker=other)
        self._tell("charged")
        return paid


class _Rows(_Watched):
    """An engine or a held state: reading takes turns."""

    def __init__(self, inner: Any, tell: Tell, turn: threading.Semaphore) -> None:
        super().__init__(inner, tell)
        self._turn = turn

    def _run(self, run: RunSql) -> RunSql:
        def watched_run(sql: str, *, seconds: float | None = None) -> Exact:
            found: Exact = self._read(lambda: run(sql, seconds=seconds))
            self._tell("noise")
            return found

        return watched_run

    def _keep(self, keep: KeepSql) -> KeepSql:
        return lambda sql: str(self._read(lambda: keep(sql)))

    def _read(self, read: Callable[[], Any]) -> Any:
        with self._turn:
            self._tell("reading")
            try:
                return read()
            except EngineFailed:
                self._tell("reading")  # if it was cancelled, that is what it is, and no incident
                raise


class _Held(_Rows):
    def paid(self, permit: Permit) -> PaidReader:
        reader: PaidReader = self._inner.paid(permit)
        return reader.through(self._run, self._keep)

    def public_reader(self, table: str) -> UnpaidReader:
        reader: UnpaidReader = self._inner.public_reader(table)
        return reader.through(self._run)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._inner.close()


class _Engine(_Rows):
    def owner_reader(self) -> UnpaidReader:
        reader: UnpaidReader = self._inner.owner_reader()
        return reader.through(self._run)

    def hold(self, tables: Any, **how: Any) -> _Held:
        return _Held(self._inner.hold(tables, **how), self._tell, self._turn)


def watched(
    curator: Curator, *, tell: Tell, turn: threading.Semaphore, asker: str = OWNER
) -> Curator:
    """Return `curator` with a ledger and an engine that tell of their steps.

    `asker` is the name of who asks; the ledger writes it down where another share pays.

    Guarantee: which steps there are and in which order follows from the request alone; no count,
        size or value of a row is told.
    """
    return Curator(
        curator.catalog,
        ledger=cast("Any", _Ledger(curator.ledger, tell, asker)),
        engine=cast("Any", _Engine(curator.engine, tell, turn)),
        rng=curator.rng,
    )
