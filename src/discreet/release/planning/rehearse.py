"""Planning a question on paper: all the work that its text can cause, without ledger or rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

from discreet.catalog.catalog import Catalog
from discreet.core.numbers import Epsilon
from discreet.engine.base import Capabilities, Engine
from discreet.plan.ir import scans_of
from discreet.plan.plan import ask, make_plan
from discreet.release.afterwards.constants import nested_in
from discreet.release.bars.within import expected_errors
from discreet.release.request import Request
from discreet.sql.afterwards.split import split
from discreet.sql.bind import bind
from discreet.sql.parse import Written, read_checked
from discreet.sql.write.statement import render


@dataclass(frozen=True, slots=True)
class Paper:
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


def rehearse(request: Request, catalog: Catalog, capabilities: Capabilities) -> None:
    """Plan and write the request's SQL, and throw both away; raise what planning it would raise.

    Guarantee: a function of the text, the catalog and the dialect, and the same work that
        `release` does between reading the text and the charge; what it costs here, it costs there.
    """
    tree = read_checked(request.sql)
    nested = nested_in(tree, catalog)
    if nested is not None:
        for inner in nested.private:
            _rehearse_one(replace(request, sql=Written("", inner.select)), catalog, capabilities)
        tree = nested.sampled(catalog)
        request = replace(request, sql=Written("", tree))
    program = split(tree, catalog)
    if program is None:
        _rehearse_one(request, catalog, capabilities)
        return
    for part in program.parts:
        _rehearse_one(replace(request, sql=Written("", part)), catalog, capabilities)


def _rehearse_one(request: Request, catalog: Catalog, capabilities: Capabilities) -> None:
    statement = replace(bind(request.sql, catalog), max_rows=request.max_rows)
    scans = [scan for scan in scans_of(statement.source) if scan.dataset is not None]
    question = ask(statement, catalog, {scan.table.name: "1" for scan in scans})
    budget = catalog.budget_of(question.dataset)
    epsilon = request.epsilon or Epsilon.of(1)
    plan = make_plan(question, epsilon=epsilon, budget_delta=budget.delta)
    names = {column.name for scan in scans for column in scan.table.columns}
    paper: Any = Paper(capabilities, tuple(sorted(names)))
    render(question, cast("Engine", paper))
    expected_errors(plan)
