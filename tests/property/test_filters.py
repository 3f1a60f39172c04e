"""Every aggregate that docs/sql.md names takes FILTER (WHERE ...), which counts the rows that WHERE leaves."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from discreet import open as open_catalog
from discreet.ask.sql import aggregates, bind
from discreet.errors import DiscreetError

PAGE = Path(__file__).resolve().parents[2] / "docs" / "sql.md"
TOML = """
[engine]
url = "duckdb:"
[ledger]
url = "sqlite:ledger.db"
[datasets.s]
epsilon = 1000000000
[datasets.s.tables.t]
source = "t.csv"
unit = "person"
max_rows = 1
[datasets.s.tables.t.columns]
person = { type = "identifier" }
age = { type = "integer", lower = 0, upper = 60 }
income = { type = "integer", lower = 0, upper = 90 }
ward = { type = "category", values = ["A", "B", "C"] }
"""
OTHERS = {"COUNT_IF": "age > 40", "MODE": "ward", "SUM": "age > 40", "AVG": "age > 40"}
"""What is named below the the table, and of what it is taken here; two columns where nothing is said."""
NO_ROW_BEYOND = {"MIN(age)": (0, 30), "MAX(age)": (55, 60)}
"""Ends are chosen among all values that no row lies beyond (note 0108)."""
WHERE = "income > 60"


def documented() -> list[str]:
    """Return the calls in the table of aggregates, and of those named below it."""
    section = PAGE.read_text(encoding="utf-8").split("## Aggregates")[1].split("\n## ")[0]
    table = [line.split(" | ")[0] for line in section.splitlines() if line.startswith("| `")]
    found = [call for cell in table for call in re.findall(r"`([^`]+)`", cell)]
    below = section.split("`SUM` and `AVG` of a truth value")[1].split("```")[0]
    names = set(re.findall(r"\b[A-Z][A-Z_0-9]{3,}\b", below)) - {"GROUP", "WHERE", "FILTER"}
    names = {name for name in names if not name.startswith("QUANTILE")} | {"SUM", "AVG"}
    found += [f"{name}({OTHERS.get(name, 'age, income')})" for name in sorted(names)]
    return found + re.findall(r"`(QUANTILE_CONT\(age, \[[^`]+)`", below)


CALLS = documented()


@pytest.fixture(scope="module")
def curator(tmp_path_factory):
    """Return a curator over rows in which a condition changes every aggregate, also the commonest ward."""
    folder, rng = tmp_path_factory.mktemp("filters"), random.Random(7)
    (folder / "discreet.toml").write_text(TOML)
    rows = ["person,age,income,ward"]
    for i in range(600):
        rich = i % 3 == 0
        age = (30, 40, 40, 40, 40, 40, 40, 40, 55, 55)[i // 3 % 10] if rich else rng.randint(0, 60)
        income = rng.randint(61, 75) + age // 4 if rich else rng.randint(0, 60)
        rows.append(f"{i},{age},{income},{rng.choice('CCB' if rich else 'AAAAB')}")
    (folder / "t.csv").write_text("\n".join(rows) + "\n")
    with open_catalog(folder / "discreet.toml") as opened:
        yield opened


def differences(curator, call: str) -> list[str]:
    """Return in which statements FILTER says something else than WHERE does."""
    broken = []
    alone = curator.query(f"SELECT {call} AS x FROM t WHERE {WHERE}", epsilon=100_000).rows[-1][-1]
    for shown in ("", "COUNT(*) AS n, "):
        sql = f"SELECT {shown}{call} FILTER (WHERE {WHERE}) AS x FROM t"
        try:
            found = curator.query(sql, epsilon=100_000).rows[-1][-1]
        except DiscreetError as error:
            broken.append(f"{sql}: {error}")
            continue
        if call in NO_ROW_BEYOND:
            low, high = NO_ROW_BEYOND[call]
            found = alone if low <= found <= high else found
        same = found == alone
        if not same and not isinstance(found, str) and not isinstance(alone, str):
            same = float(found) == pytest.approx(float(alone), rel=1e-2)
        if not same:
            broken.append(f"{sql} is {found}, and with WHERE {alone}")
    return broken


def test_the_page_names_them():
    names = {re.split(r"\W", call)[0] for call in CALLS}
    assert {"COUNT", "MEDIAN", "PERCENTILE_CONT", "CORR", "REGR_R2", "MODE", "COUNT_IF"} <= names
    assert len(CALLS) > 30


@pytest.mark.parametrize("call", CALLS)
def test_a_documented_aggregate_takes_filter(curator, call):
    """Noise is far below a hundredth of every value: none fails by chance."""
    assert differences(curator, call) == []


def test_a_filter_that_is_not_heeded_is_found(curator, monkeypatch):
    """The broken twin: all rows count."""
    for module in (aggregates, bind):
        monkeypatch.setattr(module, "where", lambda _condition, value: value)
    # Centring leaves out rows by the same function; without it the covariance is the same here.
    assert differences(curator, "AVG(age)")
    assert differences(curator, "CORR(age, income)")
