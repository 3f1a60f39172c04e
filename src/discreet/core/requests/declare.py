"""What may be asked of declarations: a proposal for new files, and what a review decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from discreet.core.numbers import Delta, Epsilon, Number
from discreet.core.requests.request_fields import FieldKind, asked


@dataclass(frozen=True, kw_only=True)
class InitFields:
    """One proposal of a discreet.toml as it is asked for; `discreet.catalog.propose` checks it."""

    out: str | Path = asked(  # noqa: RUF009  # a field
        FieldKind.PATH, "Where to write.", "discreet.toml"
    )
    epsilon: Number | Epsilon | None = asked(  # noqa: RUF009  # a field
        FieldKind.AMOUNT,
        "The most that one person can lose over all answers.",
        None,
        reads=Epsilon.of,
    )
    delta: Number | Delta | None = asked(  # noqa: RUF009  # a field
        FieldKind.AMOUNT, "The chance that the promise fails.", None, reads=Delta.of
    )
    unit: str | None = asked(
        FieldKind.TEXT, "Whom to protect: 'row', or the column with the person.", None
    )
    max_rows: int | None = asked(
        FieldKind.WHOLE, "The most rows of one person that count.", None, least=1
    )
    dataset: str | None = asked(
        FieldKind.TEXT, "Name of the dataset; the first table's unless given.", None
    )
    accept: bool = asked(
        FieldKind.FLAG,
        "Declare the inferred domains public (for public data).",
        False,  # its default
    )
    force: bool = asked(FieldKind.FLAG, "Replace an existing file.", False)  # its default


@dataclass(frozen=True, kw_only=True)
class ReviewFields:
    """What the owner decides of columns that wait for review, as it is asked for."""

    accept_safe: bool = asked(
        FieldKind.FLAG,
        "Declare every column without a doubt public.",
        False,  # its default
        option="--accept",
    )
    accept: Sequence[str] = asked(
        FieldKind.TEXTS,
        "Declare this column public as it stands (repeat it).",
        (),
        option="--column",
        repeated=True,
    )
    hide: Sequence[str] = asked(
        FieldKind.TEXTS,
        "Hide this column from everybody (repeat it).",
        (),
        option="--hide",
        repeated=True,
    )
