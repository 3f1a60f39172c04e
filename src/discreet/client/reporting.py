"""What a server tells about its catalog: what may be asked, what is spent and left, and what was answered."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

from discreet.client.connection import ServerConnection
from discreet.core.answers.answer import Answer
from discreet.core.display.budget_report import BudgetReport
from discreet.errors import NotAllowed, UnknownName


class RemoteReporting(ServerConnection):
    """Catalog, budgets and history of a server, as plain values."""

    def budget_report(self) -> BudgetReport:
        """Return what is spent and left: your own share, or everything for an owner."""
        return BudgetReport(self._call("GET", "/budget"))

    def outline(self) -> dict[str, Any]:
        """Return the datasets that you may ask: tables, columns, domains, and what is left."""
        return self._call("GET", "/catalog")

    def warnings(self) -> tuple[str, ...]:
        """Return what the owner should look at in the catalog. For the owner only."""
        found = self.outline()
        if "warnings" not in found:
            raise NotAllowed("What is doubtful in the catalog is for the owner only.")
        return tuple(found["warnings"])

    def versions(self, dataset: str | None = None) -> list[dict[str, Any]]:
        """Return which version of the tables questions read, and whether their rows are others by now.

        For the owner only.
        """
        asked = "" if dataset is None else f"?dataset={quote(dataset, safe='')}"
        found: list[dict[str, Any]] = self._call("GET", f"/data/versions{asked}")["versions"]
        return found

    def refresh(
        self, dataset: str | None = None, *, table: str | None = None
    ) -> list[dict[str, Any]]:
        """Let questions read the rows as they are now, and return the versions that have begun.

        Everybody who may ask can see that a version began. For the owner only.
        """
        asked = {"dataset": dataset, "table": table}
        found: list[dict[str, Any]] = self._call("POST", "/data/versions", asked)["versions"]
        return found

    def history(self, *, last: int = 50) -> list[dict[str, Any]]:
        """Return the latest charges, latest first: your own, or all for an owner."""
        entries: list[dict[str, Any]] = self._call("GET", f"/history?last={int(last)}")["entries"]
        return entries

    def stored_answer(self, request_id: str, *, analyst: str | None = None) -> Answer | None:
        """Return an answer that was paid for before, free of charge, if there is one.

        An owner may name the analyst whose share paid for it.
        """
        named = "" if analyst is None else f"?{urlencode({'analyst': analyst})}"
        try:
            found = self._call("GET", f"/answers/{quote(request_id, safe='')}{named}")
        except UnknownName:
            return None
        return Answer.from_json(found)
