"""Terms of SQL that every parser reads alike, and the trees that they are."""

from __future__ import annotations

from discreet.privacy.kernel.nodes import (
    Apply,
    Constant,
    Derived,
    Fold,
    Joined,
    Name,
    SelectNode,
    StoredScan,
    Term,
    Window,
)

A, B, C, R, U = (Name("t", each) for each in "abcru")
X, Y = StoredScan(("canon", "x"), "t"), StoredScan(("y",), "s")
ONE, TWO, THREE = (Constant(each) for each in (1, 2, 3))


def apply(name: str, *operands: Term) -> Apply:
    return Apply(name, operands)


COMMON: dict[str, Term] = {
    "t.a": A,
    "(t.a)": A,
    '"t"."a"': A,
    "1": ONE,
    "-5": Constant(-5),
    "-(5)": Constant(-5),
    "- -5": Constant(5),
    "-t.a": apply("negate", A),
    "-'x'": apply("negate", Constant("x")),
    "-(TRUE)": apply("negate", Constant(True)),
    "1.5": Constant("1.5", "number"),
    "'1'": Constant("1"),
    "TRUE": Constant(True),
    "FALSE": Constant(False),
    "NULL": Constant(None),
    "DATE '2020-01-31'": Constant("2020-01-31", "date"),
    "CAST('2020-01-31' AS DATE)": Constant("2020-01-31", "date"),
    "CAST(t.a AS DATE)": apply("cast date", A),
    "CAST(1 AS DATE)": apply("cast date", ONE),
    "CAST('5' AS BIGINT)": apply("cast bigint", Constant("5")),
    "CAST(t.a AS BIGINT)": apply("cast bigint", A),
    "t.a::BIGINT": apply("cast bigint", A),
    "CAST(t.a AS DECIMAL(19, 0))": apply("cast decimal(19, 0)", A),
    "t.a = 1": apply("=", A, ONE),
    "t.a <> 1": apply("<>", A, ONE),
    "t.a < 1": apply("<", A, ONE),
    "t.a <= 1": apply("<=", A, ONE),
    "t.a > 1": apply(">", A, ONE),
    "t.a >= 1": apply(">=", A, ONE),
    "t.a + 1": apply("+", A, ONE),
    "t.a - 1": apply("-", A, ONE),
    "(t.a + 1) * 2": apply("*", apply("+", A, ONE), TWO),
    "t.a + 1 * 2": apply("+", A, apply("*", ONE, TWO)),
    "t.a % 2": apply("%", A, TWO),
    "t.a || 'x'": apply("||", A, Constant("x")),
    "t.a AND t.b AND t.c": apply("and", A, B, C),
    "t.a OR t.b OR t.c": apply("or", A, B, C),
    "t.a OR (t.b AND t.c)": apply("or", A, apply("and", B, C)),
    "t.a BETWEEN 1 AND 2": apply("and", apply(">=", A, ONE), apply("<=", A, TWO)),
    "t.a NOT BETWEEN 1 AND 2": apply("not", apply("and", apply(">=", A, ONE), apply("<=", A, TWO))),
    "NOT t.a": apply("not", A),
    "NOT (t.a = 1)": apply("not", apply("=", A, ONE)),
    "t.a IS NULL": apply("is null", A),
    "t.a IS NOT NULL": apply("is not null", A),
    "t.a IN (1, 2)": apply("in", A, ONE, TWO),
    "COALESCE(t.a, 1, 2)": apply("coalesce", A, ONE, TWO),
    "CASE WHEN t.a THEN 1 END": apply("case", A, ONE, Constant(None)),
    "CASE WHEN t.a THEN 1 WHEN t.b THEN 2 ELSE 3 END": apply("case", A, ONE, B, TWO, THREE),
    't.a COLLATE "C"': apply("collate", A, Constant("C")),
    "lower(t.a)": apply("lower", A),
    "abs(t.a)": apply("abs", A),
    "replace(t.a, 'x', 'y')": apply("replace", A, Constant("x"), Constant("y")),
    "COUNT(*)": Fold("count", None),
    "COUNT(t.a)": Fold("count", A),
    "COUNT(DISTINCT t.a)": Fold("count", A, distinct=True),
    "SUM(t.a)": Fold("sum", A),
    "SUM(DISTINCT t.a)": Fold("sum", A, distinct=True),
    "MIN(t.a)": Fold("min", A),
    "MAX(t.a)": Fold("max", A),
    "BOOL_AND(t.a)": Fold("bool_and", A),
    "BOOL_OR(t.a)": Fold("bool_or", A),
    "ROW_NUMBER() OVER (PARTITION BY t.u ORDER BY t.r)": Window("row_number", None, (U,), (R,)),
    "ROW_NUMBER() OVER (PARTITION BY t.u, t.b ORDER BY t.r, t.a)": Window(
        "row_number", None, (U, B), (R, A)
    ),
    "SUM(t.a) OVER (PARTITION BY t.u)": Window("sum", A, (U,), ()),
    "MAX(t.a) OVER ()": Window("max", A, (), ()),
}
"""Read alike from DuckDB's own tree and by sqlglot, in every dialect."""

BLOCKS: dict[str, SelectNode] = {
    "SELECT t.a AS k, COUNT(*) AS n FROM canon.x AS t WHERE t.b GROUP BY 1": SelectNode(
        (("k", A), ("n", Fold("count", None))), X, B, (A,)
    ),
    "SELECT t.a AS k, t.b AS l FROM canon.x AS t GROUP BY t.b, 1": SelectNode(
        (("k", A), ("l", B)), X, None, (B, A)
    ),
    "SELECT t.a AS n FROM canon.x AS t JOIN y AS s ON t.b": SelectNode(
        (("n", A),), Joined(X, Y, B, left=False), None, ()
    ),
    "SELECT t.a AS n FROM canon.x AS t INNER JOIN y AS s ON t.a = s.a": SelectNode(
        (("n", A),), Joined(X, Y, apply("=", A, Name("s", "a")), left=False), None, ()
    ),
    "SELECT t.a AS n FROM canon.x AS t LEFT JOIN y AS s ON t.b": SelectNode(
        (("n", A),), Joined(X, Y, B, left=True), None, ()
    ),
    "SELECT t.a AS n FROM canon.x AS t INNER JOIN y AS s ON t.b LEFT JOIN y AS s ON t.c": SelectNode(
        (("n", A),), Joined(Joined(X, Y, B, left=False), Y, C, left=True), None, ()
    ),
    "SELECT s.n AS m FROM (SELECT t.a AS n FROM canon.x AS t) AS s": SelectNode(
        (("m", Name("s", "n")),), Derived(SelectNode((("n", A),), X, None, ()), "s"), None, ()
    ),
}
