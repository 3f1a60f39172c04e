"""What all routes of one server share, and the watch over its budgets."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from starlette.requests import HTTPConnection

from discreet.api import Planner
from discreet.errors import DiscreetError, LedgerError
from discreet.server.access.audit_log import AuditLog
from discreet.server.access.limits import BodiesUnderWay, Buckets
from discreet.server.access.tokens import AccessDb, BrowserSessions, Tokens
from discreet.server.jobs.children import ChildLimits, Children
from discreet.server.jobs.queue import Runner
from discreet.server.logs import Metrics
from discreet.server.settings import Settings
from discreet.server.workspace import Workspace

Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class Context:
    """The settings and the living parts of one server."""

    settings: Settings
    workspace: Workspace
    access: AccessDb
    tokens: Tokens
    sessions: BrowserSessions
    runner: Runner
    children: Children
    planner: Planner
    by_token: Buckets
    by_address: Buckets
    metrics: Metrics
    watch: BudgetWatch
    bodies: BodiesUnderWay = field(default_factory=BodiesUnderWay)
    parts: dict[Callable[[Settings], Any], Any] = field(default_factory=dict)
    """What features keep for their routes, by how it is made."""

    @classmethod
    def open(cls, settings: Settings, *, warm: Sequence[str] = ()) -> Context:
        """Return everything opened and ready; `close` gives it back.

        `warm` are modules that a process imports while it waits for a job.
        """
        AuditLog(settings.state_folder).verify()  # before anything is opened that must be closed
        workspace = Workspace(settings.config)
        access = AccessDb(settings.state_folder)
        tokens = Tokens(access, listed=workspace.lists)
        return cls(
            settings=settings,
            workspace=workspace,
            access=access,
            tokens=tokens,
            sessions=BrowserSessions(access, tokens, hours=settings.session_hours),
            runner=Runner(
                workers=settings.workers,
                in_work_each=settings.in_work_each,
                reading_each=settings.reading_each,
                waiting_each=settings.waiting_each,
            ),
            children=Children(
                settings.state_folder,
                ChildLimits(settings.job_memory_mb, settings.job_seconds),
                hidden=settings.secret_variables,
                spare=settings.spare_child,
                warm=warm,
            ),
            planner=Planner(),
            by_token=Buckets(settings.rate, settings.burst),
            by_address=Buckets(settings.address_rate, settings.address_burst),
            metrics=Metrics(),
            watch=BudgetWatch(workspace),
        )

    def close(self) -> None:
        """Stop taking questions, let running ones end or be cancelled, then close the ledger."""
        self.runner.close()
        self.children.close()
        self.planner.close()
        self.workspace.close()
        self.access.close()


def context_of(connection: HTTPConnection) -> Context:
    """Return the context of the server that answers this request."""
    found: Context = connection.app.state.context
    return found


def kept_once(make: Callable[[Settings], Part]) -> Callable[[HTTPConnection], Part]:
    """Return a function of a request: what `make` has made for its server, once, when first asked for.

    It is how the routes of a feature share a shelf. Making it must be cheap and change nothing: two
    requests at the same time may both do it, and one of the two is kept.
    """

    def found(connection: HTTPConnection) -> Part:
        context = context_of(connection)
        if make not in context.parts:
            context.parts.setdefault(make, make(context.settings))
        part: Part = context.parts[make]
        return part

    return found


WATCH_SECONDS = 5.0
_log = logging.getLogger("discreet.server")


class BudgetWatch:
    """Looks at the budgets of one server every few seconds; spends nothing."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._told: dict[str, str | None] = {}
        self.refused: LedgerError | None = None
        """Why the ledger could not be used when it was last looked at."""

    def look(self) -> dict[str, float]:
        """Return how much of each budget is used, and log the ones whose alert is new."""
        try:
            with self._workspace.last_curator() as curator:
                found = curator.budget_alerts()
        except LedgerError as error:
            self.refused = error
            raise
        self.refused = None
        for budget, facts in found.items():
            alert = facts["alert"]
            if alert is not None and alert != self._told.get(budget):
                said = {"budget": budget, "used": round(facts["used"], 3), "mark": facts["mark"]}
                _log.warning("budget %s", alert, extra={"facts": said})
            self._told[budget] = alert
        return {budget: facts["used"] for budget, facts in found.items()}

    async def watch(self) -> None:
        """Look again and again until cancelled; a ledger that is busy is looked at next time."""
        while True:
            try:
                await asyncio.to_thread(self.look)
            except DiscreetError as error:
                _log.warning(
                    "budgets not looked at", extra={"facts": {"kind": type(error).__name__}}
                )
            await asyncio.sleep(WATCH_SECONDS)
