"""Questions that are short to write and long to plan."""

from __future__ import annotations


def _chained(count: int, inner: str) -> str:
    """Return WITH clauses of which each reads the one before; `inner` says what of {p}."""
    parts = ["c0 AS (SELECT age AS a, balance AS b, sex AS s FROM people)"]
    parts += [
        f"c{i} AS (SELECT {inner.format(p=f'c{i - 1}')} FROM c{i - 1})" for i in range(1, count)
    ]
    return f"WITH {', '.join(parts)} SELECT SUM(a) FROM c{count - 1}"


def _doubled(count: int, expression: str, select: str = "SUM(a)") -> str:
    sql = "SELECT age AS a, balance AS b, sex AS s FROM people"
    for i in range(count):
        sql = f"SELECT {expression} AS a, b, s FROM ({sql}) AS t{i}"
    return f"SELECT {select} FROM ({sql}) AS t"


def _twice(count: int) -> str:
    """Return WITH clauses that each join the one before to itself."""
    parts = ["c0 AS (SELECT person, cost FROM visits)"]
    parts += [
        f"c{i} AS (SELECT x.person, x.cost FROM c{i - 1} x JOIN c{i - 1} y ON x.person = y.person)"
        for i in range(1, count)
    ]
    return f"WITH {', '.join(parts)} SELECT COUNT(*) FROM c{count - 1}"


def _nested(count: int, pattern: str, start: str = "age") -> str:
    found = start
    for _ in range(count):
        found = pattern.format(x=found)
    return found


def _aliases(count: int, pattern: str) -> str:
    outputs = [
        "COUNT(*) AS a0",
        *(f"{pattern.format(p=f'a{i}')} AS a{i + 1}" for i in range(count)),
    ]
    return f"SELECT {', '.join(outputs)} FROM people"


EACH = [
    "a + a", "a * 2 + a", "GREATEST(a, a)", "LEAST(a, 5, a)", "COALESCE(a, a)", "a - a + a",
    "CASE WHEN a > 3 THEN a ELSE a END", "ABS(a) + ABS(a)", "a % 7 + a % 5", "NULLIF(a, a + 1)",
    "CASE WHEN a IN (1, 2) THEN a END + a", "-a + a", "FLOOR(a) + a // 2", "clamp(a, 0, 5) + a",
]  # fmt: skip
DEEP = [
    "({x} + 1)", "GREATEST({x}, 3)", "LEAST({x}, {x})", "-({x})", "ABS({x})", "COALESCE({x}, 0)",
    "CASE WHEN {x} > 3 THEN 1 ELSE 0 END", "NULLIF({x}, 3)", "clamp({x}, 0, 5)", "ROUND({x})",
    "width_bucket({x}, 0, 10, 5)", "(NOT {x} > 3)::INT", "CAST({x} AS DOUBLE)", "({x})", "{x} % 9",
    "LENGTH(UPPER({x}::TEXT))", "(SELECT {x})", "IF({x} IN (1, 2), 1, 2)", "({x} * {x})",
]  # fmt: skip


