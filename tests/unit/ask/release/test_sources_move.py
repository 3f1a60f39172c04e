"""What happens to sources after the catalog was read: links, broken lines, changed public tables."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.ask.release import pipeline, snapshots
from discreet.errors import CatalogError

TOML = """
[datasets.one]
epsilon = 9
[datasets.one.tables.people]
source = "people.csv"
unit = "row"
[datasets.one.tables.people.columns]
zip = { type = "category", values = ["a", "b"] }
[datasets.one.tables.zips]
source = "zips.csv"
public = true
[datasets.one.tables.zips.columns]
zip = { type = "category", values = ["a", "b"] }
state = { type = "category", values = ["MA", "NY"] }
[datasets.two]
epsilon = 9
[datasets.two.tables.others]
source = "others.csv"
unit = "row"
[datasets.two.tables.others.columns]
size = { type = "integer", lower = 0, upper = 9 }
[datasets.three]
epsilon = 9
[datasets.three.tables.stones]
source = "stones.parquet"
unit = "row"
[datasets.three.tables.stones.columns]
size = { type = "integer", lower = 0, upper = 9 }
"""
PEOPLE, OTHERS = "SELECT COUNT(*) AS n FROM people", "SELECT COUNT(*) AS n FROM others"
STONES = "SELECT COUNT(*) AS n FROM stones"
STATES = "SELECT state, COUNT(*) AS n FROM people JOIN zips USING (zip) GROUP BY state"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "people.csv").write_text("zip\na\nb\n")
    (tmp_path / "zips.csv").write_text("zip,state\na,MA\nb,NY\n")
    (tmp_path / "others.csv").write_text("size\n1\n")
    pq.write_table(pa.table({"size": [1, 2]}), tmp_path / "stones.parquet")
    (tmp_path / "discreet.toml").write_text(TOML)
    return tmp_path


def opened(folder):
    return discreet.open(folder / "discreet.toml")


def link(folder: Path, old: str, new: str, how) -> None:
    (folder / new).unlink()
    how(folder / old, folder / new)


@pytest.mark.parametrize("how", [os.link, os.symlink])
def test_a_link_that_is_made_later_is_seen(folder, how):
    with opened(folder) as curator:
        curator.query(PEOPLE, epsilon=1)
        link(folder, "people.csv", "others.csv", how)
        for sql in (PEOPLE, STATES):
            with pytest.raises(CatalogError, match="has become that of another table") as caught:
                curator.query(sql, epsilon=1, fresh=True)
            assert "others" not in str(caught.value)
        assert curator.ledger.spent("one").charges == 1
        curator.query(STONES, epsilon=1)  # what reads neither is answered
        with pytest.raises(CatalogError, match="has become that of another table"):
            curator.synthesize("people", epsilon=1, method="independent")


def test_whoever_sees_one_dataset_is_protected_from_the_other(folder):
    more = "[analysts.eve]\ndatasets = { one = { epsilon = 2 } }\n"
    (folder / "discreet.toml").write_text(TOML + more)
    with opened(folder) as curator:
        link(folder, "people.csv", "others.csv", os.link)
        with pytest.raises(CatalogError, match="has become that of another table"):
            curator.seen_by("eve").query(PEOPLE, epsilon=1, analyst="eve")


def test_the_twin_that_looks_at_load_only_bills_two_budgets(folder, monkeypatch):
    monkeypatch.setattr(snapshots, "check_still_apart", lambda *_: None)
    (folder / "others.csv").write_text("zip\na\n")
    text = TOML.replace("size = ", "zip = ", 1).replace(
        '"integer", lower = 0, upper = 9', '"category", values = ["a", "b"]', 1
    )
    (folder / "discreet.toml").write_text(text)
    with opened(folder) as curator:
        link(folder, "people.csv", "others.csv", os.link)
        for sql in (PEOPLE, OTHERS):
            curator.query(sql, epsilon=9)


def test_a_broken_line_refuses_only_what_reads_it(folder):
    (folder / "others.csv").write_text('size\n1\n"2,3\n4,5,6\n')
    with opened(folder) as curator:
        curator.query(PEOPLE, epsilon=1)
        curator.query(STONES, epsilon=1)
        with pytest.raises(CatalogError, match=r"source of table 'two\.others' could not be read"):
            curator.query(OTHERS, epsilon=1)
        assert curator.ledger.spent("two").charges == 0


def test_a_cut_parquet_file_refuses_only_what_reads_it(folder):
    whole = (folder / "stones.parquet").read_bytes()
    (folder / "stones.parquet").write_bytes(whole[: len(whole) // 2])
    with opened(folder) as curator:
        curator.query(PEOPLE, epsilon=1)
        curator.query(OTHERS, epsilon=1)
        engine = curator.engine
        assert engine.columns("two.others") == [("size", "BIGINT")]
        with pytest.raises(
            CatalogError, match=r"source of table 'three\.stones' could not be read"
        ):
            curator.query(STONES, epsilon=1)
        with pytest.raises(CatalogError, match=r"three\.stones"):
            engine.owner_reader().run(
                f"SELECT COUNT(*) AS n FROM {engine.relation('three.stones')}"
            )


def test_a_question_reads_a_text_file_once(folder):
    with opened(folder) as curator:
        curator.query(PEOPLE, epsilon=1)
    assert not list((folder / ".discreet" / "duckdb" / "tables").glob("csv-*"))


def test_a_changed_public_table_ends_reuse(folder):
    with opened(folder) as curator:
        first = curator.query(STATES, epsilon=1)
        assert curator.query(STATES, epsilon=1).free
        assert first.provenance.snapshot == "people:1,zips:1"
        (folder / "zips.csv").write_text("zip,state\na,NY\nb,NY\n")
        again = curator.query(STATES, epsilon=1)
        assert not again.free
        assert again.provenance.snapshot == "people:1,zips:2"


def test_the_twin_without_public_tables_in_its_label_gives_a_stale_answer(folder, monkeypatch):
    def private_only(source, held):
        found = snapshots.snapshots_of(source, held)
        return {name: number for name, number in found.items() if name != "zips"}

    monkeypatch.setattr(pipeline, "snapshots_of", private_only)
    with opened(folder) as curator:
        curator.query(STATES, epsilon=1)
        (folder / "zips.csv").write_text("zip,state\na,NY\nb,NY\n")
        assert curator.query(STATES, epsilon=1).free
