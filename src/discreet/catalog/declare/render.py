"""The discreet.toml that `discreet init` proposes, as text with comments for the owner who reviews it."""

from __future__ import annotations

from collections.abc import Iterable

from discreet.catalog.declare import toml_text as toml
from discreet.catalog.declare.compose import (
    columns_lines,
    composed,
    engine_and_ledger,
    heading,
    setting,
)
from discreet.catalog.declare.proposal import ColumnProposal, Proposal, TableProposal

HEAD = (
    "Proposed by 'discreet init' for the owner of the data to review.",
    (
        "Whatever stands below was read from private data: the lists, the bounds and these comments. "
        "Keep the file to yourself until you have replaced what is not public knowledge."
    ),
    (
        "A column marked 'review = true' cannot be asked about. Check its domain against public "
        "knowledge (a code book, a law, common sense), correct it, and remove the mark."
    ),
)

ACCEPTED = (
    (
        "Written by 'discreet init --accept'. The domains below were read from the data, and the "
        "owner has declared them public without a review. Every answer says so."
    ),
)


def render_toml(proposal: Proposal) -> str:
    """Return the text of the file; reading it back gives the same settings."""
    words = ACCEPTED if proposal.accepted else HEAD
    return composed(
        [line for each in words for line in toml.comment(each)],
        engine_and_ledger(proposal.engine_url, proposal.ledger_url),
        _dataset(proposal),
        *(_table(proposal, table) for table in proposal.tables),
    )


def _dataset(proposal: Proposal) -> Iterable[str]:
    yield heading("datasets", proposal.dataset)
    if proposal.accepted:
        yield setting("accepted", True, "the domains below were declared public unseen")
    if proposal.epsilon is None:
        yield from toml.comment(
            "REQUIRED: the most that any one person can lose over all answers ever given. Nothing "
            "can be asked before you choose it; 1 is strong, 10 is weak."
        )
        yield "# epsilon = 1.0"
    else:
        yield setting("epsilon", proposal.epsilon.value)
    if proposal.delta is None:
        yield from toml.comment(
            "Optional: a chance of failure far below one in the number of people, for Gaussian "
            "noise and for groups whose names are private. Without it the promise is absolute."
        )
        yield "# delta = 1e-9"
    else:
        yield setting("delta", proposal.delta.value)
    note = 'or "replace-one", if the number of rows is public'
    yield setting("neighbours", "add-remove", note)


def _table(proposal: Proposal, table: TableProposal) -> Iterable[str]:
    yield heading("datasets", proposal.dataset, "tables", table.name)
    for words in table.seen:
        yield from toml.comment(words)
    yield setting("source", table.source)
    if table.encoding is not None:
        yield setting("encoding", table.encoding, "guessed: check names with odd letters")
    if table.unit is None:
        yield from toml.comment(
            'REQUIRED: whom to protect. "row" if every row is another person; otherwise the '
            "column that says whose row it is. Nothing can be asked before you choose it."
        )
        yield '# unit = "row"'
    else:
        yield setting("unit", table.unit)
    yield from _max_rows(table)
    yield ""
    yield from columns_lines(proposal.dataset, table.name, {})
    for column in table.columns:
        yield from _column(column)


def _max_rows(table: TableProposal) -> Iterable[str]:
    if table.max_rows is not None:
        yield setting(
            "max_rows", table.max_rows, "how many rows of one person count, unless a query says"
        )
    elif table.suggested_rows is not None:
        yield from toml.comment(
            "How many rows of one person count at most, unless a query asks for another number: more rows, more noise. The number here was "
            "read from the data; choose one that is public knowledge."
        )
        yield f"# max_rows = {table.suggested_rows}"


def _column(column: ColumnProposal) -> Iterable[str]:
    for words in column.seen:
        yield from toml.comment(words)
    yield setting(column.name, column.settings)
