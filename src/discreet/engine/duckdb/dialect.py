"""The SQL of DuckDB, where it differs from that of other engines."""

from __future__ import annotations

from discreet.engine.dialect.row import Dialect

DUCKDB = Dialect(
    name="duckdb",
    grammar="duckdb",
    # It compares moments in the finer of two units, where the bounds themselves overflow.
    moment="TRY_CAST($0 AS TIMESTAMP)",
    byte="UTINYINT",
    # It decides comparisons from a Parquet file's least and greatest value, which leave NaN out: a
    # NaN may pass any of them there. So a cast gives NULL where it would fail, and NaN is asked for by
    # name.
    try_cast="TRY_CAST",
    nan_passes=True,
    quotient="//",
    trim="trim",
    fits="regexp_full_match($0, $1)",
    # Setting bits takes a sixth of the time of a hash table.
    distinct="BIT_COUNT(BITSTRING_AGG(CAST($0 AS BIGINT), $1, $2))",
    enums=True,
    wide_integers=frozenset({"hugeint", "uhugeint", "ubigint"}),
    decimal_texts=True,
    escapes_in_like=False,
    functions={
        # In the order and by the equality of its bytes, whatever the source's collation calls equal.
        "text_of_any": '(CAST($0 AS VARCHAR) COLLATE "C")',
        # Compared with 10^18, a decimal that leaves fewer digits before its point fails where there is a row.
        "integer_of_decimal": (
            "CASE WHEN regexp_full_match(CAST($0 AS VARCHAR), '-?[0-9]{0,18}([.]0*)?') "
            "THEN COALESCE(TRY_CAST(split_part(CAST($0 AS VARCHAR), '.', 1) AS BIGINT), 0) END"
        ),
        "hash60": "CAST('0x' || substr(md5($0), 1, 15) AS BIGINT)",
        "sha256": "sha256($0)",
        "whole_of_bytes": "CAST(TRY_CAST($0[$1:$1 + $2 - 1] AS BIT) AS BIGINT)",
        "bit_xor": "xor(CAST($0 AS BIGINT), CAST($1 AS BIGINT))",
        # Of numbers up to 2^21: in 64 bits, for 2^42 rows, in two thirds of the time.
        "sum_small": "CAST(sum_no_overflow(CAST($0 AS BIGINT)) AS DECIMAL(38, 0))",
        "day_number": "date_diff('day', DATE '1970-01-01', $0)",
    },
    forbidden=(
        r"read_\w+|parquet_\w+|sniff_csv|glob|query|query_table|getvariable|current_setting|getenv"
        r"|random|setseed|uuid\w*|gen_random_uuid|nextval|currval|error|write_log|sql_auto_complete"
        r"|checkpoint|force_checkpoint|arrow_scan\w*|pandas_scan|python_map_function|which_secret"
    ),
)
