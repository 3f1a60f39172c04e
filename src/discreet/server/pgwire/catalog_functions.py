"""The functions that catalog queries may call: DuckDB's own that are harmless, and our macros."""

from __future__ import annotations

from discreet.server.pgwire.catalog_rows import CLASS_OID, DATABASE, prefixed, spelled
from discreet.server.pgwire.options import VERSION
from discreet.server.pgwire.types import ALL

PREFIX = "discreet_"

PASSED = frozenset(
    [
        "abs",
        "any_value",
        "array",
        "array_agg",
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
        "exists",
        "explode",
        "extract",
        "floor",
        "generate_series",
        "group_concat",
        "greatest",
        "ifnull",
        "initcap",
        "initcap",
        "json_agg",
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
        "now",
        "nullif",
        "position",
        "regexp_like",
        "regexp_i_like",
        "regexp_replace",
        "replace",
        "reverse",
        "right",
        "round",
        "row_number",
        "rtrim",
        "sign",
        "split_part",
        "starts_with",
        "str_position",
        "string_agg",
        "strpos",
        "substr",
        "substring",
        "sum",
        "trim",
        "try_cast",
        "unnest",
        "upper",
        "dense_rank",
        "rank",
        "and",
        "or",
        "xor",
        "not",
        "if",
        "row_number",
        "date_trunc",
        "timestamp_trunc",
        "sort_array",
        "array_concat",
        "array_contains",
        "unix_to_time",
        "str_to_time",
        "group_concat",
        "array_cat",
        "array_append",
    ]
)
"""Functions that DuckDB may run as they are; all of them are cheap and touch nothing outside."""

EMPTY_TABLES = frozenset(
    {"pg_get_keywords", "pg_options_to_table", "aclexplode", "pg_listening_channels"}
)
"""Functions that return rows elsewhere, and none here."""


def _name_of(table: str, name: str, key: str = "oid") -> str:
    return f'(SELECT any_value("{name}") FROM "{prefixed(table)}" WHERE "{key}" = number)'


def _format_type() -> str:
    cases = " ".join(f"WHEN {oid} THEN '{spelled(kind)}'" for oid, kind in sorted(ALL.items()))
    return f"CASE number {cases} ELSE '???' END"


_SHOWN = f'(SELECT any_value(c."relname") FROM "{prefixed("pg_class")}" c WHERE c."oid" = number)'
_DESCRIPTION = (
    f'(SELECT any_value(d."description") FROM "{prefixed("pg_description")}" d '
    'WHERE d."objoid" = number AND d."objsubid" = '
)
_FIND_TABLE = (
    f'(SELECT min(c."oid") FROM "{prefixed("pg_class")}" c JOIN "{prefixed("pg_namespace")}" n '
    'ON n."oid" = c."relnamespace" WHERE lower(replace(written, \'"\', \'\')) IN '
    "(lower(n.nspname || '.' || c.relname), "
    "CASE WHEN n.nspname = 'preview' THEN NULL ELSE lower(c.relname) END))"
)
_FIND_TYPE = (
    f'(SELECT min(t."oid") FROM "{prefixed("pg_type")}" t '
    "WHERE t.typname = regexp_replace(lower(written), '^pg_catalog\\.', ''))"
)
_FIND_SCHEMA = (
    f'(SELECT min(n."oid") FROM "{prefixed("pg_namespace")}" n '
    "WHERE lower(n.nspname) = lower(written))"
)
_SYSTEM_TABLES = {"pg_class": CLASS_OID, "pg_type": 1247, "pg_namespace": 2615, "pg_proc": 1255,
                  "pg_constraint": 2606, "pg_database": 1262, "pg_trigger": 2620,
                  "pg_attrdef": 2604, "pg_authid": 1260, "pg_tablespace": 1213}  # fmt: skip


def _regclass() -> str:
    cases = " ".join(f"WHEN '{name}' THEN {oid}" for name, oid in _SYSTEM_TABLES.items())
    bare = "regexp_replace(lower(written), '^pg_catalog\\.', '')"
    return f"CASE {bare} {cases} ELSE {_FIND_TABLE} END"


_VISIBLE = (
    f'(SELECT bool_or(n."nspname" <> \'preview\') FROM "{prefixed("pg_class")}" c '
    f'JOIN "{prefixed("pg_namespace")}" n ON n."oid" = c."relnamespace" WHERE c."oid" = number)'
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
    "acldefault": 2, "pg_last_xlog_replay_location": 0, "pg_last_wal_replay_lsn": 0,
}  # fmt: skip
_FALSE_FUNCTIONS = {"pg_is_in_recovery": 0, "pg_is_other_temp_schema": 1, "row_security_active": 1}


def _bodies() -> dict[str, list[tuple[str, str]]]:
    """Return each macro's forms: its arguments, and its body."""
    return {
        "format_type": [("number, modifier", _format_type())],
        "pg_get_userbyid": [("number", _name_of("pg_roles", "rolname"))],
        "pg_table_is_visible": [("number", _VISIBLE)],
        "obj_description": [("number", f"{_DESCRIPTION}0)"), ("number, kind", f"{_DESCRIPTION}0)")],
        "col_description": [("number, place", f"{_DESCRIPTION}place)")],
        "pg_encoding_to_char": [("number", "'UTF8'")],
        "quote_ident": [("written", "'\"' || written || '\"'")],
        "pg_backend_pid": [("", "1")],
        "has_table_privilege": [
            ("thing, privilege", "upper(privilege) = 'SELECT'"),
            ("who, thing, privilege", "upper(privilege) = 'SELECT'"),
        ],
        "has_column_privilege": [
            ("thing, col, privilege", "upper(privilege) = 'SELECT'"),
            ("who, thing, col, privilege", "upper(privilege) = 'SELECT'"),
        ],
        "has_any_column_privilege": [("thing, privilege", "upper(privilege) = 'SELECT'")],
        "has_sequence_privilege": [("thing, privilege", "false")],
        "has_function_privilege": [("thing, privilege", "false")],
        "has_type_privilege": [("thing, privilege", "true")],
        "to_regclass": [("written", _FIND_TABLE)],
        "to_regtype": [("written", _FIND_TYPE)],
        "to_regnamespace": [("written", _FIND_SCHEMA)],
        "regclass_number": [("written", _regclass())],
        "regtype_number": [("written", _FIND_TYPE)],
        "regnamespace_number": [("written", _FIND_SCHEMA)],
        "regclass_name": [("number", _SHOWN)],
        "regtype_name": [("number", _format_type())],
        "regnamespace_name": [("number", _name_of("pg_namespace", "nspname"))],
        "version": [("", f"'PostgreSQL {VERSION} (Discreet)'")],
        "current_database": [("", f"'{DATABASE}'")],
        "generate_subscripts": [("list, dimension", "unnest(range(1, len(list) + 1))")],
    }


def macros() -> list[str]:
    """Return the statements that make every macro."""
    bodies = _bodies()
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


MACROS = frozenset(_bodies()) | set(_TRUE_FUNCTIONS) | set(_NULL_FUNCTIONS) | set(_FALSE_FUNCTIONS)
