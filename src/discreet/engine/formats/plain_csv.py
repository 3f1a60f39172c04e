"""CSV files that cannot be understood in two ways, as Parquet by Arrow's reader: in half the processor time.

Without a quotation mark, a carriage return, a zero byte or an empty line a file is its lines, and a line its cells. Which reader
takes it makes no difference then, and every other file is left to DuckDB. For `ingest` alone: the rule by which
a column is stored in a type is the one that is told there. (docs/notes/0082)
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.system.regular_file import open_regular

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