def bombs() -> dict[str, str]:
    """Return at least a hundred, by what they are."""
    found: dict[str, str] = {}
    for expression in EACH:
        for count in (12, 30, 60):
            found[f"{count} times {expression}"] = _doubled(count, expression)
    for expression in EACH[:4]:
        found[f"keys of {expression}"] = _doubled(13, expression, "a, COUNT(*)") + " GROUP BY a"
        found[f"where of {expression}"] = _doubled(13, expression, "COUNT(*)") + " WHERE a > 3"
    for pattern in DEEP:
        many = pattern.count("{x}") > 1  # these double the text itself
        for count in (6, 9, 11) if many else (20, 90, 2000):
            found[f"{count} deep {pattern}"] = f"SELECT SUM({_nested(count, pattern)}) FROM people"
    for pattern in DEEP[:2]:
        deep = _nested(40, pattern, "born - DATE '1990-01-01'")
        found[f"dates {pattern}"] = f"SELECT SUM({deep}) FROM people"
    for pattern in (
        "{p} + {p}",
        "GREATEST({p}, {p})",
        "SQRT({p} * {p})",
        "STDDEV(age) + {p} + {p}",
    ):
        for count in (15, 60):
            found[f"{count} aliases {pattern}"] = _aliases(count, pattern)
    for count in (100, 800, 3000):
        found[f"{count} chained"] = _chained(count, "a, b, s")
        found[f"{count} chained and doubled"] = _chained(count, "a + a AS a, b, s")
    for count in (5, 12, 60):
        found[f"{count} joined twice"] = _twice(count)
    many = 9000
    found["ands"] = "SELECT COUNT(*) FROM people WHERE " + " AND ".join(["age > 1"] * many)
    found["ors"] = "SELECT COUNT(*) FROM people WHERE " + " OR ".join(["age > 1"] * many)
    found["in"] = f"SELECT COUNT(*) FROM people WHERE age IN ({', '.join(map(str, range(16000)))})"
    found["in texts"] = (
        f"SELECT COUNT(*) FROM people WHERE sex IN ({', '.join(repr(str(i)) for i in range(11000))})"
    )
    found["sum of all"] = f"SELECT SUM({'+'.join(['age'] * 20000)}) FROM people"
    found["outputs"] = f"SELECT {','.join(['COUNT(*)'] * 9000)} FROM people"
    found["sums"] = f"SELECT {','.join(f'SUM(age+{i})' for i in range(6000))} FROM people"
    found["keys"] = "SELECT COUNT(*) FROM people GROUP BY " + ",".join(
        f"age+{i}" for i in range(9000)
    )
    found["branches"] = (
        "SELECT SUM(CASE "
        + " ".join(f"WHEN age = {i} THEN {i}" for i in range(3500))
        + " END) FROM people"
    )
    found["dates in branches"] = (
        "SELECT SUM(CASE "
        + " ".join(f"WHEN born = '{1900 + i % 100}-01-01' THEN {i}" for i in range(2500))
        + " END) FROM people"
    )
    found["open"] = "SELECT " + "(" * 90000
    found["stars"] = "SELECT COUNT(*) FROM " + "(SELECT * FROM " * 30 + "people" + ") t" * 30
    found["with"] = "WITH " + ",".join(f"c{i} AS (SELECT 1)" for i in range(4000)) + " SELECT 1"
    found["joins"] = "SELECT COUNT(*) FROM visits v0 " + " ".join(
        f"JOIN visits v{i} ON v{i}.person = v0.person" for i in range(1, 1500)
    )
    found["commas"] = "SELECT COUNT(*) FROM " + ",".join(f"people p{i}" for i in range(6000))
    found["long name"] = f'SELECT COUNT(*) AS "{"x" * 90000}" FROM people'
    found["number"] = "SELECT SUM(age * 1e99999) FROM people"
    found["digits"] = f"SELECT SUM(age * {'9' * 90000}) FROM people"
    found["powers"] = f"SELECT {_nested(90, 'POWER({x}, 64)', 'COUNT(*)')} FROM people"
    found["constants"] = f"SELECT COUNT(*) * {_nested(11, '({x} * {x})', '1e300')} FROM people"
    found["pattern"] = f"SELECT COUNT(*) FROM people WHERE sex LIKE '{'%a' * 40000}'"
    found["filters"] = (
        "SELECT "
        + ",".join(f"COUNT(*) FILTER (WHERE age > {i})" for i in range(2500))
        + " FROM people"
    )
    found["order"] = "SELECT COUNT(*) AS n FROM people ORDER BY " + ",".join(["n"] * 20000)
    found["having"] = "SELECT COUNT(*) AS n FROM people HAVING " + " AND ".join(["n > 1"] * 9000)
    return found
