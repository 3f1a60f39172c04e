from __future__ import annotations

import pytest

from discreet.data.engines.column_types import ColumnKind, Storage, read_as, storage


@pytest.mark.parametrize(
    ("engine_type", "found"),
    [
        ("BIGINT", Storage.INTEGER),
        ("UTINYINT", Storage.INTEGER),
        ("HUGEINT", Storage.INTEGER),
        ("int", Storage.INTEGER),
        ("integer", Storage.INTEGER),
        ("smallint", Storage.INTEGER),
        ("DECIMAL(18,3)", Storage.DECIMAL),
        ("numeric", Storage.DECIMAL),
        ("double precision", Storage.NUMBER),
        ("FLOAT", Storage.NUMBER),
        ("real", Storage.NUMBER),
        ("boolean", Storage.BOOLEAN),
        ("date", Storage.DATE),
        ("timestamp without time zone", Storage.TIMESTAMP),
        ("TIMESTAMP_NS", Storage.TIMESTAMP),
        ("character varying(20)", Storage.TEXT),
        ("string", Storage.TEXT),
        ("ENUM('a', 'b')", Storage.TEXT),
        ("STRUCT(a INTEGER)", Storage.OTHER),
        ("INTEGER[]", Storage.OTHER),
        ("character varying(20)[]", Storage.OTHER),
        ("timestamp without time zone[]", Storage.OTHER),
        ("VARCHAR[3]", Storage.OTHER),
        ("bpchar", Storage.TEXT),
        ("character(3)", Storage.TEXT),
        ("name", Storage.TEXT),
        ('"char"', Storage.TEXT),
        ("enum()", Storage.TEXT),
        ("money", Storage.OTHER),
        ("oid", Storage.OTHER),
        ("interval", Storage.OTHER),
        ("datemultirange", Storage.OTHER),
    ],
)
def test_engine_types_are_understood_whole(engine_type, found):
    assert storage(engine_type) is found


def test_what_cannot_be_read_is_null_of_the_right_type():
    assert (
        read_as(ColumnKind.DATE, "x", engine_type="BIGINT", dialect="duckdb")
        == "CAST(NULL AS DATE)"
    )
    assert "DOUBLE" in read_as(ColumnKind.NUMBER, "x", engine_type="JSON", dialect="postgres")
