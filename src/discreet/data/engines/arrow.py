"""One set of column types for the results of all engines."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

# DECIMAL(38, 0) holds the sum of 10^19 rows of 64-bit integers.
WIDE = pa.decimal128(38, 0)

_Test = Callable[[pa.DataType], bool]

_TYPES: tuple[tuple[_Test, pa.DataType], ...] = (
    (pa.types.is_uint64, WIDE),
    (pa.types.is_integer, pa.int64()),
    (pa.types.is_floating, pa.float64()),
    (pa.types.is_large_string, pa.string()),
    (pa.types.is_string_view, pa.string()),
    (pa.types.is_large_binary, pa.binary()),
    (pa.types.is_binary_view, pa.binary()),
    (pa.types.is_null, pa.string()),
)


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return _plain_type(kind.value_type)
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us")
    if pa.types.is_decimal(kind) and kind.scale == 0 and kind.precision <= WIDE.precision:
        return WIDE
    for matches, plain in _TYPES:
        if matches(kind):
            return plain
    return kind


def table_bytes(table: pa.Table) -> bytes:
    """Return a table as it is sent between processes: one stream of Arrow."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def plain_table(table: pa.Table) -> pa.Table:
    """Return `table` with int64, float64, string, bool, date32, timestamp[us] and decimal columns.

    Times with a zone become times in UTC without one. Whole decimals are decimal128(38, 0). No
    conversion here can fail on a value: each target holds every value of its source.
    """
    fields = [pa.field(field.name, _plain_type(field.type)) for field in table.schema]
    plain = pa.schema(fields)
    return table if table.schema.equals(plain) else table.cast(plain, safe=False)
