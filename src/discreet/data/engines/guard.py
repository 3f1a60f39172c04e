"""Check of generated SQL before it runs: one plain SELECT, nothing else.

Our generator is the first wall: analysts' text never arrives here. This one costs a scan of the
text and makes a mistake in the generator harmless: no second statement, no comment, no statement
that writes or configures, and none of the functions through which SELECT alone can reach files,
settings, other queries or the network. Generated SQL quotes every identifier, so a column may be
called `load`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from discreet.data.engines.base import engine_failed
from discreet.data.engines.dialects import DIALECTS

_STANDARD = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"")
_BACKSLASH = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`(?:[^`]|``)*`", re.DOTALL)

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


@lru_cache
def _calls(functions: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{functions})\s*\(", re.IGNORECASE)


def only_select(sql: str, dialect: str) -> str:
    """Return `sql` if it is one plain SELECT in this dialect; otherwise raise EngineFailed."""
    row = DIALECTS[dialect]
    bare = (_BACKSLASH if row.backslashes else _STANDARD).sub(_MARK, sql)
    if (
        _MARK in sql
        or _FIRST.match(bare) is None
        or _NEVER.search(bare)
        or _WORDS.search(bare)
        or _calls(row.forbidden).search(bare)
    ):
        raise engine_failed()
    return sql
