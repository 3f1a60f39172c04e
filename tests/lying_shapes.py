"""Some forty shapes of final SQL that the kernel accepts, for databases that are enumerated."""

from __future__ import annotations

from discreet.privacy.kernel.mechanism import Kind
from discreet.privacy.kernel.seal import Draft, MeasureDraft
from lying_twins import P, R, V, W, added, clamp, counted, first

_CUT = (
    "(SELECT k.c0 AS c0, k.c1 AS c1 FROM (SELECT w.c0 AS c0, w.c1 AS c1, ROW_NUMBER() OVER (PARTITION BY "
    f"w.c0 ORDER BY w.c0, w.c1) AS n FROM {W} AS w) AS k WHERE k.n <= {{}})"
)
_PER_UNIT = f"(SELECT v.u AS u, {{}} AS a FROM {V} AS v GROUP BY v.u)"
_OWN = "CASE WHEN t.a > 4 THEN 4 WHEN t.a < 0 THEN 0 ELSE CAST(t.a AS BIGINT) END"
_NUMBERED = (
    "(SELECT v.u AS u, v.c1 AS c1, v.c2 AS c2, ROW_NUMBER() OVER (PARTITION BY v.u ORDER BY v.r) AS n "
    f"FROM {V} AS v)"
)


def _one(expression: str, kind: Kind, rest: str, key: str = "") -> Draft:
    head, tail = (f"{key} AS k0, ", " GROUP BY 1") if key else ("", "")
    return Draft(
        f"SELECT {head}{expression} AS r0 FROM {rest}{tail}", {"m0": MeasureDraft(kind, (0,))}
    )


def _spread(operand: str, rest: str) -> Draft:
    held = f"CAST({operand} AS BIGINT)"
    outputs = (
        f"SUM(CAST({held} * {held} AS BIGINT)) AS r0, CAST(SUM({held}) AS DECIMAL(38, 0)) AS r1, "
        f"COUNT({operand}) AS r2"
    )
    measures = {
        "m0": MeasureDraft(Kind.SQUARES, (0, 1, 2), 3),
        "m1": MeasureDraft(Kind.CENTRED, (1, 2), 3),
        "m2": MeasureDraft(Kind.PRESENT, (2,)),
    }
    return Draft(f"SELECT {outputs} FROM {rest}", measures)


