"""Readers that nobody paid for: permits that no ledger made, for tests of what is read with them."""

from __future__ import annotations

from typing import Any

from discreet.base.proof import Permit, permit_for
from discreet.data.engines.base import PaidReader


def permit_of(dataset: str) -> Permit:
    """Return a permit for the rows of a dataset, as if they were paid for."""
    return permit_for(dataset, "entered by a test")


def paid(held: Any) -> PaidReader:
    """Return the reader of a held state, as if it were paid for, whosever rows it has."""
    dataset = next((whose for whose in held.private.values() if whose is not None), "nobody")
    return held.paid(permit_of(dataset))


def reading(run: Any, keep: Any = None) -> PaidReader:
    """Return what reads by a function of a test's own."""

    def timed(sql: str, *, seconds: float | None = None) -> Any:
        return run(sql)

    return PaidReader(permit_of("nobody"), run=timed, keep=keep or (lambda sql: sql), private={})


def of_engine(engine: Any) -> PaidReader:
    """Return what reads an engine's sources as they are, as if that were paid for."""
    return reading(engine.owner_reader().run)
