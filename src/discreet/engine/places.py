"""Where a table of ours really lies: names in generated SQL, replaced token by token."""

from __future__ import annotations

import re
from collections.abc import Mapping

from discreet.engine.names import quoted

# Literals first: a text that looks like a name stays the text that it is.
_TEXT = {"postgres": r"'(?:[^']|'')*'", "spark": r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""}
_NAME = {"postgres": r'"((?:[^"]|"")*)"', "spark": r"`((?:[^`]|``)*)`"}
_TOKENS = {
    dialect: re.compile(rf"{_TEXT[dialect]}|(?<![\w.])canon\.{name}|{name}", re.DOTALL)
    for dialect, name in _NAME.items()
}
_MARK = {"postgres": '"', "spark": "`"}


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
    mark = _MARK[dialect]

    def put(token: re.Match[str]) -> str:
        if token[1] is None:
            return token[0]
        name = token[1].replace(mark * 2, mark)
        return places.get(name, token[0])

    return _TOKENS[dialect].sub(put, sql)
