"""Fields that every paid request has: the price, who pays, and the id under which it may be repeated."""

from __future__ import annotations

from typing import Any

from discreet.core.numbers import Delta, Epsilon
from discreet.core.requests.request_fields import FieldKind, asked

LONGEST_NAME = 400
LONGEST_CONDITION = 10_000


def word(words: str, default: str, *, longest: int = 20) -> Any:
    """Return a field that takes one of a few words."""
    return asked(FieldKind.TEXT, words, default, longest=longest)


def column(words: str, *default: None, **more: str) -> Any:
    """Return a field that names a column; required unless a default is given."""
    return asked(FieldKind.TEXT, words, *default, shortest=1, longest=LONGEST_NAME, **more)


def columns(words: str, *, many: int) -> Any:
    """Return a field that names columns, none unless given."""
    return asked(FieldKind.TEXTS, words, (), shortest=1, longest=LONGEST_NAME, many=many)


def condition(words: str) -> Any:
    """Return a field that takes a condition on rows."""
    return asked(FieldKind.TEXT, words, None, longest=LONGEST_CONDITION)


def table() -> Any:
    """Return the table that is read."""
    return column("The table to read.")


def epsilon(*default: Any) -> Any:
    """Return the price; required unless a default is given."""
    return asked(FieldKind.AMOUNT, "How much budget to use.", *default, reads=Epsilon.of)


def delta() -> Any:
    """Return the delta of a price."""
    words = "The chance that the promise fails, such as 1e-9."
    return asked(FieldKind.AMOUNT, words, None, reads=Delta.of)


def analyst() -> Any:
    """Return who pays."""
    return asked(FieldKind.TEXT, "The analyst who asks.", None, longest=200, option="--as")


def request_id(what: str) -> Any:
    """Return the id under which the same `what` is had again."""
    words = f"Ask again under the same id: same {what}, no charge."
    return asked(FieldKind.TEXT, words, None, shortest=1, longest=200)
