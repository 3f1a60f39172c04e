"""Tell operators before a budget ends: one log line when it passes its owner's mark, and one when it is gone."""

from __future__ import annotations

import asyncio
import logging

from discreet.errors import DiscreetError, LedgerError
from discreet.server.workspace import Workspace

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
