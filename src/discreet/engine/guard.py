"""The second wall: only one plain SELECT goes to an engine.

Our generator is the first wall: analysts' text never arrives here. This one costs a scan of the
text and makes a mistake in the generator harmless: no second statement, no comment, no statement
that writes or configures, and none of the functions through which SELECT alone can reach files,
settings, other queries or the network. Generated SQL quotes every identifier, so a column may be
called `load`.
"""

from __future__ import annotations

import re

from discreet.engine.base import engine_failed

_STANDARD = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"")
_BACKSLASH = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`(?:[^`]|``)*`", re.DOTALL)
_QUOTED = {"duckdb": _STANDARD, "postgres": _STANDARD, "spark": _BACKSLASH}

_MARK = "\x00"
_FIRST = re.compile(r"[\s(]*(?:SELECT|WITH|VALUES)\b", re.IGNORECASE)
# A quote that is left over is an unfinished literal, $ opens another kind of literal, and a letter
# just before a literal (E'..', X'..') changes the rules by which it was recognised.
_NEVER = re.compile(r";|--|/\*|['\"`$\\]|\b(?:E|B|X|N|R|U&)" + _MARK, re.IGNORECASE)

_WORDS = re.compile(
    r"\b(?:insert|update|delete|merge|create|drop|alter|copy|attach|detach|install|load|set|reset"
    r"|call|pragma|grant|revoke|vacuum|explain|analyze|tablesample|into|export|import|summarize"
    r"|describe|show|information_schema|pg_(?!temp\b)\w+|duckdb_\w+|pragma_\w+)\b",
    re.IGNORECASE,
)
_FUNCTIONS = {
    "duckdb": (
        r"read_\w+|parquet_\w+|sniff_csv|glob|query|query_table|getvariable|current_setting|getenv"
        r"|random|setseed|uuid\w*|gen_random_uuid|nextval|currval|error|write_log|sql_auto_complete"
        r"|checkpoint|force_checkpoint|arrow_scan\w*|pandas_scan|python_map_function|which_secret"
    ),
    "postgres": (
        r"lo_\w+|dblink\w*|query_to_\w+|table_to_\w+|schema_to_\w+|database_to_\w+|cursor_to_\w+"
        r"|xml\w*|set_config|current_setting|nextval|setval|currval|random\w*|gen_random_uuid"
        r"|has_\w+_privilege|inet_\w+|version|ts_stat|txid_\w+|setseed"
    ),
    "spark": (
        r"reflect|java_method|try_reflect|input_file_\w+|rand|randn|random|uuid|raise_error"
        r"|assert_true|transform|read_files|version|shuffle|monotonically_increasing_id|csv|json|text"
    ),
}
_CALLS = {
    dialect: re.compile(rf"\b(?:{names})\s*\(", re.IGNORECASE)
    for dialect, names in _FUNCTIONS.items()
}


def only_select(sql: str, dialect: str) -> str:
    """Return `sql` if it is one plain SELECT in this dialect; otherwise raise EngineFailed."""
    bare = _QUOTED[dialect].sub(_MARK, sql)
    if (
        _MARK in sql
        or _FIRST.match(bare) is None
        or _NEVER.search(bare)
        or _WORDS.search(bare)
        or _CALLS[dialect].search(bare)
    ):
        raise engine_failed()
    return sql
