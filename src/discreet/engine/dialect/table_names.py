"""Replaces table names in generated SQL by the places where the tables lie, token by token."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from discreet.engine.dialect.names import quoted
from discreet.engine.dialects import DIALECTS


@lru_cache
def _tokens(dialect: str) -> re.Pattern[str]:
    row = DIALECTS[dialect]
    # Literals first: a text that looks like a name stays the text that it is.
    text = _ESCAPED if row.backslashes else _PLAIN
    name = f"{row.mark}((?:[^{row.mark}]|{row.mark * 2})*){row.mark}"
    return re.compile(rf"{text}|(?<![\w.])canon\.{name}|{name}", re.DOTALL)


_PLAIN = "'(?:[^']|'')*'"
_ESCAPED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""


def canon(name: str, dialect: str) -> str:
    """Return the name under which generated SQL reads the canonical rows of a table.

    >>> canon("census.people", "postgres")
    'canon."census.people"'
    """
    return f"canon.{quoted(name, dialect)}"


def placed(sql: str, dialect: str, places: Mapping[str, str]) -> str:
    """Return `sql` with each `canon` name replaced by the relation in `places`.

    Guarantee: only whole tokens are replaced, never a part of a literal or of another name, so
        nothing that a user may write (a value, an alias) is ever taken for a table of ours.

    >>> placed('SELECT 1 FROM canon."t" AS a', "postgres", {"t": "public.t"})
    'SELECT 1 FROM public.t AS a'
    """
    mark = DIALECTS[dialect].mark

    def put(token: re.Match[str]) -> str:
        if token[1] is None:
            return token[0]
        name = token[1].replace(mark * 2, mark)
        return places.get(name, token[0])

    return _tokens(dialect).sub(put, sql)
