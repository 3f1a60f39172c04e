"""A made-up town of the course's own, on which statements are planned and answered while they are graded."""

from __future__ import annotations

import atexit
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from tempfile import TemporaryDirectory

from discreet.ask.plan.expr import TRUE, ColumnRef
from discreet.ask.plan.ir import Aggregate, Filter, Function, Project, Scan
from discreet.ask.sql.bind import bind
from discreet.ask.sql.spelling import priced
from discreet.base.answer import Explanation
from discreet.base.numbers import Epsilon
from discreet.base.requests.paid import QuestionFields
from discreet.curator import Curator, Planner
from discreet.curator import open as open_curator
from discreet.data.catalog.edits import with_totals
from discreet.data.catalog.writer import change_file
from discreet.errors import InvalidInput, TooManyRequests
from discreet.lab.town import town

PEOPLE = 1_000
NEARLY_EXACT = "50"
"""An epsilon at which a count is off with a chance of 4e-22: what an exact desk would say."""
AT_ONCE = 2
"""Statements that are graded at a time: one is planned, one waits; whoever else comes is told at once."""
LONGEST_STATEMENT = 600
"""Characters of a statement in an exercise; all of them can be solved in a line."""
MOST_JOINS = 2
SECONDS, MEMORY_MB = 1.0, 300
"""CPU time and memory that planning a stranger's statement may take, in a child that can be killed."""
_USES = 200
_JOIN = re.compile(r"\bJOIN\b", re.IGNORECASE)
_turns = threading.BoundedSemaphore(AT_ONCE)


class PracticeTown:
    """One town with a budget, opened when first asked and anew after some uses, for one caller at a time.

    Guarantee: it holds made-up people only, in a folder of its own with a ledger of its own, so that no
        answer given here reads anybody's data or spends anybody's budget. Every text is planned in a
        child with limits before it is planned here, however short it is; the lesson alone says what a
        statement may cost, so that nobody can use the town's budget up (note 0067).
    """

    def __init__(self, epsilon: str, *, asked: Sequence[tuple[str, str]] = ()) -> None:
        self._epsilon, self._asked = epsilon, tuple(asked)
        self._lock = threading.Lock()
        self._stack = ExitStack()
        self._curator: Curator | None = None
        self._used = 0
        self._planner = Planner(seconds=SECONDS, memory_mb=MEMORY_MB, spare_short=False)
        atexit.register(self._planner.close)

    def explain(self, sql: str, *, epsilon: str) -> Explanation:
        """Return plan, price and noise of a statement; reads no row."""
        with self._held(sql, epsilon) as curator:
            return curator.explain(sql, epsilon=epsilon)

    def rows_counted(self, sql: str) -> int | None:
        """Return how many rows a plain SELECT COUNT(*) counts, by a desk that adds next to no noise.

        None stands for a statement that is no such count: arithmetic on a count singles nobody out.
        """
        with self._held(sql, NEARLY_EXACT) as curator:
            if not _plain_count(sql, curator):
                return None
            return int(curator.query(sql, epsilon=NEARLY_EXACT, fresh=True).rows[0][0])

    @contextmanager
    def _held(self, sql: str, epsilon: str) -> Iterator[Curator]:
        _refuse_large(sql)
        if not _turns.acquire(blocking=False):
            raise TooManyRequests("Many answers are being graded.", hint="Try again in a moment.")
        try:
            with self._lock:
                if self._curator is None or self._used >= _USES:
                    self._open()
                assert self._curator is not None, "just opened"
                self._used += 1
                self._refuse_unplannable(sql, epsilon, self._curator)
                yield self._curator
        finally:
            _turns.release()

    def _refuse_unplannable(self, sql: str, epsilon: str, curator: Curator) -> None:
        """Refuse what takes too long, found out in the child."""
        asked, catalog = QuestionFields(sql=sql, epsilon=epsilon), curator.catalog
        datasets = tuple(catalog.datasets)
        self._planner.check(catalog, curator.engine.capabilities, asked, datasets=datasets)

    def _open(self) -> None:
        self._stack.close()
        folder = self._stack.enter_context(TemporaryDirectory(prefix="discreet-course-"))
        made = town(PEOPLE, folder=folder, tables=("people",))
        total = {"epsilon": Epsilon.of(self._epsilon).value, "delta": None}
        change_file(made.toml, lambda text: with_totals(text, total))
        self._curator = self._stack.enter_context(open_curator(made.toml))
        for sql, epsilon in self._asked:
            self._curator.query(sql, epsilon=epsilon)
        self._used = 0


def _refuse_large(sql: str) -> None:
    """Refuse what no exercise needs, before anything reads it."""
    if len(sql) > LONGEST_STATEMENT:
        raise InvalidInput(f"A statement here has at most {LONGEST_STATEMENT} characters.")
    if len(_JOIN.findall(sql)) > MOST_JOINS:
        raise InvalidInput(f"No exercise needs more than {MOST_JOINS} joins.")
    if priced(sql).epsilon is not None:
        raise InvalidInput(
            "What a statement costs is part of the exercise.", hint="Leave OPTIONS (...) out."
        )


def _plain_count(sql: str, curator: Curator) -> bool:
    """Return whether a statement counts the rows of one table that meet a condition, and nothing else."""
    asked = bind(sql, curator.catalog)
    rows = asked.source
    while isinstance(rows, Filter | Project):
        rows = rows.source
    aggregates = [each for _, each in asked.aggregates]
    return (
        isinstance(rows, Scan)
        and aggregates == [Aggregate(Function.COUNT)]
        and [value for _, value in asked.outputs] == [ColumnRef(asked.aggregates[0][0])]
        and not (asked.keys or asked.limit is not None or asked.offset)
        and asked.having == TRUE
    )


PLAIN = PracticeTown("100000.0")
"""A town with budget to spare."""
FOUR = (
    ("SELECT COUNT(*) AS n FROM people", "0.5"),
    ("SELECT COUNT(*) AS n FROM people WHERE sex = 'Male'", "0.2"),
    ("SELECT COUNT(*) AS n FROM people WHERE sex = 'Female'", "0.25"),
    ("SELECT COUNT(*) AS n FROM people WHERE age > 20", "0.25"),
)
"""The four questions whose sum is 1.2 and whose worst-hit person pays 1.0."""
ASKED_FOUR = PracticeTown("1.2", asked=FOUR)
"""A town of which the four questions have been asked."""
