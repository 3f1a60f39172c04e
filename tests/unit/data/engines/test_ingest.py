from __future__ import annotations

import random
from unittest import mock

import duckdb
import pytest

from discreet.data.engines.column_types import ColumnKind, read_as
from discreet.data.engines.ingest import SHORT_DECIMAL, UNAMBIGUOUS, likely_encodings, store_typed
from sittings import FULL

CELLS = [
    *("0", "1", "-7", "12", "007", "+5", "-0", "39.0", "39.5", "0.1", "-0.0", "1e+05", "1e5"),
    *("2.50", " 12", "12 ", "1_000", "true", "false", "True", "t", "nan", "inf", "Infinity"),
    *("2024-02-29", "2023-02-29", "2024-1-1", "24-01-01", "2024-02-29 10:00:00", "9" * 18),
    *(
        "9" * 19,
        "-" + "9" * 18,
        "0.1234567890123456",
        "x",
        "0x10",
        "1,5",
        "NULL",
        "Zoë",
        "10000000000000000.0",
    ),
]


def types_of(columns):
    """Return the encoding of each column of texts, as the reader of CSV files chooses it."""
    connection = duckdb.connect(config={"threads": "1"})
    height = max(map(len, columns.values()))
    padded = {name: [*cells, *[None] * (height - len(cells))] for name, cells in columns.items()}
    names = ", ".join(f'"{name}" VARCHAR' for name in padded)
    connection.execute(f"CREATE TABLE t ({names})")
    marks = ", ".join("?" for _ in padded)
    connection.executemany(
        f"INSERT INTO t VALUES ({marks})", list(zip(*padded.values(), strict=True))
    )
    return connection, likely_encodings(connection, list(padded), "t")


def test_columns_get_the_type_that_spells_them_alike():
    _, found = types_of(
        {
            "whole": ["1", "-7", None],
            "number": ["39.0", "0.5", "-12.25"],
            "day": ["2024-02-29", "1999-12-31"],
            "flag": ["true", "false"],
            "mixed": ["1", "2.5"],
            "padded": ["007", "8"],
            "capital": ["True", "False"],
            "long": ["9" * 19],
            "empty": [None],
        }
    )
    assert found == {"whole": "BIGINT", "number": "DOUBLE", "day": "DATE", "flag": "BOOLEAN"}


def stored_types(tmp_path, select, **options):
    connection = duckdb.connect()
    target = str(tmp_path / "stored.parquet")
    store_typed(connection, select, target=target, **options)
    described = connection.execute(f"DESCRIBE SELECT * FROM '{target}'").fetchall()
    (rows,) = connection.execute(f"SELECT COUNT(*) FROM '{target}'").fetchone()
    return {row[0]: row[1] for row in described}, rows


def test_the_sample_never_decides_alone(tmp_path):
    texts = "CASE WHEN i < 3000 THEN '1' ELSE 'x' END AS late, CAST(i AS VARCHAR) AS whole"
    found = stored_types(tmp_path, f"SELECT {texts} FROM range(3001) AS r(i)")
    assert found == ({"late": "VARCHAR", "whole": "BIGINT"}, 3001)


def test_what_a_spelling_could_read_otherwise_stays_text(tmp_path):
    texts = "'1.234' AS number, '2024-03-04' AS day, '7' AS whole, 'true' AS flag"
    found, _ = stored_types(tmp_path, f"SELECT {texts}", kinds=UNAMBIGUOUS)
    assert found == {"number": "VARCHAR", "day": "VARCHAR", "whole": "BIGINT", "flag": "BOOLEAN"}


@pytest.mark.parametrize("kind", list(ColumnKind))
def test_what_others_wrote_does_not_change_what_a_cell_says(kind):
    """Whatever type a cell's column got, the cell reads as its text does.

    This is what keeps one person's odd row from moving everybody else's: see the note.
    """
    columns = {f"c{i}": [cell] for i, cell in enumerate(CELLS)}
    connection, found = types_of(columns)
    pairs = []
    for column, stored in found.items():
        text = read_as(kind, column, engine_type="VARCHAR", dialect="duckdb")
        cast = f"CAST({column} AS {stored})"
        other = read_as(kind, cast, engine_type=stored, dialect="duckdb")
        pairs += [f"CAST({text} AS VARCHAR)", f"CAST({other} AS VARCHAR)"]
    row = connection.execute(f"SELECT {', '.join(pairs)} FROM t").fetchone()
    told = dict(zip(found, zip(row[::2], row[1::2], strict=True), strict=True))
    assert {columns[name][0]: pair for name, pair in told.items() if pair[0] != pair[1]} == {}
    assert len(found) >= 8


def test_the_broken_twin_that_trusts_a_sniffer_is_caught():
    """A reader that stores '007' as 7 makes the text of that cell depend on its neighbours."""
    connection = duckdb.connect()
    as_text = read_as(ColumnKind.TEXT, "'007'", engine_type="VARCHAR", dialect="duckdb")
    sniffed = read_as(
        ColumnKind.TEXT, "CAST('007' AS BIGINT)", engine_type="BIGINT", dialect="duckdb"
    )
    row = connection.execute(f"SELECT {as_text}, {sniffed}").fetchone()
    assert row[0] != row[1]


def test_numbers_that_are_not_written_out_would_come_back_as_well(tmp_path):
    """Short decimals pass by their form alone: each text of that form comes back from its double."""
    rng = random.Random(7)
    wholes = [
        1,
        9,
        10,
        999_999_999,
        *(rng.randrange(1, 10 ** rng.randint(1, 9)) for _ in range(3000)),
    ]
    texts = [f"{whole}.{'0' * rng.randint(0, 3)}{rng.randint(1, 9)}" for whole in wholes]
    texts += [f"{whole}.{rng.randint(0, 999):03}{rng.randint(1, 9)}" for whole in wholes]
    texts += [f"{whole}.0" for whole in wholes]
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT unnest($1) AS x", [texts])
    passed, same = connection.execute(
        f"SELECT count(*) FILTER (WHERE regexp_full_match(x, '{SHORT_DECIMAL}')), "
        "count(*) FILTER (WHERE CAST(CAST(x AS DOUBLE) AS VARCHAR) = x) FROM t"
    ).fetchone()
    assert passed == same == len(texts)


def test_a_wide_file_is_read_three_times_and_not_for_every_few_columns(tmp_path):
    """Once for its columns, once for its first rows, once to be stored."""
    connection = duckdb.connect()
    cells = ", ".join(f"'{i}' AS c{i}" for i in range(300 if FULL else 130))
    connection.execute(f"CREATE TABLE t AS SELECT {cells}")
    counted = mock.Mock(wraps=connection)
    store_typed(counted, "SELECT * FROM main.t", target=str(tmp_path / "t.parquet"))
    statements = [str(call.args[0]) for call in counted.execute.call_args_list]
    assert sum("main.t" in statement for statement in statements) == 3
    assert len(statements) > 3
