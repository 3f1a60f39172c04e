"""Rows as CSV and as Parquet, batch by batch: never more than one piece of a table at a time."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from discreet.publish.contents import PublishedRows
from discreet.publish.package.archive import Archive

PIECE = 1 << 18
"""How many rows are turned into text at once."""
CHARACTERS = 12
"""About how long a field is; chooses the compression only."""


def add_csv(archive: Archive, name: str, rows: PublishedRows) -> None:
    """Write `rows` as a CSV member: a header, fields quoted where they must be, lines end in LF."""
    expected = rows.num_rows * len(rows.schema) * CHARACTERS
    names = _texts(pa.array(rows.schema.names, pa.string())).to_pylist()
    with archive.member(name, expected=expected) as stream:
        stream.write((",".join(names) + "\n").encode())
        for lines in _lines_ahead(_pieces(rows)):
            stream.write(lines)


def add_parquet(archive: Archive, name: str, rows: PublishedRows) -> None:
    """Write `rows` as a Parquet member, which is compressed by itself."""
    expected = rows.num_rows * len(rows.schema) * CHARACTERS
    with (
        archive.member(name, expected=expected) as stream,
        pq.ParquetWriter(stream, rows.schema, compression="zstd") as writer,
    ):
        for piece in _pieces(rows):
            writer.write_batch(piece)


def _lines_ahead(pieces: Iterator[pa.RecordBatch]) -> Iterator[memoryview]:
    """Yield the lines of each piece, the next ones while the last are being compressed."""
    with ThreadPoolExecutor(1) as pool:
        waiting: Future[memoryview] | None = None
        for piece in pieces:
            following = pool.submit(_lines, piece)
            if waiting is not None:
                yield waiting.result()
            waiting = following
        if waiting is not None:
            yield waiting.result()


def _pieces(rows: PublishedRows) -> Iterator[pa.RecordBatch]:
    for batch in rows.to_batches():
        for start in range(0, batch.num_rows, PIECE):
            yield batch.slice(start, PIECE)


def _lines(piece: pa.RecordBatch) -> memoryview:
    """Return the text of all rows: fields joined by commas, each row with its line end."""
    fields = [_texts(column) for column in piece.columns]
    joined = fields[0]
    if len(fields) > 1:
        joined = pc.binary_join_element_wise(*fields, ",")
    ended = pc.binary_join_element_wise(joined, "\n", "")
    # The texts of a string column lie one after the other: that is the file.
    offsets = memoryview(ended.buffers()[1]).cast("i")
    first, last = offsets[ended.offset], offsets[ended.offset + len(ended)]
    return memoryview(ended.buffers()[2])[first:last]


def _texts(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        # Quoting a few distinct values is quicker than looking at every row.
        return pc.take(_texts(column.dictionary), column.indices).fill_null("")
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        special = pc.match_substring_regex(column, '[",\r\n]|^$')
        if not pc.any(special).as_py():
            return column.cast(pa.string()).fill_null("")
        doubled = pc.replace_substring(column, '"', '""')
        quoted = pc.binary_join_element_wise('"', doubled, '"', "")
        return pc.if_else(special, quoted, column).cast(pa.string()).fill_null("")
    return column.cast(pa.string()).fill_null("")
