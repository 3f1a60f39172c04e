"""The SQL of Spark, where it differs from that of other engines."""

from __future__ import annotations

from discreet.engine.dialect.row import Dialect

# A sum where SUM leaves 64 bits: 21 bits at a time. Decimals of 19 digits take three times as long.
_SUM_IN_PARTS = (
    "(CAST(SUM(shiftright(CAST($0 AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104"
    " + CAST(SUM(shiftright(CAST($0 AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152"
    " + CAST(SUM(CAST($0 AS BIGINT) & 2097151) AS DECIMAL(38, 0)))"
)

SPARK = Dialect(
    name="spark",
    grammar="spark",
    mark="`",
    backslashes=True,
    text="STRING",
    small="SHORT",
    as_text="CAST($0 AS STRING)",
    quotient="div",
    # Java's $ also matches before a last line break, so the match is compared with the whole.
    fits="regexp_extract($0, $2, 0) = $0",
    tells_empty=False,
    types_follow_rows=True,
    backtracks=True,
    narrow_sums=True,
    functions={
        "hash60": "CAST(conv(substr(md5($0), 1, 15), 16, 10) AS BIGINT)",
        "sha256": "sha2($0, 256)",
        "whole_of_bytes": "CAST(conv(hex(substring($0, $1, $2)), 16, -10) AS BIGINT)",
        "shift_right": "shiftright($0, $1)",
        "bit_xor": "(CAST($0 AS BIGINT) ^ CAST($1 AS BIGINT))",
        "sum_integer": _SUM_IN_PARTS,
        "sum_small": _SUM_IN_PARTS,
        "sum_distinct": ("CAST(SUM(DISTINCT CAST($0 AS DECIMAL(19, 0))) AS DECIMAL(38, 0))"),
        "day_number": "CAST(unix_date($0) AS BIGINT)",
        "day_of_number": "date_from_unix_date(CAST($0 AS INTEGER))",
        "weekday": "CAST(EXTRACT(DAYOFWEEK_ISO FROM $0) AS BIGINT)",
    },
    forbidden=(
        r"reflect|java_method|try_reflect|input_file_\w+|rand|randn|random|uuid|raise_error"
        r"|assert_true|transform|read_files|version|shuffle|monotonically_increasing_id|csv|json|text"
    ),
)
