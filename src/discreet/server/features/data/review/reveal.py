"""What declaring a column's domain would tell everybody who may ask, in words."""

from __future__ import annotations

from collections.abc import Callable

from discreet.catalog.declare.proposal import ColumnProposal

_HIDDEN = "Nothing: a hidden column cannot be asked about, and analysts do not see its name."


def reveals(column: ColumnProposal) -> str:
    """Return what analysts learn if this proposal is declared as it stands."""
    if column.settings.get("hidden"):
        return _HIDDEN
    sentence = _WORDS[column.type](column)
    if column.settings.get("missing"):
        sentence += " It also says that values may be missing."
    if column.settings.get("constant"):
        sentence += " It also says that all rows of one person carry the same value."
    return sentence


def _category(column: ColumnProposal) -> str:
    values = column.settings.get("values")
    number = len(values) if isinstance(values, tuple) else 0
    return (
        f"Analysts see these {number:,} values, and that each can occur. They were read from the "
        "data: a value that one person alone has would tell that this person is there. Keep what "
        "a public list has, remove the rest, add what is missing from it."
    )


def _range(column: ColumnProposal) -> str:
    low, high = column.settings.get("lower"), column.settings.get("upper")
    return (
        f"Analysts see that values lie between {low} and {high}. The bounds were widened from the "
        "least and the greatest value in the data, so they hint at two persons' values. Replace "
        "them by what is known without the data; values outside count as missing."
    )


_WORDS: dict[str, Callable[[ColumnProposal], str]] = {
    "category": _category,
    "integer": _range,
    "number": _range,
    "date": _range,
    "timestamp": _range,
    "boolean": lambda _: "Analysts see that the column says yes or no, nothing about anybody.",
    "identifier": lambda _: (
        "Analysts see that the column names persons or things. They can count and join on it, "
        "never see a value of it."
    ),
    "text": lambda _: "Analysts see that the column holds free text, and cannot read any of it.",
}
