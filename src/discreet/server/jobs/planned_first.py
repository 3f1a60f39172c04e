"""The curator as the server asks it: every text is tried by the planner before it is planned."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from discreet.api import Curator, Planner
from discreet.catalog.catalog import Catalog
from discreet.core.answers.answer import Answer
from discreet.core.requests.question import QuestionFields
from discreet.server.access.asked_as import AskedAs
from discreet.server.jobs.queue import Job, Standing
from discreet.server.jobs.watched import watched
from discreet.server.workspace import Workspace


class _PlannedFirst(Curator):
    """Refuses what cannot be planned within the planner's limits; passes on everything else."""

    def __init__(self, inner: Curator, whole: Catalog, planner: Planner) -> None:
        super().__init__(inner.catalog, ledger=inner.ledger, engine=inner.engine, rng=inner.rng)
        self._whole, self._planner = whole, planner

    def query(self, sql: Any, **asked: Any) -> Answer:
        self._try(sql, **asked)
        return super().query(sql, **asked)

    def explain(self, sql: Any, **asked: Any) -> Any:
        self._try(sql, **asked)
        return super().explain(sql, **asked)

    def rehearse(self, sql: Any, *, seed: int, **asked: Any) -> Answer:
        self._try(sql, **asked)
        return super().rehearse(sql, seed=seed, **asked)

    def columns(self, sql: Any) -> Any:
        self._try(sql, epsilon=1)
        return super().columns(sql)

    def _try(self, sql: Any, **asked: Any) -> None:
        question, datasets = QuestionFields(sql=sql, **asked), tuple(self.catalog.datasets)
        self._planner.check(self._whole, self.engine.capabilities, question, datasets=datasets)


def planned_first(curator: Curator, whole: Catalog, planner: Planner) -> Curator:
    """Return `curator`, a view of the catalog `whole`, behind the planner."""
    return _PlannedFirst(curator, whole, planner)


def standing_of(
    workspace: Workspace, request_id: str | None, analyst: str | None
) -> Standing | None:
    """Return what looks up what became of the charge under an id, in the ledger in force then."""
    if not request_id:
        return None

    def look() -> str | None:
        with workspace.last_curator() as curator:
            return curator.standing(request_id, analyst=analyst)

    return look


@contextmanager
def curator_for(
    job: Job,
    workspace: Workspace,
    payer: AskedAs,
    *,
    planner: Planner | None = None,
) -> Iterator[Curator]:
    """Lend the curator in force as `payer` sees it, watched by `job`: cancelling it stops what is read.

    With a `planner`, texts are tried by it before they are planned.
    """
    with workspace.curator() as curator:
        job.stop = lambda thread: curator.engine.cancel(thread=thread)
        try:
            seen = watched(
                curator.seen_by(payer.analyst), tell=job.tell, turn=job.turn, asker=payer.asker
            )
            yield seen if planner is None else planned_first(seen, curator.catalog, planner)
        finally:
            job.stop = None
