"""CSV files as Parquet, with the types that their texts fit: what the owner's own tools see.

For proposals and anonymization only. Questions read canonical snapshots, which are made from the
texts themselves: no type that follows from rows ever reaches the SQL of a question.

Every cell is read as text. A column is then *stored* as an integer, a number, a date or a boolean
only if each of its texts comes back letter by letter from that type. So the storage type is an
encoding, never a meaning: a row with an odd cell can make its column text again, and still every
other cell says exactly what it said (see docs/notes/0012-engines.md).

A CSV file that cannot be understood in two ways is read by Arrow, in half the processor time: without a quotation
mark, a carriage return, a zero byte or an empty line a file is its lines, and a line its cells. Which reader takes it
makes no difference then, and every other file is left to DuckDB. (docs/notes/0082)
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from discreet.base.files import open_regular
from discreet.data.engines.dialects import quoted, text_constant

_LONGEST = 2_000_000
"""Bytes of a line; DuckDB refuses little more."""
_ROW_GROUP = 120_000
_BLOCK = 1 << 20
_YEAR_ONE = (dt.date(1, 1, 1) - dt.date(1970, 1, 1)).days
_AMBIGUOUS = (b'"', b"\r", b"\0", b"\n\n")
SHORT_DECIMAL = r"[1-9][0-9]{0,8}\.([0-9]{0,3}[1-9]|0)"
"""Texts that come back from a double for certain (at most 13 digits): writing it out takes the longest."""


class Misfit(Exception):
    """A text does not come back from the type of its column, or a line has other cells than the first."""


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A CSV file in UTF-8, its columns known from its first line."""

    path: Path
    delimiter: str
    columns: tuple[str, ...]

    @property
    def plain(self) -> bool:
        """Return whether the file is its lines, and each line its cells, to every reader."""
        if len(set(self.columns)) < len(self.columns):
            return False
        last = b"\n"
        with open_regular(self.path, buffering=0) as file:
            while block := file.read(_BLOCK):
                empty = last == b"\n" == block[:1]
                if empty or any(odd in block for odd in _AMBIGUOUS):
                    return False
                last = block[-1:]
        return True


def store_plain(
    file: CsvFile,
    target: Path,
    *,
    kinds: Mapping[str, str],
    repeating: Collection[str],
    compression: str,
) -> None:
    """Write a plain file as Parquet, each column in its kind or as text; Misfit where that cannot be.

    `repeating` are the columns of few values, which get a dictionary.
    """
    import pyarrow.parquet as pq

    columns = file.columns
    readers = {column: _reader(kinds[column]) if column in kinds else None for column in columns}
    schema = pa.schema([(c, _TYPES[kinds[c]] if c in kinds else pa.string()) for c in columns])
    how = "none" if compression == "uncompressed" else compression
    with pq.ParquetWriter(
        target,
        schema,
        compression=how,
        use_dictionary=[column for column in columns if column in repeating],
        write_statistics=False,
    ) as writer:
        waiting: list[pa.RecordBatch] = []
        for batch in _batches(file):
            cells = [
                cell if (read := readers[column]) is None else read(cell)
                for column, cell in zip(columns, batch.columns, strict=True)
            ]
            waiting.append(pa.RecordBatch.from_arrays(cells, schema=schema))
            if sum(each.num_rows for each in waiting) >= _ROW_GROUP:
                writer.write_table(pa.Table.from_batches(waiting, schema))
                waiting = []
        if waiting:
            writer.write_table(pa.Table.from_batches(waiting, schema))


