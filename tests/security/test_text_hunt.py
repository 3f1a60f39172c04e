"""A hostile reading of functions of text: what could fail on one row is refused, and nothing is charged."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import discreet
from discreet.errors import QueryRefused

TOML = """
[engine]
url = "duckdb:"
[ledger]
url = "sqlite:ledger.db"
[datasets.clinic]
epsilon = 1000
delta = 0.01
[datasets.clinic.tables.visits]
source = "visits.csv"
unit = "person"
max_rows = 3
[datasets.clinic.tables.visits.columns]
person = { type = "identifier" }
ward = { type = "category", values = ["A", "B"] }
reason = { type = "text" }
"""
LONG = "a" * 900
WITHIN = {
    "places": ["SUBSTRING(reason, 5000000000, 1)", "LEFT(reason, 99999999999999999999)"],
    "no place": ["SUBSTRING(reason, 1, NULL)", "SUBSTRING(reason, 1.5)", "LEFT(reason, 1e20)"],
    "parts": ["SPLIT_PART(reason, 'a', 0)", "SPLIT_PART(reason, 'a', 9000000000000000000)"],
    "words": ["REPLACE(reason, NULL, 'a')", "REPLACE(reason, 1, 2)", "REPLACE(ward, NULL, 'a')"],
    "groups": [rf"REGEXP_REPLACE(reason, 'a', '{new}')" for new in (r"\9", r"\q", r"\1", "\\")],
    "patterns": [rf"REGEXP_REPLACE(reason, '{p}', '')" for p in (r"\C", "(?<n>a)", r"\B", "a**")],
    "growth": [
        f"REPLACE(REPLACE(reason, 'a', '{LONG}'), 'a', '{LONG}')",
        f"REGEXP_REPLACE(reason, 'a', '{LONG}', 'g')",
        "||".join(["reason"] * 12),
        "UPPER(UPPER(UPPER(reason)))",
    ],
}


@pytest.fixture(scope="module")
def curator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[discreet.Curator]:
    base: Path = tmp_path_factory.mktemp("hunt")
    rows = [f"p{i},A,flu {i}\n" for i in range(20)] + [f"evil,B,{'a' * 1000}\n"]
    (base / "visits.csv").write_text("person,ward,reason\n" + "".join(rows))
    (base / "discreet.toml").write_text(TOML)
    with discreet.open(base / "discreet.toml") as found:
        yield found


def _spent(curator: discreet.Curator) -> object:
    return curator.budget_report()["datasets"]["clinic"]["epsilon"]["spent"]


@pytest.mark.parametrize("text", [each for found in WITHIN.values() for each in found])
def test_what_could_fail_on_a_row_is_refused_before_the_charge(
    curator: discreet.Curator, text: str
) -> None:
    before = _spent(curator)
    for sql in (
        f"SELECT COUNT(*) AS n FROM visits WHERE {text} = 'x'",
        f"SELECT SUM(CASE WHEN reason LIKE 'aaa%' THEN LENGTH({text}) ELSE 0 END) AS n FROM visits",
        f"SELECT {text} AS k, COUNT(*) AS n FROM visits GROUP BY k",
    ):
        with pytest.raises(QueryRefused):
            curator.query(sql, epsilon=1)
    assert _spent(curator) == before


def test_doubling_through_with_is_refused(curator: discreet.Curator) -> None:
    parts = ["t0 AS (SELECT person, reason AS r FROM visits)"]
    parts += [f"t{i + 1} AS (SELECT person, r || r AS r FROM t{i})" for i in range(8)]
    with pytest.raises(QueryRefused, match="letters long"):
        curator.query(
            f"WITH {', '.join(parts)} SELECT COUNT(*) AS n FROM t8 WHERE r = 'x'", epsilon=1
        )


def test_everyday_questions_about_text_are_answered(curator: discreet.Curator) -> None:
    for text in (
        "LOWER(TRIM(reason))",
        "LEFT(reason, 3)",
        "SPLIT_PART(reason, ' ', 2)",
        r"REGEXP_REPLACE(reason, '^(\w+) .*$', '\1')",
        "REPLACE(LOWER(reason), 'flu', 'influenza')",
        "LEFT(reason, 200) || LEFT(reason, 200)",
    ):
        found = curator.query(f"SELECT COUNT(*) AS n FROM visits WHERE {text} <> 'x'", epsilon=10)
        assert abs(float(found.rows[0][0]) - 21) < 10


@pytest.mark.parametrize("form", ["||", "LEFT("])
def test_planning_takes_no_exponential_time(curator: discreet.Curator, form: str) -> None:
    """Doubled at each level, 60 levels would take longer than the world is old."""
    text = (
        "||".join(["LEFT(reason, 9)"] * 60)
        if form == "||"
        else "LEFT(" * 40 + "reason" + ", 9)" * 40
    )
    start = time.process_time()
    curator.explain(f"SELECT COUNT(*) AS n FROM visits WHERE {text} = 'x'", epsilon=1)
    assert time.process_time() - start < 30