SHAPES: dict[str, Draft] = {
    "rows": counted(f"{R} AS t"),
    "rows by a number": counted(f"{R} AS t", key="t.c0"),
    "rows by a text": counted(f"{R} AS t", key="t.c2"),
    "rows by an expression": counted(f"{R} AS t", key="COALESCE(t.c0, 3)"),
    "rows of a number": counted(f"{R} AS t WHERE t.c0 = 3"),
    "rows of no number": counted(f"{R} AS t WHERE t.c0 IS NULL"),
    "rows of either": counted(f"{R} AS t WHERE t.c0 < 0 OR t.c2 = 'x'"),
    "rows of neither": counted(f"{R} AS t WHERE NOT (t.c0 = 3 OR t.c2 = 'y')"),
    "rows in a list": counted(f"{R} AS t WHERE t.c1 IN (0, 5) AND t.c0 BETWEEN -2 AND 0"),
    "present": _one("COUNT(t.c0)", Kind.PRESENT, f"{R} AS t"),
    "distinct": _one("COUNT(DISTINCT t.c1)", Kind.DISTINCT, f"{R} AS t"),
    "distinct by group": _one("COUNT(DISTINCT t.c1)", Kind.DISTINCT, f"{R} AS t", "t.c0"),
    "sum": added("t.c1", f"{R} AS t"),
    "sum of a clamp": added(clamp("t.c1 * 7", -3, 9), f"{R} AS t"),
    "sum of a high clamp": added(clamp("t.c0", 5, 9), f"{R} AS t"),
    "sum of a case": added(clamp("CASE WHEN t.c0 > 0 THEN t.c1 ELSE 7 END", 0, 8), f"{R} AS t"),
    "spread": _spread(clamp("t.c0", -2, 3), f"{R} AS t"),
    "spread of a column": _spread("t.c1", f"{R} AS t"),
    "subquery": added("q.e", f"(SELECT t.c1 AS e FROM {R} AS t WHERE t.c0 > 0) AS q"),
    "names that change places": added(
        "t.c0", f"(SELECT t.c1 AS c0, t.c0 AS c1 FROM {R} AS t) AS t"
    ),
    "public": counted(f"{R} AS t INNER JOIN {_CUT.format(1)} AS x ON t.c0 = x.c0"),
    "public twice": counted(f"{R} AS t INNER JOIN {_CUT.format(2)} AS x ON t.c0 = x.c0"),
    "public kept": added("x.c1", f"{R} AS t LEFT JOIN {_CUT.format(2)} AS x ON t.c0 = x.c0"),
    "public by its column": counted(
        f"{R} AS t LEFT JOIN {_CUT.format(2)} AS x ON t.c0 = x.c0", key="x.c1"
    ),
    "visits": counted(f"{V} AS t WHERE t.r <= 1"),
    "visits twice": counted(f"{V} AS t WHERE t.r <= 2 AND t.c1 = 3"),
    "visits by a number": counted(f"{V} AS t WHERE t.r <= 3", key="t.c1"),
    "visits numbered": added("t.c2", f"{_NUMBERED} AS t WHERE t.n <= 1"),
    "visits numbered twice": added("t.c2", f"{_NUMBERED} AS t WHERE t.n <= 3 AND t.n <= 2"),
    "units": _one("COUNT(DISTINCT t.u)", Kind.UNITS, f"{V} AS t"),
    "units of some rows": _one(
        "COUNT(DISTINCT CASE WHEN t.c1 = 3 THEN t.u END)", Kind.UNITS, f"{V} AS t"
    ),
    "units by a number": _one(
        "COUNT(DISTINCT t.u)", Kind.UNITS, f"{V} AS t WHERE t.r <= 2", "t.c1"
    ),
    "units by a constant": _one("COUNT(DISTINCT t.u)", Kind.UNITS, f"{P} AS t", "t.c1"),
    "own count": added(_OWN, f"{_PER_UNIT.format('COUNT(*)')} AS t"),
    "own sum": added(_OWN, f"{_PER_UNIT.format('SUM(CAST(v.c2 AS BIGINT))')} AS t"),
    "own least": added("t.a", f"{_PER_UNIT.format('MIN(v.c2)')} AS t"),
    "own distinct": added(_OWN, f"{_PER_UNIT.format('COUNT(DISTINCT v.c1)')} AS t"),
    "own groups": counted(
        f"(SELECT v.u AS u, v.c1 AS c1 FROM {V} AS v WHERE v.r <= 2 GROUP BY v.u, v.c1) AS t",
        key="t.c1",
    ),
    "a window of one's own": added(
        "t.m",
        f"(SELECT v.u AS u, v.r AS r, MAX(v.c2) OVER (PARTITION BY v.u) AS m FROM {V} AS v) AS t "
        "WHERE t.r <= 2",
    ),
    "joined": counted(f"{first(V, 2)} AS a INNER JOIN {first(P, 2)} AS b ON a.u = b.u"),
    "joined and kept": added(
        "b.c2", f"{first(V, 2)} AS a LEFT JOIN {first(P, 1)} AS b ON a.u = b.u"
    ),
    "joined to itself": counted(f"{first(V, 2)} AS a INNER JOIN {first(V, 2)} AS b ON a.u = b.u"),
    "joined, by a constant": counted(
        f"{first(V, 1)} AS a INNER JOIN {first(P, 1)} AS b ON a.u = b.u", key="b.c3"
    ),
    "visits and a public table": counted(
        f"{first(V, 2)} AS a INNER JOIN {_CUT.format(2)} AS x ON a.c1 = x.c0", key="x.c1"
    ),
    "spread of visits": _spread(clamp("t.c2", -5, 3), f"{V} AS t WHERE t.r <= 2"),
}