def _batches(file: CsvFile) -> Iterator[pa.RecordBatch]:
    from pyarrow import csv

    try:
        yield from csv.open_csv(
            file.path,
            csv.ReadOptions(column_names=list(file.columns), skip_rows=1, block_size=_LONGEST),
            csv.ParseOptions(delimiter=file.delimiter, quote_char=False),
            csv.ConvertOptions(
                column_types=dict.fromkeys(file.columns, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
    except pa.ArrowException:
        raise Misfit from None


def _reader(kind: str) -> Callable[[pa.Array], pa.Array]:
    def read(texts: pa.Array) -> pa.Array:
        try:
            found = pc.cast(texts, _TYPES[kind])
        except pa.ArrowInvalid:
            raise Misfit from None
        if not _HELD[kind](texts, found):
            raise Misfit
        return found

    return read


def _integers(texts: pa.Array, _: pa.Array) -> bool:
    """Arrow reads a sign, digits, zeros before them and 0x1F: what begins with a zero is only that zero."""
    zeros = pc.and_(pc.starts_with(texts, "0"), pc.greater(pc.binary_length(texts), 1))
    return _within(texts, 1, 18) and not _any(zeros) and not _any(pc.starts_with(texts, "-0"))


def _dates(texts: pa.Array, found: pa.Array) -> bool:
    """Arrow reads 2024-12-31 and nothing else; before the year 1 DuckDB writes years in another way."""
    first = pc.min(found.view(pa.int32())).as_py()
    return _within(texts, 10, 10) and (first is None or first >= _YEAR_ONE)


def _booleans(texts: pa.Array, _: pa.Array) -> bool:
    said = (pc.sum(pc.equal(texts, word)).as_py() or 0 for word in ("true", "false"))
    return bool(sum(said) == len(texts) - texts.null_count)


def _within(texts: pa.Array, low: int, high: int) -> bool:
    ends = pc.min_max(pc.binary_length(texts)).as_py()
    return ends["min"] is None or (low <= ends["min"] and ends["max"] <= high)


def _decimals(texts: pa.Array, found: pa.Array) -> bool:
    """Children have no numpy: Arrow writes a double as short as Python does, but for exponents and whole numbers."""
    if _all(pc.match_substring_regex(texts, f"^(?:{SHORT_DECIMAL})$")):
        return True
    alike = pc.and_(
        pc.equal(pc.cast(found, pa.string()), texts),
        pc.and_not(pc.match_substring(texts, "."), pc.match_substring(texts, "e")),
    )
    rest = pc.invert(pc.fill_null(alike, fill_value=True))
    pairs = zip(texts.filter(rest).to_pylist(), found.filter(rest).to_pylist(), strict=True)
    return all(_is_decimal(text, value) for text, value in pairs)


def _is_decimal(text: str, value: float) -> bool:
    """Return whether a double is written like this and in no other way: no exponent, no inf, no nan."""
    plain = "." in text and not {"e", "n"} & set(text) and text != "-0.0"
    return plain and repr(value) == text


def _all(truths: pa.Array) -> bool:
    return pc.all(truths).as_py() is not False


def _any(truths: pa.Array) -> bool:
    return pc.any(truths).as_py() is True


_TYPES: Mapping[str, Any] = {
    "BIGINT": pa.int64(),
    "DOUBLE": pa.float64(),
    "DATE": pa.date32(),
    "BOOLEAN": pa.bool_(),
}
_HELD: Mapping[str, Callable[[pa.Array, pa.Array], bool]] = {
    "BIGINT": _integers,
    "DOUBLE": _decimals,
    "DATE": _dates,
    "BOOLEAN": _booleans,
}


UNAMBIGUOUS = ("BIGINT", "BOOLEAN")
"""Types whose texts say the same in every spelling; 1.234 and 2024-03-04 do not."""
_SAMPLE = 2000
_FIRST = "temp.discreet_first_rows"
_AT_ONCE = 64
_FEW = 200
_DICTIONARY = 1_000
"""Columns of more values are written as they are: a dictionary of them costs more than it saves."""
_escaped = SHORT_DECIMAL.replace("{", "{{").replace("}", "}}")
_TESTS: Mapping[str, str] = {
    "BIGINT": "CAST({read} AS VARCHAR) = {cell} AND length({cell}) <= 18",
    "DOUBLE": (
        f"CASE WHEN regexp_full_match({{cell}}, '{_escaped}') THEN true ELSE "
        "CAST({read} AS VARCHAR) = {cell} AND {cell} <> '-0.0' "
        # No exponent: other readers of the text spell those differently. No inf and no nan.
        "AND length({cell}) <= 25 AND contains({cell}, '.') "
        "AND NOT contains({cell}, 'e') AND NOT contains({cell}, 'n') END"
    ),
    "DATE": "CAST({read} AS VARCHAR) = {cell} AND length({cell}) = 10",
    "BOOLEAN": "CAST({read} AS VARCHAR) = {cell}",
}
"""Whether the text of a cell comes back from what was read of it."""
EVERY = tuple(_TESTS)


def _holds(connection: duckdb.DuckDBPyConnection, tests: list[str], table: str) -> list[bool]:
    """Return for each test whether some cell is there and none fails it."""
    found: list[bool] = []
    # A few at a time: planning one SELECT of thousands takes minutes, and columns are read once.
    for start in range(0, len(tests), _AT_ONCE):
        some = ", ".join(tests[start : start + _AT_ONCE])
        row = connection.execute(f"SELECT {some} FROM {table}").fetchone()
        found += [bool(cell) for cell in row or ()]
    return found


def _every(kind: str, column: str) -> str:
    name = quoted(column)
    holds = _holding(kind, name, f"TRY_CAST({name} AS {kind})")
    return f"bool_and({holds}) FILTER (WHERE {name} IS NOT NULL)"


def _holding(kind: str, cell: str, read: str) -> str:
    return f"coalesce({_TESTS[kind].format(cell=cell, read=read)}, {cell} IS NULL)"


def store_typed(
    connection: duckdb.DuckDBPyConnection,
    select: str,
    *,
    target: str,
    kinds: Collection[str] = EVERY,
    compression: str = "snappy",
    file: CsvFile | None = None,
) -> None:
    """Write the texts of a SELECT as Parquet, each column in the type that spells it alike.

    `kinds` are the types that may be chosen: where a spelling is declared later, only those that
    have one text for each value in every spelling (see UNAMBIGUOUS). What is read a few times and
    thrown away need not be compressed, which takes longer than it saves. `file`: the SELECT is of all
    of this file as it stands, which is read without DuckDB if it is plain.
    """
    columns = [row[0] for row in connection.execute(f"DESCRIBE {select}").fetchall()]
    # The first rows by themselves: a file of thousands of columns is not read again for each few tests.
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE {_FIRST} AS SELECT * FROM ({select}) LIMIT {_SAMPLE}"
    )
    found = likely_encodings(connection, columns, _FIRST, kinds)
    few = _of_few(connection, columns)
    connection.execute(f"DROP TABLE {_FIRST}")
    if file is not None and file.plain:
        with suppress(Misfit):
            store_plain(file, Path(target), kinds=found, repeating=few, compression=compression)
            return
    if _stored(connection, select, columns, found, target, compression=compression):
        return
    # A later row contradicts the first ones: only now all rows are read to find out where.
    tests = [_every(kind, column) for column, kind in found.items()]
    sure = _holds(connection, tests, f"({select})")
    held = {c: k for (c, k), holds in zip(found.items(), sure, strict=True) if holds}
    if not _stored(connection, select, columns, held, target, compression=compression):
        raise duckdb.InvalidInputException("the texts changed while they were read")


def _of_few(connection: duckdb.DuckDBPyConnection, columns: list[str]) -> set[str]:
    """Return the columns that have few different texts in the first rows."""
    tests = [f"count(DISTINCT {quoted(column)}) <= {_FEW}" for column in columns]
    found = _holds(connection, tests, _FIRST)
    return {column for column, few in zip(columns, found, strict=True) if few}


def likely_encodings(
    connection: duckdb.DuckDBPyConnection,
    columns: list[str],
    rows: str,
    kinds: Collection[str] = EVERY,
) -> dict[str, str]:
    """Return the columns of some rows whose every text survives another type, with that type."""
    tries = [(column, kind) for column in columns for kind in _TESTS if kind in kinds]
    tests = [_every(kind, column) for column, kind in tries]
    likely: dict[str, str] = {}
    for (column, kind), holds in zip(tries, _holds(connection, tests, rows), strict=True):
        if holds:
            likely.setdefault(column, kind)
    return likely


def _stored(
    connection: duckdb.DuckDBPyConnection,
    select: str,
    columns: list[str],
    kinds: Mapping[str, str],
    target: str,
    *,
    compression: str,
) -> bool:
    """Return whether every text survives its type; the file is whole only then."""
    # Each text is read once, below: reading it is what takes the time.
    texts = [f"s.{quoted(column)} AS t{i}" for i, column in enumerate(columns)]
    reads = [
        f"TRY_CAST(s.{quoted(column)} AS {kinds[column]}) AS r{i}"
        for i, column in enumerate(columns)
        if column in kinds
    ]
    below = f"SELECT {', '.join([*texts, *reads])} FROM ({select}) AS s"
    cells = ", ".join(
        f"{'r' if column in kinds else 't'}{i} AS {quoted(column)}"
        for i, column in enumerate(columns)
    )
    alike = [
        _holding(kinds[column], f"t{i}", f"r{i}")
        for i, column in enumerate(columns)
        if column in kinds
    ]
    # error() ends the whole statement: a text that is not spelled alike must not be stored so.
    where = f"CASE WHEN {' AND '.join(alike) or 'true'} THEN true ELSE error('misfit') END"
    how = f"FORMAT parquet, COMPRESSION {compression}, DICTIONARY_SIZE_LIMIT {_DICTIONARY}"
    order = f"COPY (SELECT {cells} FROM ({below}) AS b WHERE {where}) TO {text_constant(target)} ({how})"
    try:
        connection.execute(order)
    except duckdb.InvalidInputException:
        if kinds:
            return False
        raise
    return True
