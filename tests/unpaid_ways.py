"""Every way of reading private rows without having paid, tried; run as a script it prints which of them read.

A way is given rows that remember whether they were read, and a permit that is none. What a way raises does
not matter here, only whether a row was reached. `python -O tests/unpaid_ways.py` runs without assertions.
"""

from __future__ import annotations

import copy
import json
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pyarrow as pa

from discreet.base.proof import Permit, permit_for
from discreet.data.engines.base import Exact, Held, PaidReader
from discreet.measure.learned_domains import LearningContext, _words
from discreet.measure.private_marginals import CountSensitivity
from discreet.measure.sealing import SealedCodes, SqlCounter, store_codes, unstored_counter
from discreet.measure.shape import Shape
from discreet.privacy.kernel.look import exact, look
from discreet.testing import FakeEngine
from discreet.work.learn.private_rows import fetch, fetch_unit_codes
from discreet.work.learn.recommender import fetch_ratings
from discreet.work.publish.measure import count_cells
from town_source import town_source

ONE = pa.table({"n": [1]})


class Rows(Held):
    """A held state of one private table and a public one, which knows whether it was read."""

    def __init__(self) -> None:
        self.read = False
        self.fingerprints = {"town.people": "1", "town.streets": "1"}
        self.private = {"town.people": "town", "town.streets": None}

    def _run(self, sql: str, *, seconds: float | None = None) -> Exact:
        self.read = True
        return Exact(ONE)

    def _keep(self, sql: str) -> str:
        self.read = True
        return "kept"


class Duck:
    """What has the methods of a reader, and nothing else."""

    def __init__(self, rows: Rows) -> None:
        self.run, self.keep = rows._run, rows._keep


class TwinOfPermit:
    """What has the facts of a permit, and nothing else."""

    dataset, entry = "town", "0" * 64


def copied() -> Any:
    return copy.copy(permit_for("town", "a test"))


def deeply_copied() -> Any:
    return copy.deepcopy(permit_for("town", "a test"))


def sent() -> Any:
    return pickle.loads(pickle.dumps(permit_for("town", "a test")))


def inherited() -> Any:
    class Mine(Permit):
        pass

    return Mine("town", "0" * 64)


FORGED: dict[str, Callable[[], Any]] = {
    "none": lambda: None,
    "a name": lambda: "town",
    "a receipt": lambda: SimpleNamespace(payer=SimpleNamespace(dataset="town"), link="0" * 64),
    "a twin": TwinOfPermit,
    "constructed": lambda: Permit("town", "0" * 64),
    "constructed with a mint": lambda: Permit("town", "0" * 64, mint=object()),
    "without a constructor": lambda: object.__new__(Permit),
    "a subclass": inherited,
    "a copy": copied,
    "a deep copy": deeply_copied,
    "sent": sent,
    "of another dataset": lambda: permit_for("clinic", "a test"),
}
"""Permits that are none, or none for these rows."""

CODES = SealedCodes("SELECT 0 AS c0", Shape(("a",), (1,)), CountSensitivity(), town_source())
READ: Any = SimpleNamespace(
    facts=SimpleNamespace(keys=0),
    draft=SimpleNamespace(sql="SELECT 1 AS n", choice=None, measures={}),
    bounds={},
)
PUBLIC: Any = SimpleNamespace(units=None)

STEPS: dict[str, Callable[[Any], Any]] = {
    "kernel look": lambda reader: look(
        (READ,), PUBLIC, domains=(), groups=[()], reader=reader, rng=None
    ),
    "kernel exact": lambda reader: exact((READ,), PUBLIC, (), [()], reader),
    "publish cells": lambda reader: count_cells(SimpleNamespace(read=READ), None, reader),
    "synth stored": lambda reader: store_codes(reader, CODES),
    "synth straight": lambda reader: unstored_counter(reader, CODES).marginals([(0,)]),
    "synth counter": lambda reader: SqlCounter(reader, "codes", CODES.shape).marginals([(0,)]),
    "synth words": lambda reader: _words(
        SimpleNamespace(sql="SELECT 1"),
        LearningContext(None, reader, None, Fraction(1), town_source(), None),
    ),
    "learn rows": lambda reader: fetch(reader, CODES),
    "learn unit rows": lambda reader: fetch_unit_codes(reader, CODES),
    "learn ratings": lambda reader: fetch_ratings(reader, CODES),
}
"""All that reads private rows."""


def ways() -> Iterator[tuple[str, Callable[[Rows], Any]]]:
    """Yield the name of every way and what it does to rows."""
    for name in ("run", "keep"):
        yield f"held.{name}", lambda rows, name=name: getattr(rows, name)("SELECT 1")
    for name, forged in FORGED.items():
        yield f"paid: {name}", lambda rows, forged=forged: rows.paid(forged()).run("SELECT 1")
        yield f"kept: {name}", lambda rows, forged=forged: rows.paid(forged()).keep("SELECT 1")
        yield (
            f"reader: {name}",
            lambda rows, forged=forged: PaidReader(
                forged(), run=rows._run, keep=rows._keep, private=rows.private
            ).run("SELECT 1"),
        )
    yield "public reader", lambda rows: rows.public_reader("town.people").run("SELECT 1")
    for name, step in STEPS.items():
        yield name, lambda rows, step=step: step(rows)
        yield f"{name}: duck", lambda rows, step=step: step(Duck(rows))
        yield (
            f"{name}: unpaid",
            lambda rows, step=step: step(rows.public_reader("town.streets")),
        )


def opened() -> list[str]:
    """Return the ways on which rows were read."""
    found = []
    for name, way in ways():
        rows = Rows()
        with suppress(Exception):
            way(rows)
        if rows.read:
            found.append(name)
    engine = FakeEngine({"town.people": {}}, answers=ONE)
    with suppress(Exception):
        engine.run("SELECT 1")  # type: ignore[attr-defined]  # that is the point
    return found + (["engine.run"] if engine.ran else [])


def closed() -> list[str]:
    """Return the steps that do not read although they were paid for: then the others say nothing."""
    found = []
    for name, step in STEPS.items():
        rows = Rows()
        with suppress(Exception):
            step(rows.paid(permit_for("town", "a test")))
        if not rows.read:
            found.append(name)
    return found


if __name__ == "__main__":
    try:
        assert not sys.argv, "assertions are on"
    except AssertionError:
        sys.exit("run with -O")
    print(json.dumps({"opened": opened(), "closed": closed()}))
