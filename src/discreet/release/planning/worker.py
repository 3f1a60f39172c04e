"""The child process that plans without an engine: what planning a text costs, it costs here first.

Speaks in frames as `engine.child` does. It holds the catalog, which is public to the server, and
never a ledger, an engine or a row; it can be killed at any time.
"""

from __future__ import annotations

import base64
import json
import math
import os
import pickle
import resource
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing.connection import Connection
from types import FrameType
from typing import Any, cast

from discreet.catalog.catalog import Catalog
from discreet.core.numbers import Epsilon
from discreet.core.requests.question import QuestionFields
from discreet.engine.base import Capabilities, Engine
from discreet.engine.process.limits import limit_memory
from discreet.errors import DiscreetError
from discreet.plan.ir import scans_of
from discreet.plan.plan import ask, make_plan
from discreet.release.bars.epsilon_for_error import expected_errors
from discreet.release.post_processing.constants import nested_in
from discreet.release.request import Request
from discreet.sql.bind import bind
from discreet.sql.parse import ParsedQuestion, parse_everywhere, read, read_checked
from discreet.sql.post_processing.split import split
from discreet.sql.write.statement import render

READ_SECONDS, READ_EACH = 0.1, 1e-5
"""CPU time that reading a text may take in each dialect, and more for each of its characters: compiled code
holds a whole process meanwhile, so that what reading takes, everybody waits for. (Usual texts take a tenth.)"""
GRACE = 1.0
"""Seconds of CPU time that the timer has to be heard, before the system ends the process."""


class _Late(BaseException):
    """The planning has used up its time; not an Exception, so that nothing on the way keeps it."""


def main() -> None:
    """Answer on the socket whose number is the first argument, until the parent is gone."""
    wire = Connection(int(sys.argv[1]))
    setup = json.loads(wire.recv_bytes())
    # What our own parent has pickled: dataclasses of the catalog, and requests.
    catalog, capabilities = pickle.loads(base64.b64decode(setup["catalog"]))  # noqa: S301 see above
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGVTALRM, _late)
    limit_memory(setup["memory_mb"])
    wire.send_bytes(b"K")
    while True:
        try:
            frame = wire.recv_bytes()
        except (EOFError, OSError):
            os._exit(0)
        if frame != b"I":  # an interrupt comes too late to be one: the timer or the kill was first
            end_after(setup["seconds"] + GRACE)
            if frame[:1] == b"T":
                text = frame[1:].decode()
                letter = within(setup["seconds"], partial(read_soon, text, parse_everywhere, 2))
            else:
                asked, datasets = pickle.loads(frame[1:])  # noqa: S301 see above
                letter = judged(asked, datasets, catalog, capabilities, setup["seconds"])
            wire.send_bytes(b"A" + letter)


def judged(
    asked: QuestionFields, datasets: Sequence[str], catalog: Any, capabilities: Any, seconds: float
) -> bytes:
    """Return K if what is asked of `datasets` can be planned within the limits, or the letter of what it lacks."""
    seen = {name: catalog.datasets[name] for name in datasets}

    def work() -> None:
        sql: str | ParsedQuestion = asked.sql
        if isinstance(sql, str):
            read_soon(sql, read, 1)
        try_planning(Request.of_asked(asked), replace(catalog, datasets=seen), capabilities)

    return within(seconds, work)


def read_soon(text: str, reading: Callable[[str], object], dialects: int) -> None:
    """Read a text, and raise if that takes longer than a text of its length may; not for the first time only."""
    allowed = dialects * (READ_SECONDS + READ_EACH * len(text))
    for _ in range(2):  # what is loaded by the first reading is no fault of the text
        begun = time.process_time()
        with suppress(DiscreetError):
            reading(text)
        if time.process_time() - begun <= allowed:
            return
    raise _Late


def within(seconds: float, work: Callable[[], object]) -> bytes:
    """Return K if `work` ends within the limits, or the letter of what it lacks."""
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        work()
    except _Late:
        return b"T"
    except MemoryError:
        return b"M"
    except RecursionError:
        return b"D"
    except DiscreetError:
        return b"K"  # refused, and will be refused in the same words
    except Exception:  # noqa: BLE001  # a mistake of ours: the server is to make it itself, and say so
        return b"F"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return b"K"


def end_after(seconds: float) -> None:
    """Let the system end this process after so much more CPU time.

    The timer's exception waits for the interpreter, and compiled code may not come back to it.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = math.ceil(used.ru_utime + used.ru_stime + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _late(_signal: int, _frame: FrameType | None) -> None:
    raise _Late


@dataclass(frozen=True, slots=True)
class DialectOnlyEngine:
    """As much of an engine as writing SQL for it needs: no connection, no table, no row."""

    capabilities: Capabilities
    names: tuple[str, ...]

    def relation(self, name: str) -> str:
        """Return a name that stands for the table."""
        return f'"{name}"'

    def columns(self, _name: str) -> list[tuple[str, str]]:
        """Return every declared name, as text."""
        return [(name, "VARCHAR") for name in self.names]

    def has(self, _name: str) -> bool:
        """Return that nothing is stored."""
        return False


def try_planning(request: Request, catalog: Catalog, capabilities: Capabilities) -> None:
    """Plan and write the request's SQL, and throw both away; raise what planning it would raise.

    Guarantee: a function of the text, the catalog and the dialect, and the same work that
        `release` does between reading the text and the charge; what it costs here, it costs there.
    """
    tree = read_checked(request.sql)
    nested = nested_in(tree, catalog)
    if nested is not None:
        for inner in nested.private:
            _try_planning_one(
                replace(request, sql=ParsedQuestion("", inner.select)), catalog, capabilities
            )
        tree = nested.sampled(catalog)
        request = replace(request, sql=ParsedQuestion("", tree))
    program = split(tree, catalog)
    if program is None:
        _try_planning_one(request, catalog, capabilities)
        return
    for part in program.parts:
        _try_planning_one(replace(request, sql=ParsedQuestion("", part)), catalog, capabilities)


def _try_planning_one(request: Request, catalog: Catalog, capabilities: Capabilities) -> None:
    statement = bind(request.sql, catalog, max_rows=request.max_rows)
    scans = [scan for scan in scans_of(statement.source) if scan.dataset is not None]
    question = ask(statement, catalog, {scan.table.name: "1" for scan in scans})
    budget = catalog.budget_of(question.dataset)
    epsilon = request.epsilon or Epsilon.of(1)
    plan = make_plan(question, epsilon=epsilon, budget_delta=budget.delta)
    names = {column.name for scan in scans for column in scan.table.columns}
    paper: Any = DialectOnlyEngine(capabilities, tuple(sorted(names)))
    render(question, cast("Engine", paper))
    expected_errors(plan)
