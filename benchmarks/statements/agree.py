"""Whether an answer without noise is the one that plain DuckDB gives, bounds and clamps aside."""

from __future__ import annotations

import datetime as dt
import math
import re
from decimal import Decimal
from typing import Any

LOOSE = re.compile(
    r"\b(median|min|max|quantile\w*|percentile\w*|approx_\w+|var\w*|std\w*|corr|covar\w*|regr_\w+|mode)\s*\(",
    re.IGNORECASE,
)
"""Chosen from the ends of bins, or over n instead of n - 1: right to a few parts of a hundred."""
ENDS = re.compile(r"\b(min|max)\s*\(", re.IGNORECASE)
"""As private as the one person at the end, so rough."""
NEAR, ABOUT, ROUGH = 2e-4, 0.06, 0.25


def agree(sql: str, answer: Any, database: Any) -> str:
    """Return what is wrong with an answer; empty where nothing is.

    Every row of DuckDB's must be there; nothing added up is NULL there and 0 here. Where keys are public, ours may hold more: groups that nobody
    is in, whose numbers are 0 or NULL. LIMIT cuts ties anywhere, so there the rows of both count.
    """
    try:
        true = database.execute(plain(sql)).fetchall()
    except Exception as error:  # whatever DuckDB does not understand is shown
        return f"plain DuckDB: {str(error).splitlines()[0]}"
    close = ROUGH if ENDS.search(sql) else ABOUT if LOOSE.search(sql) else NEAR
    mine = [
        tuple(0.0 if v is None and i in answer.noisy else _value(v) for i, v in enumerate(row))
        for row in answer.rows
    ]
    theirs = [tuple(map(_value, row)) for row in true]
    if any(len(row) != len(answer.columns) for row in theirs):
        return "another number of columns"
    left = list(mine)
    for known in theirs:
        row = tuple(0.0 if v is None and i in answer.noisy else v for i, v in enumerate(known))
        alike = [i for i, other in enumerate(left) if _same(row, other, close)]
        found = min(alike, key=lambda i: _apart(row, left[i]), default=None)
        if found is None:
            if _cut(sql) or _thresholded(answer):
                continue
            if any(row[i] is None for i in range(len(row)) if i not in answer.noisy):
                continue  # NULL is a group only where the owner said that values may be missing
            return f"missing {row} among {len(mine)} rows"
        left.pop(found)
    if theirs and not mine:
        return "no rows"
    if theirs and len(left) == len(mine):
        return f"none of {len(mine)} rows is right, such as {mine[0]}"
    extra = [row for row in left if not _empty(row, answer.noisy)]
    return f"{len(extra)} rows too many, such as {extra[0]}" if extra and not _cut(sql) else ""


def plain(sql: str) -> str:
    """Return what plain DuckDB is asked: words of other dialects put into its own."""
    found = re.search(r"\bSELECT TOP (\d+)\b", sql, re.IGNORECASE)
    if found:
        sql = f"{sql[: found.start()]}SELECT{sql[found.end() :]} LIMIT {found[1]}"
    sql = re.sub(
        r"BETWEEN SYMMETRIC (\d+) AND (\d+)", r"BETWEEN least(\1, \2) AND greatest(\1, \2)", sql
    )
    sql = re.sub(r"width_bucket\((\w+), 0, 100, 10\)", r"least(greatest(1 + \1 // 10, 0), 11)", sql)
    sql = re.sub(r"\bVAR\s*\(", "VARIANCE(", sql, flags=re.IGNORECASE)
    return re.sub(r"\bSTD\s*\(", "STDDEV(", sql, flags=re.IGNORECASE)


def _cut(sql: str) -> bool:
    return bool(re.search(r"\b(LIMIT|TOP|QUALIFY)\b", sql, re.IGNORECASE))


def _thresholded(answer: Any) -> bool:
    return any("groups appear from" in said for said in answer.provenance.mechanisms)


def _value(value: Any) -> Any:
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, int | float | Decimal):
        return float(value)
    if isinstance(value, dt.datetime):
        value = value.date() if value.time() == dt.time() else value
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return tuple(map(_value, value))
    if isinstance(value, str) and value.startswith("["):
        return tuple(float(part) for part in value.strip("[]").split(","))
    return value.removesuffix(" 00:00:00") if isinstance(value, str) else value


def _same(one: tuple[Any, ...], two: tuple[Any, ...], close: float) -> bool:
    return len(one) == len(two) and all(_near(a, b, close) for a, b in zip(one, two, strict=True))


def _apart(one: tuple[Any, ...], two: tuple[Any, ...]) -> float:
    numbers = ((a, b) for a, b in zip(one, two, strict=True) if isinstance(a, float))
    return sum(abs(a - b) / (abs(a) + 1) for a, b in numbers if isinstance(b, float))


def _near(one: Any, two: Any, close: float) -> bool:
    if isinstance(one, tuple) and isinstance(two, tuple):
        return _same(one, two, close)
    if isinstance(one, float) and isinstance(two, float):
        return math.isclose(one, two, rel_tol=close, abs_tol=max(close, 1e-6))
    if isinstance(one, float) != isinstance(two, float) and None not in {one, two}:
        return str(one).removesuffix(".0") == str(two).removesuffix(".0")
    return bool(one == two)


def _empty(row: tuple[Any, ...], noisy: tuple[int, ...]) -> bool:
    return all(row[i] in {0, None} for i in noisy)
