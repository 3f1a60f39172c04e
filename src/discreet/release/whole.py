"""The whole way of a statement: one private question, or several and what is done with the results."""

from __future__ import annotations

from discreet.catalog.catalog import Catalog
from discreet.core.answer import Answer
from discreet.core.explanation import Explanation
from discreet.core.output import OutputColumn
from discreet.engine.base import Engine
from discreet.ledger.ledger import Ledger
from discreet.noise.rng import Rng
from discreet.release import pipeline, shape
from discreet.release.afterwards.explain import explain_steps
from discreet.release.afterwards.release import release_steps
from discreet.release.afterwards.tables import Surroundings, columns_of
from discreet.release.request import Request
from discreet.sql.afterwards.needed import units_of
from discreet.sql.afterwards.program import Program
from discreet.sql.afterwards.split import split
from discreet.sql.parse import Written, read_checked
from discreet.sql.refuse import refusal


def release(
    request: Request, *, catalog: Catalog, ledger: Ledger, engine: Engine, rng: Rng
) -> Answer:
    """Return the private answer to a statement.

    Guarantee: each private question in it is released by `pipeline.release`, with its own charge
        before its own look; everything else is computed from their answers and public tables.
    """
    before = pipeline.told_before(request, ledger)
    if before is not None:
        return before  # whatever its tables are called by now
    program = _checked(request, catalog)
    if program is None:
        return pipeline.release(request, catalog=catalog, ledger=ledger, engine=engine, rng=rng)
    return release_steps(program, request, Surroundings(catalog, ledger, engine), rng)


def explain(
    request: Request,
    *,
    catalog: Catalog,
    ledger: Ledger,
    engine: Engine,
    group_size: int | None = None,
) -> Explanation:
    """Return the plan, the price and the expected error of a statement; spends nothing.

    `group_size` names rows of a group for which means, variances and quantiles tell theirs; what is
    computed afterwards tells none.
    """
    program = _checked(request, catalog)
    if program is None:
        return pipeline.explain(
            request, catalog=catalog, ledger=ledger, engine=engine, group_size=group_size
        )
    return explain_steps(program, request, Surroundings(catalog, ledger, engine))


def shape_of(
    sql: str | Written, *, catalog: Catalog, ledger: Ledger, engine: Engine
) -> tuple[OutputColumn, ...]:
    """Return the columns of the answer to `sql`. Depends on public facts only; spends nothing."""
    program = steps(sql, catalog)
    if program is None:
        return shape.shape_of(sql, catalog=catalog, ledger=ledger, engine=engine)
    return columns_of(program, Surroundings(catalog, ledger, engine))


def _checked(request: Request, catalog: Catalog) -> Program | None:
    tree = read_checked(request.sql)
    if request.unit is not None:
        units = units_of(tree, catalog)
        if units != {request.unit.lower()}:
            raise refusal("other unit", what=request.unit[:40], unit=" and ".join(units) or "none")
    return split(tree, catalog)


def steps(sql: str | Written, catalog: Catalog) -> Program | None:
    """Return the steps of a statement, None where it is one private question."""
    return split(read_checked(sql), catalog)
