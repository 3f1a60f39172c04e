"""Text to a tree: what cannot be read is refused with its place in what the client sent."""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError

from discreet import api
from discreet.errors import QueryRefused
from discreet.server.pgwire.protocol.problems import Failure
from discreet.server.pgwire.session.statements import WireStatement

_KINDS = exp.Select | exp.SetOperation | exp.Values | exp.Subquery | exp.Table
_LONGEST = 40


def browsed(statement: WireStatement) -> exp.Expr:
    """Return the tree of one SELECT, as a client's PostgreSQL; questions are not answered from it."""
    try:
        trees = [
            tree for tree in sqlglot.parse(statement.text, read="postgres") if tree is not None
        ]
    except Exception as error:  # noqa: BLE001  # broken text trips the parser in many ways of its own
        raise misread(statement, error) from None
    if len(trees) != 1 or not isinstance(trees[0], _KINDS):
        raise Failure("0A000", "Only SELECT statements can be asked.")
    found: exp.Expr = trees[0]
    if found.args.get("into"):
        raise Failure("25006", "SELECT INTO is declined: nothing can be written here.")
    return found


def asked(statement: WireStatement) -> api.Asked:
    """Return a question, parsed as all questions are, whichever door they come through."""
    try:
        return api.parsed(statement.text)
    except QueryRefused as error:
        if error.construct != "syntax":
            raise
    try:
        sqlglot.parse(statement.text, read="duckdb")  # once more, for the place of the mistake
    except Exception as error:  # noqa: BLE001  # as above
        raise misread(statement, error) from None
    raise misread(statement, ValueError())


def misread(statement: WireStatement, error: Exception) -> Failure:
    """Return the refusal of a text that is not SQL; the place is counted in letters, from 1 on."""
    found = error.errors[0] if isinstance(error, ParseError) and error.errors else {}
    near, line, column = found.get("highlight"), found.get("line"), found.get("col")
    if not near or not line or not column:
        return Failure("42601", "This is not valid SQL.")
    lines = statement.text.split("\n")
    # The parser counts to the end of the word that it did not expect.
    begin = sum(len(each) + 1 for each in lines[: line - 1]) + column - len(near)
    place = statement.sent_at(min(max(begin, 0), len(statement.text)))
    return Failure(
        "42601", f'This is not valid SQL at or near "{near[:_LONGEST]}".', position=place + 1
    )
