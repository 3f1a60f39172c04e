"""`--where`: the owner's condition on rows, read, allow-listed and written anew."""

from __future__ import annotations

from collections.abc import Sequence

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from discreet.errors import InvalidInput

_ALLOWED = (
    exp.And,
    exp.Or,
    exp.Not,
    exp.Paren,
    exp.EQ,
    exp.NEQ,
    exp.LT,
    exp.LTE,
    exp.GT,
    exp.GTE,
    exp.Is,
    exp.In,
    exp.Between,
    exp.Column,
    exp.Identifier,
    exp.Literal,
    exp.Null,
    exp.Boolean,
    exp.Neg,
)
_HINT = "Write for example \"age >= 18 AND region IN ('North', 'South')\"."


def condition_sql(written: str, columns: Sequence[str], *, dialect: str) -> str:
    """Return the condition in the engine's dialect; only comparisons of columns with constants.

    Guarantee: the text is parsed and regenerated from an allow-list of node types with every
        identifier quoted, so nothing but a comparison reaches the engine.
    """
    try:
        tree = sqlglot.parse_one(written, into=exp.Condition)
    except SqlglotError:
        raise InvalidInput("The condition of --where cannot be read.", hint=_HINT) from None
    names = {name.lower(): name for name in columns}
    if not isinstance(tree, exp.Predicate | exp.Connector | exp.Not | exp.Paren):
        raise InvalidInput("The condition of --where is no comparison.", hint=_HINT)
    for node in tree.walk():
        if not isinstance(node, _ALLOWED):
            raise InvalidInput(
                f"--where compares columns with constants; it cannot use {node.key.upper()}.",
                hint=_HINT,
            )
        if isinstance(node, exp.Column):
            if node.table or node.name.lower() not in names:
                raise InvalidInput(
                    f"--where names '{node.name}', which is no column of this table.",
                    hint=f"There are: {', '.join(columns)}.",
                )
            node.set("this", exp.to_identifier(names[node.name.lower()], quoted=True))
    return tree.sql(dialect=dialect, comments=False)
