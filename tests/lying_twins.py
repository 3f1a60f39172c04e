"""For each rule of the kernel: a kernel without it, and a draft that only such a kernel lets through."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from discreet.base.event import Positions
from discreet.base.schema import CategoryDomain
from discreet.base.unit import Neighbours
from discreet.privacy.kernel import (
    canonical,
    facts,
    functions,
    read_duckdb,
    read_sqlglot,
    rows,
    scalars,
    seal,
)
from discreet.privacy.kernel import rows as derive
from discreet.privacy.kernel.functions import Applied
from discreet.privacy.kernel.mechanism import Kind, Stability
from discreet.privacy.kernel.nodes import Apply, Constant, Name
from discreet.privacy.kernel.seal import Draft, MeasureDraft

R = 'canon."town.rows"'
V = 'canon."clinic.visits"'
P = 'canon."clinic.people"'
W = 'canon."clinic.public"'
COUNT = "COUNT(*) AS r0"
SHORT = "CASE WHEN t.c0 > 0 THEN 50000 ELSE 3 END"


def counted(rest: str, *, key: str = "") -> Draft:
    """Return a count of rows, by a key where one is given."""
    head, tail = (f"{key} AS k0, ", " GROUP BY 1") if key else ("", "")
    return Draft(f"SELECT {head}{COUNT} FROM {rest}{tail}", {"m0": MeasureDraft(Kind.ROWS, (0,))})


def added(operand: str, rest: str) -> Draft:
    """Return a sum of one operand."""
    total = f"CAST(SUM(CAST({operand} AS BIGINT)) AS DECIMAL(38, 0))"
    return Draft(f"SELECT {total} AS r0 FROM {rest}", {"m0": MeasureDraft(Kind.SUM, (0,))})


def clamp(operand: str, low: int, high: int) -> str:
    return f"CASE WHEN {operand} > {high} THEN {high} WHEN {operand} < {low} THEN {low} ELSE {operand} END"


def first(table: str, most: int) -> str:
    """Return some rows of each person."""
    return f"(SELECT s.u AS u, s.c1 AS c1, s.c2 AS c2, s.c3 AS c3 FROM {table} AS s WHERE s.r <= {most})"


Patch = Callable[[Any], None]


@dataclass(frozen=True)
class Twin:
    """A rule switched off, and the draft that gives it away."""

    broken: Patch
    draft: Draft
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    sqlglot: bool = False


def _loose_clamp(patch: Any) -> None:
    def clamp_of(term: Any) -> Any:
        match term:
            case Apply(
                name="case",
                operands=(
                    Apply(name=">", operands=(one, Constant(value=int(high)))),
                    _,
                    Apply(name="<", operands=(_, Constant(value=int(low)))),
                    _,
                    _,
                ),
            ):
                return one, low, high
        return None

    patch.setattr(scalars, "clamp_of", clamp_of)
    patch.setattr(facts, "clamp_of", clamp_of)


def _always(module: Any, name: str, value: Any) -> Patch:
    return lambda patch: patch.setattr(module, name, lambda *_args, **_options: value)


def _around(module: Any, name: str, change: Callable[..., Any]) -> Patch:
    """Return a patch that calls `change(original, ...)` in place of a function."""
    original = getattr(module, name)
    return lambda patch: patch.setattr(module, name, lambda *a, **o: change(original, *a, **o))


def _joined_unbounded(original: Any, one: Any, two: Any, *rest: Any, **options: Any) -> Any:
    return original(
        replace(one, rows=one.rows or 1), replace(two, rows=two.rows or 1), *rest, **options
    )


def _joined_by_max(original: Any, one: Any, two: Any, *rest: Any, **options: Any) -> Any:
    return replace(original(one, two, *rest, **options), rows=max(one.rows, two.rows))


def _joined_as_inner(original: Any, *rest: Any, left: bool) -> Any:
    return original(*rest, left=False)


def _without_not(original: Any, term: Any, *rest: Any) -> Any:
    stripped = term.operands[0] if isinstance(term, Apply) and term.name == "not" else term
    return original(stripped, *rest)


def _without_null(original: Any, name: str, *rest: Any) -> Any:
    return Positions(()) if name == "is null" else original(name, *rest)


def _by_list(original: Any, term: Any, column: Any, domain: Any) -> Any:
    match term:
        case Apply(name="<", operands=(_, Constant(value=str(text)))) if isinstance(
            domain, CategoryDomain
        ):
            return Positions.of([(0, (domain.position(text) or 0) - 1)])
    return original(term, column, domain)


def _any_group(original: Any, select: Any, alias: str, below: Any) -> Any:
    return original(select, alias, replace(below, units=below.units | set(select.group)))


def _unchecked_block(select: Any, alias: str, catalog: Any) -> Any:
    below = derive.filtered(select, catalog)
    return derive._projected(select, alias, below)


def _finer(original: Any, test: Any, below: Any) -> Any:
    found = original(test, below)
    return None if found is None else (found[0] & below.units, found[1])


def _billed_by_anything(
    original: Any, name: str, declared: Any, alias: str, *r: Any, **o: Any
) -> Any:
    found = original(name, declared, alias, *r, **o)
    axis = derive.BilledAxis((name, 1), declared.table.columns[1].domain)
    return replace(found, axes={**found.axes, Name(alias, "c1"): axis})


def _as_add_remove(original: Any, *rest: Any) -> Any:
    return replace(original(*rest), neighbours=Neighbours.ADD_REMOVE)


def _unread(module: Any) -> Patch:
    name = "_only" if module is read_duckdb else "_args"
    given = (lambda node, **_o: node) if module is read_duckdb else (lambda node, *_a: node.args)
    return lambda patch: patch.setattr(module, name, given)


def _ranked_by_w(stored: Any, own: Any, source: Any) -> Any:
    found = stored(own, source)
    within = Name(source.alias, "w")
    return replace(found, rank=frozenset({within})) if within in found.values else found


def _equal_is_one(numbered: Any, test: Any, below: Any) -> Any:
    match test:
        case Apply(name="=", operands=(Name() as name, Constant())) if name in below.numbers:
            return below.numbers[name], 1
    return numbered(test, below)


TWINS: dict[str, Twin] = {
    "the integers of a clamp": Twin(
        _loose_clamp,
        added("CASE WHEN t.c1 > 4 THEN 900 WHEN t.c1 < 0 THEN 0 ELSE t.c1 END", f"{R} AS t"),
    ),
    "each value of a choice": Twin(
        _always(facts, "_choice", (0, 1)),
        added("CASE WHEN t.c1 > 3 THEN 900 ELSE t.c1 END", f"{R} AS t"),
    ),
    "a clamp at all": Twin(_always(facts, "_bounds", (0, 1)), added("t.c1 + t.c1", f"{R} AS t")),
    "an order without ties": Twin(
        _always(derive, "_total", True),
        added(
            "t.c2",
            "(SELECT v.u AS u, v.c2 AS c2, ROW_NUMBER() OVER (PARTITION BY v.u ORDER BY v.u) AS n "
            f"FROM {V} AS v) AS t WHERE t.n <= 1",
        ),
    ),
    "w tells no rows apart": Twin(
        _around(canonical.CatalogScans, "stored", _ranked_by_w),
        added(
            "t.c2",
            "(SELECT v.u AS u, v.c2 AS c2, ROW_NUMBER() OVER (PARTITION BY v.u ORDER BY v.w) AS n "
            f"FROM {V} AS v) AS t WHERE t.n <= 1",
        ),
    ),
    "w is a bound and nothing finer": Twin(
        _around(derive, "_numbered", _equal_is_one),
        counted(f"{V} AS t WHERE t.w = 3"),
    ),
    "joins on the unit": Twin(
        _always(derive, "_pairs_units", True),
        counted(f"{first(V, 2)} AS a INNER JOIN {first(V, 2)} AS b ON a.c1 = b.c1"),
    ),
    "bounded before joined": Twin(
        _around(derive, "_units_joined", _joined_unbounded),
        counted(
            f"(SELECT v.u AS u FROM {V} AS v) AS a INNER JOIN (SELECT v.u AS u FROM {V} AS v) AS b "
            "ON a.u = b.u"
        ),
    ),
    "rows multiply": Twin(
        _around(derive, "_units_joined", _joined_by_max),
        counted(f"{first(V, 2)} AS a INNER JOIN {first(V, 2)} AS b ON a.u = b.u"),
    ),
    "no region from the right of a left join": Twin(
        _around(derive, "_units_joined", _joined_as_inner),
        counted(
            f"{first(V, 2)} AS a LEFT JOIN (SELECT p.u AS u FROM {P} AS p WHERE p.r <= 1 AND p.c1 = 3) "
            "AS b ON a.u = b.u"
        ),
    ),
    "NULL is a position": Twin(
        _around(rows, "_tested", _without_null), counted(f"{R} AS t WHERE t.c0 IS NULL")
    ),
    "NOT turns a condition": Twin(
        _around(derive, "positions_of", _without_not), counted(f"{R} AS t WHERE NOT (t.c0 = 1)")
    ),
    "texts are ordered by their letters": Twin(
        _around(derive, "positions_of", _by_list), counted(f"{R} AS t WHERE t.c2 < 'y'")
    ),
    "only constant columns split the bill": Twin(
        _around(canonical, "_rows", _billed_by_anything),
        counted(f"{V} AS t WHERE t.r <= 3 AND t.c1 = 3"),
    ),
    "windows within a unit": Twin(
        _around(derive, "_window", lambda f, term, below: f(term, replace(below, private=()))),
        added(
            "t.m",
            f"(SELECT v.u AS u, v.r AS r, MIN(v.c2) OVER (PARTITION BY v.c1) AS m FROM {V} AS v) AS t "
            "WHERE t.r <= 1",
        ),
    ),
    "groups within a unit": Twin(
        _around(derive, "_per_unit", _any_group),
        added("t.a", f"(SELECT v.c1 AS c1, MAX(v.c2) AS a FROM {V} AS v GROUP BY v.c1) AS t"),
    ),
    "rows numbered within the unit": Twin(
        _around(derive, "_numbered", _finer),
        counted(
            "(SELECT v.u AS u, v.c1 AS c1, ROW_NUMBER() OVER (PARTITION BY v.u, v.c1 ORDER BY v.r) AS n "
            f"FROM {V} AS v) AS t WHERE t.n <= 1"
        ),
    ),
    "rows are bounded": Twin(
        _around(facts, "filtered", lambda f, *a: replace(f(*a), rows=1)), counted(f"{V} AS t")
    ),
    "copies of public rows": Twin(
        _around(derive, "_public_joined", lambda f, one, *a: replace(f(one, *a), rows=one.rows)),
        counted(f"{R} AS t INNER JOIN {W} AS w ON t.c0 = w.c0"),
    ),
    "a unit in several groups": Twin(
        _around(seal, "facts_of", lambda f, *a: replace(f(*a), single=True)),
        Draft(
            f"SELECT t.c1 AS k0, COUNT(DISTINCT t.u) AS r0 FROM {V} AS t WHERE t.r <= 3 GROUP BY 1",
            {"m0": MeasureDraft(Kind.UNITS, (0,))},
        ),
    ),
    "groups that move are counted": Twin(
        lambda patch: patch.setattr(Stability, "coordinates", property(lambda _self: 1)),
        counted(f"{V} AS t WHERE t.r <= 3", key="t.c1"),
    ),
    "replaced units": Twin(
        _around(seal, "dataset_of", _as_add_remove),
        counted(f"{R} AS t", key="t.c0"),
        Neighbours.REPLACE_ONE,
    ),
    "64 bits": Twin(
        lambda patch: patch.setattr(functions, "WIDEST", 2**200),
        counted(f"{R} AS t WHERE t.c1 * 9223372036854775807 > 5"),
    ),
    "short numbers stay short": Twin(
        _around(scalars, "_case", lambda f, *a: replace(f(*a), wide=True)),
        counted(f"{R} AS t WHERE {clamp(SHORT, 0, 60000)} * {clamp(SHORT, 0, 60000)} > 5"),
    ),
    "only listed functions": Twin(
        lambda patch: patch.setitem(
            scalars.RULES, "cast bigint", Applied(lambda *_a: functions.integer(0, 9))
        ),
        counted(f"{R} AS t WHERE CAST(t.c2 AS BIGINT) > 5"),
    ),
    "two outputs of one name": Twin(
        lambda patch: patch.setattr(derive, "_block", _unchecked_block),
        added("t.a", f"(SELECT s.c1 AS a, s.c0 AS a FROM {R} AS s) AS t"),
    ),
    "names that differ in case": Twin(
        _always(derive, "check_name", None),
        added('t."A"', f'(SELECT s.c1 AS a, s.c0 AS "A" FROM {R} AS s) AS t'),
    ),
    "a measure of one operand": Twin(
        _around(facts, "_output", lambda f, *a: replace(f(*a), term=None)),
        Draft(
            f"SELECT CAST(SUM(CAST({clamp('t.c1', 0, 4)} AS BIGINT)) AS DECIMAL(38, 0)) AS r0, "
            f"COUNT(t.c0) AS r1 FROM {R} AS t",
            {"m0": MeasureDraft(Kind.CENTRED, (0, 1), 4)},
        ),
    ),
    "the sensitivity of a choice": Twin(
        _around(seal, "_selection", lambda f, *a: replace(f(*a), sensitivity=Fraction(1, 9))),
        Draft(f"SELECT t.c0 AS k0, {COUNT} FROM {R} AS t GROUP BY 1", {}, choice="q0"),
    ),
    "HAVING is read": Twin(
        _unread(read_duckdb),
        Draft(
            f"SELECT t.c0 AS k0, {COUNT} FROM {R} AS t GROUP BY 1 HAVING COUNT(*) > 1",
            {"m0": MeasureDraft(Kind.ROWS, (0,))},
        ),
    ),
    "LIMIT is read": Twin(
        _unread(read_duckdb), added("t.c0", f"(SELECT s.c0 AS c0 FROM {R} AS s LIMIT 2) AS t")
    ),
    "HAVING is read elsewhere": Twin(
        _unread(read_sqlglot),
        Draft(
            f"SELECT t.c0 AS k0, {COUNT} FROM {R} AS t GROUP BY 1 HAVING COUNT(*) > 1",
            {"m0": MeasureDraft(Kind.ROWS, (0,))},
        ),
        sqlglot=True,
    ),
    "LIMIT is read elsewhere": Twin(
        _unread(read_sqlglot),
        added("t.c0", f"(SELECT s.c0 AS c0 FROM {R} AS s LIMIT 2) AS t"),
        sqlglot=True,
    ),
}
