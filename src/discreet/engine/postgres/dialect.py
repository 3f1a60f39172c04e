"""The SQL of PostgreSQL, where it differs from that of other engines."""

from __future__ import annotations

from discreet.engine.dialect.row import Dialect

POSTGRES = Dialect(
    name="postgres",
    grammar="postgres",
    double="DOUBLE PRECISION",
    text="TEXT",
    as_text='(CAST($0 AS TEXT) COLLATE "C")',
    fits="$0 ~ $2",
    group="regexp_replace($0, $1, '\\$2')",
    truth={"MIN": "BOOL_AND", "MAX": "BOOL_OR"},
    collates=True,
    raises_on_tiny=True,
    long_texts_fail=True,
    functions={
        "hash60": "CAST(CAST('x' || substr(md5($0), 1, 15) AS BIT(60)) AS BIGINT)",
        "sha256": "encode(sha256(convert_to($0, 'UTF8')), 'hex')",
        "whole_of_bytes": (
            "CAST(CAST('x' || lpad(encode(substring($0 FROM $1 FOR $2), 'hex'), 16, '0') "
            "AS BIT(64)) AS BIGINT)"
        ),
        "bit_xor": "(CAST($0 AS BIGINT) # CAST($1 AS BIGINT))",
        "sum_small": "CAST(SUM(CAST($0 AS BIGINT)) AS DECIMAL(38, 0))",
        "day_number": "CAST($0 - DATE '1970-01-01' AS BIGINT)",
    },
    forbidden=(
        r"lo_\w+|dblink\w*|query_to_\w+|table_to_\w+|schema_to_\w+|database_to_\w+|cursor_to_\w+"
        r"|xml\w*|set_config|current_setting|nextval|setval|currval|random\w*|gen_random_uuid"
        r"|has_\w+_privilege|inet_\w+|version|ts_stat|txid_\w+|setseed"
    ),
)
