"""The functions that catalog queries may call: DuckDB's own that are harmless, and our macros."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.data.engines.dialects import text_constant
from discreet.server.pgwire.catalog.rows import (
    DATABASE,
    FIRST_VIEW,
    SYSTEM_TABLES,
    CatalogNames,
    spelled,
)
from discreet.server.pgwire.options import VERSION
from discreet.server.pgwire.types import ALL

PREFIX = "discreet_"

PASSED = frozenset(
    [
        "abs",
        "all",
        "and",
        "any",
        "any_value",
        "array",
        "array_agg",
        "array_append",
        "array_cat",
        "array_concat",
        "array_contains",
        "array_length",
        "array_position",
        "array_size",
        "array_to_string",
        "avg",
        "bool_and",
        "bool_or",
        "boolean_and",
        "boolean_or",
        "cardinality",
        "case",
        "cast",
        "ceil",
        "char_length",
        "coalesce",
        "concat",
        "concat_ws",
        "count",
        "current_date",
        "current_timestamp",
        "date_trunc",
        "dense_rank",
        "exists",
        "explode",
        "exploding_generate_series",
        "extract",
        "floor",
        "generate_series",
        "greatest",
        "group_concat",
        "if",
        "ifnull",
        "initcap",
        "least",
        "left",
        "length",
        "list_agg",
        "logical_and",
        "logical_or",
        "lower",
        "ltrim",
        "max",
        "min",
        "mod",
        "not",
        "now",
        "nullif",
        "or",
        "position",
        "rank",
        "regexp_i_like",
        "regexp_like",
        "regexp_replace",
        "replace",
        "reverse",
        "right",
        "round",
        "row_number",
        "rtrim",
        "sign",
        "sort_array",
        "split_part",
        "starts_with",
        "str_position",
        "string_agg",
        "strpos",
        "substr",
        "substring",
        "sum",
        "timestamp_trunc",
        "trim",
        "try_cast",
        "unnest",
        "upper",
        "xor",
    ]
)
"""Functions that DuckDB may run as they are; all of them are cheap and touch nothing outside."""

NULLED = frozenset(
    [
        "json_build_object",
        "jsonb_build_object",
        "json_object",
        "jsonb_object_agg",
        "json_object_agg",
        "row_to_json",
        "to_char",
        "to_json",
        "to_jsonb",
        "array_to_json",
        "jsonb_agg",
        "pg_char_to_encoding",
        "array_dims",
        "pg_blocking_pids",
        "pg_describe_object",
        "pg_identify_object",
        "pg_relation_filepath",
    ]
)
"""Functions about things that nobody has here: whatever their arguments, they say nothing."""

EMPTY_TABLES = frozenset(
    {"pg_get_keywords", "pg_options_to_table", "aclexplode", "pg_listening_channels"}
)
"""Functions that return rows elsewhere, and none here."""


def _named(names: Mapping[int, str], argument: str = "number") -> str:
    """Return SQL that looks a number up in a constant.

    Not in a table: a macro's argument is pasted into its body, where a subquery's own columns would
    capture the names in it.
    """
    if not names:
        return "CAST(NULL AS VARCHAR)"
    pairs = ", ".join(f"{number}: {text_constant(name)}" for number, name in names.items())
    return f"MAP {{{pairs}}}[CAST({argument} AS BIGINT)]"


def _numbered(numbers: Mapping[str, int]) -> str:
    """Return SQL that looks a written name up in a constant; schema pg_catalog may be left out."""
    pairs = ", ".join(f"{text_constant(name)}: {number}" for name, number in numbers.items())
    bare = "regexp_replace(lower(replace(written, '\"', '')), '^pg_catalog\\.', '')"
    return f"CAST(MAP {{{pairs}}}[{bare}] AS UINTEGER)"


_TYPE_NAME = _named({oid: spelled(kind) for oid, kind in ALL.items()})
_FORMAT_TYPE = f"CASE WHEN number IS NULL THEN NULL ELSE coalesce({_TYPE_NAME}, '???') END"
_TYPE_NUMBER = _numbered(
    {name: oid for oid, kind in ALL.items() for name in dict.fromkeys((kind.name, spelled(kind)))}
)
_TRUE_FUNCTIONS = {
    "has_schema_privilege": 3, "has_database_privilege": 3, "pg_type_is_visible": 1,
    "pg_function_is_visible": 1, "pg_opclass_is_visible": 1, "pg_operator_is_visible": 1,
    "pg_collation_is_visible": 1, "pg_conversion_is_visible": 1, "pg_ts_config_is_visible": 1,
    "pg_statistics_obj_is_visible": 1, "pg_has_role": 3,
}  # fmt: skip
_NULL_FUNCTIONS = {
    "pg_get_expr": 3, "pg_get_constraintdef": 2, "pg_get_indexdef": 3, "pg_get_viewdef": 2,
    "pg_get_partkeydef": 1, "pg_get_serial_sequence": 2, "pg_get_ruledef": 2,
    "pg_get_triggerdef": 2, "pg_get_functiondef": 1, "pg_get_function_arguments": 1,
    "pg_get_function_result": 1, "pg_get_function_identity_arguments": 1,
    "pg_get_statisticsobjdef_columns": 1, "pg_relation_filenode": 1, "pg_relation_size": 2,
    "pg_total_relation_size": 1, "pg_table_size": 1, "pg_indexes_size": 1, "pg_database_size": 1,
    "pg_tablespace_size": 1, "pg_size_pretty": 1, "pg_tablespace_location": 1,
    "shobj_description": 2, "pg_partition_root": 1, "pg_relation_is_publishable": 1,
    "to_regproc": 1, "to_regprocedure": 1, "pg_index_column_has_property": 3,
    "pg_indexam_has_property": 2, "txid_current_if_assigned": 0, "inet_client_addr": 0,
    "inet_server_addr": 0, "inet_server_port": 0, "inet_client_port": 0, "pg_my_temp_schema": 0,
    "pg_postmaster_start_time": 0, "pg_conf_load_time": 0, "pg_sequence_last_value": 1,
    "pg_advisory_unlock_all": 0,
    "acldefault": 2, "pg_last_xlog_replay_location": 0, "pg_last_wal_replay_lsn": 0,
}  # fmt: skip
_FALSE_FUNCTIONS = {"pg_is_in_recovery": 0, "pg_is_other_temp_schema": 1, "row_security_active": 1}


def _formatted(*arguments: str) -> str:
    found = "pattern"
    for argument in arguments:
        found = f"regexp_replace({found}, '%[sIL]', {argument})"
    return found


_SELECT_ONLY = "upper(privilege) = 'SELECT'"
_FIXED: dict[str, list[tuple[str, str]]] = {
    "format_type": [("number, modifier", _FORMAT_TYPE)],
    "pg_encoding_to_char": [("number", "'UTF8'")],
    "format": [
        ("pattern, one", _formatted("one")),
        ("pattern, one, two", _formatted("one", "two")),
        ("pattern, one, two, three", _formatted("one", "two", "three")),
    ],
    "array_upper": [("list, dimension", "len(list)")],
    "array_lower": [("list, dimension", "1")],
    "getdatabaseencoding": [("", "'UTF8'")],
    "pg_client_encoding": [("", "'UTF8'")],
    "quote_literal": [
        ("written", "'''' || replace(CAST(written AS VARCHAR), '''', '''''') || ''''")
    ],
    "quote_nullable": [
        (
            "written",
            "coalesce('''' || replace(CAST(written AS VARCHAR), '''', '''''') || '''', 'NULL')",
        )
    ],
    "quote_ident": [("written", "'\"' || written || '\"'")],
    "pg_backend_pid": [("", "1")],
    "has_table_privilege": [
        ("thing, privilege", _SELECT_ONLY),
        ("who, thing, privilege", _SELECT_ONLY),
    ],
    "has_column_privilege": [
        ("thing, col, privilege", _SELECT_ONLY),
        ("who, thing, col, privilege", _SELECT_ONLY),
    ],
    "has_any_column_privilege": [
        ("thing, privilege", _SELECT_ONLY),
        ("who, thing, privilege", _SELECT_ONLY),
    ],
    "has_sequence_privilege": [("thing, privilege", "false")],
    "has_function_privilege": [("thing, privilege", "false")],
    "has_type_privilege": [("thing, privilege", "true")],
    "to_regtype": [("written", _TYPE_NUMBER)],
    "regtype_number": [("written", _TYPE_NUMBER)],
    "regtype_name": [("number", _FORMAT_TYPE)],
    "version": [("", f"'PostgreSQL {VERSION} (Discreet)'")],
    "current_database": [("", f"'{DATABASE}'")],
    "generate_subscripts": [("list, dimension", "unnest(range(1, len(list) + 1))")],
}


def _bodies(names: CatalogNames) -> dict[str, list[tuple[str, str]]]:
    """Return each macro's forms: its arguments, and its body."""
    tables = {**SYSTEM_TABLES, **{name.lower(): oid for name, oid in names.written.items()}}
    schemas = {name.lower(): oid for oid, name in names.schemas.items()}
    # One key for both: descriptions of tables have place 0.
    described = {oid * 10_000 + place: said for (oid, place), said in names.words.items()}
    whole = _named(described, "CAST(number AS BIGINT) * 10000")
    visible = ", ".join(map(str, [0, *names.visible]))
    return {
        **_FIXED,
        "pg_get_userbyid": [("number", _named(names.roles))],
        "pg_table_is_visible": [
            (
                "number",
                f"(CAST(number AS BIGINT) IN ({visible}) OR CAST(number AS BIGINT) >= {FIRST_VIEW})",
            )
        ],
        "obj_description": [("number", whole), ("number, kind", whole)],
        "col_description": [
            ("number, place", _named(described, "CAST(number AS BIGINT) * 10000 + place"))
        ],
        "to_regclass": [("written", _numbered(tables))],
        "to_regnamespace": [("written", _numbered(schemas))],
        "regclass_number": [("written", _numbered(tables))],
        "regclass_name": [("number", _named(names.tables))],
        "regnamespace_number": [("written", _numbered(schemas))],
        "regnamespace_name": [("number", _named(names.schemas))],
    }


def macros(names: CatalogNames) -> list[str]:
    """Return the statements that make every macro."""
    bodies = _bodies(names)
    for listed, value in (
        (_TRUE_FUNCTIONS, "true"),
        (_NULL_FUNCTIONS, "NULL"),
        (_FALSE_FUNCTIONS, "false"),
    ):
        for name, most in listed.items():
            forms = [", ".join(f"a{i}" for i in range(count)) for count in range(most + 1)]
            bodies[name] = [(form, value) for form in forms]
    return [
        f"CREATE MACRO {PREFIX}{name} " + ", ".join(f"({form}) AS {body}" for form, body in forms)
        for name, forms in bodies.items()
    ]


MACROS = (
    frozenset(_bodies(CatalogNames()))
    | set(_TRUE_FUNCTIONS)
    | set(_NULL_FUNCTIONS)
    | set(_FALSE_FUNCTIONS)
)
