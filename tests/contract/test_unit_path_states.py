"""What is read of people over paths is one state of all tables on the way, called by its content."""

from __future__ import annotations

import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.data.engines.copies import combined
from discreet.data.engines.postgres import held
from discreet.data.engines.postgres.held import Holder
from engines import ENGINES, engine_place, own
from sittings import FULL
from unit_paths_kit import brute_force, shop, toml

WITHOUT_COPIES = """
DO $$ DECLARE found record; BEGIN
FOR found IN SELECT tablename FROM pg_tables WHERE schemaname = 'discreet_state' LOOP
EXECUTE format('DROP TABLE discreet_state.%I', found.tablename);
END LOOP; END $$
"""
COPYING = ENGINES[1:]
"""Engines that store copies where the owner lets them; DuckDB always does."""
HELD = {"duckdb": (False,), "postgres": (False, True), "spark": (False, True) if FULL else (True,)}
"""Whether copies are stored; that what Spark reads in place changes its label, test_origins.py says, too."""


@pytest.mark.parametrize("kind", ENGINES)
def test_a_change_of_a_table_on_the_way_is_a_new_snapshot(kind, tmp_path):
    tables = shop(random.Random(3), texts=False)
    place = engine_place(kind, tables, tmp_path)
    for copy in HELD[kind]:
        (tmp_path / "discreet.toml").write_text(toml(place, whole=True, copy=copy))
        with discreet.open(tmp_path / "discreet.toml") as curator:
            first = curator.query("SELECT COUNT(*) AS n FROM items", epsilon=1)
            _add_order(kind, 77, tables, tmp_path)
            again = curator.query("SELECT COUNT(*) AS n FROM items", epsilon=1, fresh=copy)
            if not (copy and kind == "postgres"):
                # A copy may be older than its source by as long as the counter of changes lags.
                assert first.provenance.snapshot != again.provenance.snapshot
                assert not again.free


def _add_order(kind: str, customer: int, tables, folder) -> None:
    """Add an order as its owner would; a file is written aside, then renamed."""
    if kind == "postgres":
        own(f"INSERT INTO town.orders VALUES (1, {customer})")
        return
    order = pa.table({"number": [1], "customer": [customer]})
    tables["orders"] = pa.concat_tables([tables["orders"], order])
    pq.write_table(tables["orders"], folder / "orders.rough")
    (folder / "orders.rough").replace(folder / "orders.parquet")


def _answered_over_another_path(kind, folder) -> tuple[int, int]:
    """Return how many rows reach somebody over another path, beside what copies of both answer."""
    tables = shop(random.Random(3), texts=False)
    place = engine_place(kind, tables, folder)
    text = toml(place, whole=True, copy=kind != "duckdb")
    for said in (text, text.replace('"order_no -> orders', '"id -> orders')):
        (folder / "discreet.toml").write_text(said)
        with discreet.open(folder / "discreet.toml") as curator:
            answer = curator.query("SELECT COUNT(*) AS n FROM items", epsilon=100000)
            assert not answer.free
    keys = tables["items"].column("id")
    pairs = brute_force(
        {**tables, "items": tables["items"].set_column(1, "order_no", keys)}, whole=True
    )
    ((counted,),) = answer.rows
    return counted, sum(person is not None for _, person in pairs)


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.slow_on_spark
def test_another_path_to_people_is_another_copy(kind, tmp_path):
    counted, wanted = _answered_over_another_path(kind, tmp_path)
    assert counted == wanted


@pytest.mark.spark
@pytest.mark.slow  # as its original on Spark: that label and reading know the path, test_origins.py says, too
def test_a_copy_that_forgets_how_its_rows_are_read_is_caught(tmp_path, monkeypatch):
    """The twin: content and SELECT are the same over both paths, and the fingerprint is of files alone."""

    def of_files(contents):
        return combined([each for each in contents if not each.startswith("(")])

    monkeypatch.setattr("discreet.data.engines.spark.sources.SparkOrigins.reading", lambda *_: "")
    monkeypatch.setattr("discreet.data.engines.spark.sources.combined", of_files)
    counted, wanted = _answered_over_another_path("spark", tmp_path)
    assert counted != wanted


def _answered_after_a_change(folder, monkeypatch) -> tuple[str, str]:
    """Return the labels of two contents between which the counter of changes did not move."""
    place = engine_place("postgres", shop(random.Random(3), texts=False), folder)
    monkeypatch.setattr(held, "change_counter", lambda *_: "stands still")
    (folder / "discreet.toml").write_text(toml(place, whole=True, max_rows=50, copy=True))
    labels = []
    for _ in range(2):
        with discreet.open(folder / "discreet.toml") as curator:
            found = curator.query("SELECT SUM(price) AS s FROM items", epsilon=1)
            labels.append(found.provenance.snapshot)
        own("DELETE FROM town.orders WHERE customer IN (0, 1, 2)", WITHOUT_COPIES)
    return labels[0], labels[1]


@pytest.mark.postgres
def test_what_is_copied_is_called_by_what_is_read(tmp_path, monkeypatch):
    """One label for two contents would let their charges share one budget."""
    first, second = _answered_after_a_change(tmp_path, monkeypatch)
    assert first != second


@pytest.mark.postgres
def test_a_copy_that_trusts_the_counter_is_caught(tmp_path, monkeypatch):
    """The twin: rows of now by the content of then."""
    fresh = Holder._content

    def trusting(self, wire, source, wanted, counter):
        return self._known(source, wanted, counter) or fresh(self, wire, source, wanted, counter)

    monkeypatch.setattr(Holder, "_content", trusting)
    first, second = _answered_after_a_change(tmp_path, monkeypatch)
    assert first == second
