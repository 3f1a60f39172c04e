"""A made-up town of the course's own, on which statements are planned and answered while they are graded."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from discreet.api import Curator
from discreet.api import open as open_curator
from discreet.core.answer import Answer
from discreet.core.explanation import Explanation
from discreet.errors import TooManyRequests
from discreet.examples import town

PEOPLE = 1_000
NEARLY_EXACT = "50"
"""An epsilon at which a count is off with a chance of 4e-22: what an exact desk would say."""
_PATIENCE = 20.0
_USES = 200


class Bench:
    """One town with a budget, opened when first asked and anew after some uses, for one caller at a time.

    Guarantee: it holds made-up people only, in a folder of its own with a ledger of its own, so that no
        answer given here reads anybody's data or spends anybody's budget.
    """

    def __init__(self, epsilon: str, *, asked: Sequence[tuple[str, str]] = ()) -> None:
        self._epsilon, self._asked = epsilon, tuple(asked)
        self._lock = threading.Lock()
        self._stack = ExitStack()
        self._curator: Curator | None = None
        self._used = 0

    def explain(self, sql: str, *, epsilon: str) -> Explanation:
        """Return plan, price and noise of a statement; reads no row."""
        with self._held() as curator:
            return curator.explain(sql, epsilon=epsilon)

    def count(self, sql: str) -> Answer:
        """Return the answer of a desk that adds next to no noise."""
        with self._held() as curator:
            return curator.query(sql, epsilon=NEARLY_EXACT, fresh=True)

    @contextmanager
    def _held(self) -> Iterator[Curator]:
        if not self._lock.acquire(timeout=_PATIENCE):
            raise TooManyRequests("Many answers are being graded.", hint="Try again in a moment.")
        try:
            if self._curator is None or self._used >= _USES:
                self._open()
            assert self._curator is not None, "just opened"
            self._used += 1
            yield self._curator
        finally:
            self._lock.release()

    def _open(self) -> None:
        self._stack.close()
        folder = self._stack.enter_context(TemporaryDirectory(prefix="discreet-course-"))
        made = town(PEOPLE, folder=folder, tables=("people",))
        _with_budget(made.toml, self._epsilon)
        self._curator = self._stack.enter_context(open_curator(made.toml))
        for sql, epsilon in self._asked:
            self._curator.query(sql, epsilon=epsilon)
        self._used = 0


def _with_budget(toml: Path, epsilon: str) -> None:
    """Write another budget into the town's own file, which was just made."""
    text = toml.read_text(encoding="utf-8")
    text = text.replace("epsilon = 1.0\ndelta = 1e-9\n", f"epsilon = {epsilon}\n")
    toml.write_text(text, encoding="utf-8")


PLAIN = Bench("100000.0")
"""A town with budget to spare."""
FOUR = (
    ("SELECT COUNT(*) AS n FROM people", "0.5"),
    ("SELECT COUNT(*) AS n FROM people WHERE sex = 'Male'", "0.2"),
    ("SELECT COUNT(*) AS n FROM people WHERE sex = 'Female'", "0.25"),
    ("SELECT COUNT(*) AS n FROM people WHERE age > 20", "0.25"),
)
"""The four questions whose sum is 1.2 and whose worst-hit person pays 1.0."""
ASKED_FOUR = Bench("1.2", asked=FOUR)
"""A town of which the four questions have been asked."""
