"""Stored rows that lack the same numbers lie together, where the table can be sorted in memory."""

from __future__ import annotations

import pytest

from discreet.catalog.read.policy_file import loads
from discreet.engine.base import EngineLimits, open_exact
from discreet.engine.connect import connect
from discreet.engine.duckdb import canonical
from discreet.kernel.canonical.select import CanonicalRecipe

LIMITS = EngineLimits(seconds=20.0, memory_mb=512, threads=1, workers=2)
TOML = """
[datasets.town]
epsilon = 10
[datasets.town.tables.people]
source = "people.csv"
unit = "row"
[datasets.town.tables.people.columns]
age = { type = "integer", lower = 0, upper = 120 }
"""


@pytest.mark.parametrize("fits", [True, False])
def test_large_files_are_stored_as_they_come(tmp_path, monkeypatch, fits):
    """Sorted or not, all rows are there."""
    lines = ["age", *(str(i) if i % 3 else '""' for i in range(90))]
    (tmp_path / "people.csv").write_text("\n".join([*lines, ""]))
    size = (tmp_path / "people.csv").stat().st_size
    most = (LIMITS.memory_mb << 20) // size
    monkeypatch.setattr(canonical, "SORTED_TIMES", most if fits else most + 1)
    known = loads(TOML, base=tmp_path)
    recipe = CanonicalRecipe(known.dataset("town"), known.table("people"))
    engine = connect("duckdb:", known.sources, base=tmp_path, state=tmp_path / "s", limits=LIMITS)
    try:
        with engine.hold({"town.people": recipe}) as held:
            rows = open_exact(held.run('SELECT c0 FROM canon."town.people"')).column(0).to_pylist()
    finally:
        engine.close()
    gaps = [row is None for row in rows]
    assert (gaps == sorted(gaps)) is fits
    assert sorted(row for row in rows if row is not None) == [i for i in range(90) if i % 3]
