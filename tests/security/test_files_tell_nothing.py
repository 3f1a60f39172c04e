"""Which files a table has, and what they are like, changes numbers only: no error, no price, no text, no key."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.curator import opened_catalog
from discreet.data.engines.delta import delta_files
from discreet.errors import DiscreetError

DELTA = Path(__file__).resolve().parents[1] / "fixtures" / "delta"
TOML = """
[datasets.town]
epsilon = 1000
delta = 1e-6
[datasets.town.tables.people]
source = "{source}"
unit = "person"
max_rows = 2
[datasets.town.tables.people.columns]
person = {{ type = "identifier" }}
age = {{ type = "integer", lower = 0, upper = 120 }}
income = {{ type = "number", lower = 0, upper = 1000, step = 0.5 }}
town = {{ type = "category", values = ["A b", "C", "D"] }}
year = {{ type = "integer", lower = 2020, upper = 2022 }}
extra = {{ type = "date", lower = "2020-01-01", upper = "2020-12-31" }}
"höhe" = {{ type = "integer", lower = 0, upper = 9 }}
"""
QUESTIONS = (
    "SELECT COUNT(DISTINCT person) AS d, SUM(income) AS s, AVG(age) AS a FROM people WHERE town = 'C'",
    "SELECT year, COUNT(*) AS n FROM people WHERE extra >= '2020-06-01' GROUP BY year",
)


def rows(**columns):
    return pa.table({"person": ["x", "y"], "age": [30, 40], "town": ["C", "D"], **columns})


def odd_files(folder: Path):
    """Yield the names of neighbours, each after its file was added to `folder` or a file was changed."""
    odd = folder / "odd.parquet"
    for name, table in {
        "no column but one": pa.table({"person": ["z"]}),
        "no rows": rows().slice(0, 0),
        "another column": rows(secret=[1, 2]),
        "a gap": pa.table({"person": ["x", "y"], "age": [None, 40.0]}),
        "a text": pa.table({"person": [1, 2], "age": ["unknown", "7"], "income": ["1,5", None]}),
        "a list": pa.table({"person": ["x"], "age": [[1]], "extra": [{"a": 1}]}),
        "bytes": pa.table({"person": ["x"], "age": [b"1"], "extra": [b""]}),
        "nothing": pa.table({"person": ["x"], "age": pa.nulls(1), "extra": pa.nulls(1)}),
        "moments": pa.table(
            {"person": ["x"], "age": [dt.datetime(2020, 1, 1)], "extra": [dt.datetime(2020, 7, 1)]}
        ),
        "nobody": pa.table({"age": [1]}),
        "letters that only Python folds": pa.table({"person": ["x"], "größe": [1], "GRÖSSE": [2]}),
        "a name of the declared in letters beyond A to Z": pa.table({"person": ["x"], "HÖHE": [1]}),
        "no columns": pa.table({}),
    }.items():
        pq.write_table(table, odd)
        yield name
    odd.unlink()
    for name in ("year=2021", "year=abc", "YEAR=", "year=2021/town=C"):
        (folder / name).mkdir(parents=True, exist_ok=True)
        pq.write_table(rows(), folder / name / "a.parquet")
        yield name
        (folder / name / "a.parquet").unlink()
    (folder / "a.csv").write_text("person,year\nz,2021\n")
    yield "a text file"
    (folder / "a.csv").unlink()
    (folder / "a.jsonl").write_text(json.dumps({"person": "z", "AGE": 5, "age": 6, "": 1}) + "\n")
    yield "lines of JSON"
    (folder / "a.jsonl").write_text(json.dumps({"person": "z", "a;b;c;d|e": 5, "HÖHE": 1}) + "\n")
    yield "JSON with a key that looks like a heading of its own"
    (folder / "a.jsonl").unlink()
    odd.symlink_to("first.parquet")
    yield "a link"
    odd.unlink()
    (folder / "first.parquet").unlink()
    yield "no file"


def outcome(config: Path, person: str = "person") -> list:
    """Return all that an analyst sees of some questions, besides the numbers."""
    seen: list = []
    with discreet.open(config) as curator:
        for sql in (each.replace("person", person) for each in QUESTIONS):
            try:
                free = curator.explain(sql, epsilon=1)
                seen += [str(free), curator.columns(sql)]
                answer = curator.query(sql, epsilon=1)
                keys = [row[0] for row in answer.rows] if "GROUP" in sql else []
                seen += [answer.columns, keys, answer.cost, answer.free]
                seen += [
                    answer.provenance.sql,
                    answer.provenance.mechanisms,
                    answer.provenance.notes,
                ]
            except DiscreetError as error:
                seen.append((type(error), str(error)))
    return seen


def refusals(seen: list) -> list:
    return [each for each in seen if isinstance(each, tuple) and each and isinstance(each[0], type)]


def neighbours(base: Path, only: set[str] | None = None) -> dict[str, list]:
    """Return the outcomes of all or some neighbouring folders, each with a ledger of its own."""
    folder = base / "t"
    folder.mkdir(parents=True)
    pq.write_table(
        rows(income=[1.0, 2.0], extra=[dt.date(2020, 7, 1), None]), folder / "first.parquet"
    )
    found = {}

    def asked() -> list:
        own = base / f"w{len(found)}"
        shutil.copytree(folder, own / "t", symlinks=True)
        (own / "discreet.toml").write_text(TOML.format(source="t"))
        return outcome(own / "discreet.toml")

    found["as it was"] = asked()
    for name in odd_files(folder):
        if only is None or name in only:
            found[name] = asked()
    return found


def test_no_file_of_a_folder_is_told_by_more_than_noise(tmp_path):
    found = neighbours(tmp_path)
    assert len(found) > 18
    first = found["as it was"]
    assert not refusals(first)
    for name, seen in found.items():
        assert seen == first, name


def test_the_twin_that_reads_files_as_they_are_is_caught(tmp_path, monkeypatch):
    monkeypatch.setattr(opened_catalog, "declared_cells", lambda *_: {})
    odd = {"a gap", "a list", "a text file", "a link", "no file"}
    found = neighbours(tmp_path, odd)
    assert {name for name, seen in found.items() if seen != found["as it was"]} == odd


def test_the_owner_is_told_what_does_not_fit(tmp_path):
    folder = tmp_path / "t"
    folder.mkdir()
    pq.write_table(rows(income=[1.0, 2.0]), folder / "first.parquet")
    (tmp_path / "discreet.toml").write_text(TOML.format(source="t"))
    with discreet.open(tmp_path / "discreet.toml") as curator:
        told = " ".join(curator.warnings())
        assert "no column 'year' now" in told
        assert "no column 'income'" not in told
        pq.write_table(rows(income=["1", "2"]), folder / "odd.parquet")
        assert "'income' in different ways" in " ".join(curator.warnings())


@pytest.mark.parametrize("change", ["a value that is none", "a column came", "all rows deleted"])
def test_no_file_of_a_lake_is_told_by_more_than_noise(tmp_path, change):
    for side in ("before", "after"):
        base = tmp_path / side
        shutil.copytree(DELTA / "people", base / "t")
        (base / "discreet.toml").write_text(TOML.format(source="t").replace("person", "id"))
    log = tmp_path / "after" / "t" / "_delta_log"
    last = max(log.glob("*.json"))
    if change == "a value that is none":
        last.write_text(last.read_text().replace('"year":"2021"', '"year":"abc"'))
        assert '"abc"' in last.read_text()
    elif change == "a column came":
        pq.write_table(pa.table({"income": ["1"], "surprise": [1]}), log.parent / "new.parquet")
        last.with_name(f"{int(last.stem) + 1:020}.json").write_text(
            json.dumps({"add": {"path": "new.parquet", "partitionValues": {"year": "2021"}}})
        )
    else:
        gone = [
            {"remove": {"path": file.path.replace("%", "%25")}}
            for file in delta_files("t", log.parent)
        ]
        last.with_name(f"{int(last.stem) + 1:020}.json").write_text(
            "\n".join(map(json.dumps, gone))
        )
        assert delta_files("t", log.parent) == ()
    before, after = (
        outcome(tmp_path / side / "discreet.toml", "id") for side in ("before", "after")
    )
    assert before == after
    assert not refusals(before)
