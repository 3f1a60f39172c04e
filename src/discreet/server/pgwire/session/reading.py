"""Text to a tree: what cannot be read is refused with its place in what the client sent."""

from __future__ import annotations

from dataclasses import replace

import sqlglot
from sqlglot import exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import TokenType

from discreet import api
from discreet.errors import QueryRefused
from discreet.server.pgwire.protocol.problems import Failure
from discreet.server.pgwire.session.statements import WireStatement


class _CatalogDialect(Postgres):
    """PostgreSQL as catalog queries speak it: oid[] and regtype[] are types as well."""

    class Tokenizer(Postgres.Tokenizer):
        """Words such as oid are names of types; the parser's own rule for them takes no []."""

        KEYWORDS = {  # noqa: RUF012  # as the parser declares its own
            word: kind
            for word, kind in Postgres.Tokenizer.KEYWORDS.items()
            if kind is not TokenType.OBJECT_IDENTIFIER
        }


_KINDS = exp.Select | exp.SetOperation | exp.Values | exp.Subquery | exp.Table
_LONGEST = 40
_AROUND = ("start_context", "highlight", "end_context")


def browsed(statement: WireStatement) -> exp.Expr:
    """Return the tree of one SELECT, as a client's PostgreSQL; questions are not answered from it."""
    try:
        parsed = sqlglot.parse(statement.text, read=_CatalogDialect)
        trees = [tree for tree in parsed if tree is not None]
    except Exception as error:  # noqa: BLE001  # broken text trips the parser in many ways of its own
        raise misread(statement, error) from None
    if len(trees) != 1 or not isinstance(trees[0], _KINDS):
        raise Failure("0A000", "Only SELECT statements can be asked.")
    found: exp.Expr = trees[0]
    if found.args.get("into"):
        raise Failure("25006", "SELECT INTO is declined: nothing can be written here.")
    return found


def asked(statement: WireStatement) -> api.ParsedStatement:
    """Return a question, parsed as all questions are, whichever door they come through."""
    try:
        return replace(api.parsed(statement.text), unit=statement.unit)
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
    before, near, after = (str(found.get(part) or "") for part in _AROUND)
    # By its surroundings: the parser's own columns are off after texts of several lines.
    begin = statement.text.find(before + near + after) if near else -1
    if begin < 0:
        return Failure("42601", "This is not valid SQL.")
    return Failure(
        "42601",
        f'This is not valid SQL at or near "{near[:_LONGEST]}".',
        position=statement.sent_at(begin + len(before)) + 1,
    )
