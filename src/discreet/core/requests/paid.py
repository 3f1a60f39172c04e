"""Fields that every paid request has: the price, who pays, and the id under which it may be repeated.

Each is written with its default where it is used (`default=None`): type checkers read it there.
"""

from __future__ import annotations

from typing import Any

from discreet.core.numbers import Delta, Epsilon
from discreet.core.requests.request_fields import FieldKind, asked

LONGEST_NAME = 400
LONGEST_CONDITION = 10_000


def word(words: str, *, default: str, longest: int = 20) -> Any:
    """Return a field that takes one of a few words."""
    return asked(FieldKind.TEXT, words, default=default, longest=longest)


def column(words: str, **more: Any) -> Any:
    """Return a field that names a column, or a table; required unless a default is given."""
    return asked(FieldKind.TEXT, words, shortest=1, longest=LONGEST_NAME, **more)


def columns(words: str, *, default: tuple[()], many: int) -> Any:
    """Return a field that names columns."""
    return asked(
        FieldKind.TEXTS, words, default=default, shortest=1, longest=LONGEST_NAME, many=many
    )


def condition(words: str, *, default: None) -> Any:
    """Return a field that takes a condition on rows."""
    return asked(FieldKind.TEXT, words, default=default, longest=LONGEST_CONDITION)


def table(*, kw_only: bool) -> Any:
    """Return the table that is read."""
    return column("The table to read.", kw_only=kw_only)


def epsilon(**more: Any) -> Any:
    """Return the price; required unless a default is given."""
    return asked(FieldKind.AMOUNT, "How much budget to use.", reads=Epsilon.of, **more)


def delta(*, default: None) -> Any:
    """Return the delta of a price."""
    words = "The chance that the promise fails, such as 1e-9."
    return asked(FieldKind.AMOUNT, words, default=default, reads=Delta.of)


def analyst(*, default: None) -> Any:
    """Return who pays."""
    words = "The analyst who asks."
    return asked(FieldKind.TEXT, words, default=default, longest=200, option="--as", last=True)


def request_id(what: str, *, default: None) -> Any:
    """Return the id under which the same `what` is had again."""
    words = f"Ask again under the same id: same {what}, no charge."
    return asked(FieldKind.TEXT, words, default=default, shortest=1, longest=200, last=True)
