"""The owner's review of an upload: who is protected first, then bounds, budget and analysts."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import (
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationError,
)

from discreet.catalog.declare.proposal import Setting
from discreet.catalog.read.datasets import neighbours_of
from discreet.catalog.read.domains import column_of
from discreet.catalog.read.file_shape import ColumnShape
from discreet.core.numbers import Delta, Epsilon
from discreet.errors import CatalogError, DiscreetError, InvalidInput
from discreet.server.plain_json import Body

Amount: TypeAlias = StrictInt | StrictFloat | StrictStr
NAME = r"^[A-Za-z][A-Za-z0-9_]{0,62}$"
MAX_VALUES = 100_000
MAX_FORMS = 2_000


class ColumnReview(Body):
    """One column as the owner declares it. `public`: the owner says that all of it is public."""

    type: StrictStr = Field(max_length=20)
    lower: Amount | None = None
    upper: Amount | None = None
    step: Amount | None = None
    values: list[StrictStr] | None = Field(None, max_length=MAX_VALUES)
    format: StrictStr | list[StrictStr] | None = Field(None, max_length=100)
    trim: StrictBool = False
    any_case: StrictBool = False
    empty: list[StrictStr] | None = Field(None, max_length=MAX_FORMS)
    same: dict[str, list[StrictStr]] | None = Field(None, max_length=MAX_FORMS)
    thousands: StrictStr | None = Field(None, max_length=1)
    decimal: StrictStr | None = Field(None, max_length=1)
    signs: list[StrictStr] | None = Field(None, max_length=MAX_FORMS)
    missing: StrictBool = False
    hidden: StrictBool = False
    constant: StrictBool = False
    immutable: StrictBool = False
    public: StrictBool = False


class AnalystShare(Body):
    """What an analyst may spend."""

    epsilon: Amount
    delta: Amount | None = None


class Review(Body):
    """What the owner has answered so far; a draft may leave anything open."""

    dataset: StrictStr | None = Field(None, pattern=NAME)
    table: StrictStr | None = Field(None, pattern=NAME)
    unit: StrictStr | None = Field(None, max_length=200)
    max_rows: StrictInt | None = Field(None, ge=1, le=10**9)
    columns: dict[str, ColumnReview] = Field(default_factory=dict)
    neighbours: StrictStr | None = Field(None, max_length=20)
    epsilon: Amount | None = None
    delta: Amount | None = None
    analysts: dict[str, AnalystShare] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MissingAnswer:
    """Something that the review still lacks: in which step, at which column, and one sentence."""

    step: str
    sentence: str
    column: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {"step": self.step, "column": self.column, "detail": self.sentence}


def refuse_early_budget(review: Review) -> None:
    """Refuse an epsilon while nobody has said whom it protects."""
    given = [
        name for name in ("epsilon", "delta", "neighbours") if getattr(review, name) is not None
    ]
    if review.unit is None and (given or review.analysts):
        raise InvalidInput(
            "Say first who is protected: an epsilon without a unit promises nothing to anybody.",
            hint='Set unit to "row" if every row is another person, or to the column that says '
            "whose row it is.",
        )


def still_open(review: Review, columns: Sequence[str]) -> list[MissingAnswer]:
    """Return what the review lacks, in the order in which the owner is asked."""
    refuse_early_budget(review)
    return [
        *_open_unit(review, columns),
        *_open_columns(review, columns),
        *_open_budget(review),
    ]


def _open_unit(review: Review, columns: Sequence[str]) -> Iterator[MissingAnswer]:
    if review.unit is None:
        yield MissingAnswer(
            "unit",
            'Who is protected? Answer "row" if every row is another person; otherwise the column '
            "that says whose row it is.",
        )
        return
    if review.unit == "row":
        if review.max_rows not in (None, 1):
            yield MissingAnswer(
                "max_rows", "If every row is another person, max_rows is 1: leave it out."
            )
        return
    if review.unit not in columns:
        yield MissingAnswer("unit", "The unit must be 'row' or a column of the file.")
    elif review.unit in review.columns and review.columns[review.unit].type != "identifier":
        yield MissingAnswer(
            "columns", "It names the persons, so its type is identifier.", review.unit
        )
    if review.max_rows is None:
        yield MissingAnswer("max_rows", "Say how many rows of one person count at most (max_rows).")


def _open_columns(review: Review, columns: Sequence[str]) -> Iterator[MissingAnswer]:
    for name in review.columns:
        if name not in columns:
            yield MissingAnswer("columns", "The file has no such column.", name[:200])
    for name in columns:
        declared = review.columns.get(name)
        if declared is None or not (declared.public or declared.hidden):
            if name != review.unit:
                yield MissingAnswer(
                    "columns", "Say that this declaration is public, or hide it.", name
                )
            continue
        try:
            settings_of(name, declared)
        except DiscreetError as error:
            yield MissingAnswer("columns", str(error), name)


def _open_budget(review: Review) -> Iterator[MissingAnswer]:
    if review.epsilon is None:
        yield MissingAnswer(
            "epsilon", "Choose epsilon, the most that any one of them can lose over all answers."
        )
    checks: list[tuple[str, Callable[[], object]]] = [
        ("epsilon", lambda: Epsilon.of(1 if review.epsilon is None else review.epsilon)),
        ("epsilon", lambda: Delta.of(0 if review.delta is None else review.delta)),
        ("epsilon", lambda: neighbours_of(review.neighbours)),
        *[("analysts", lambda n=n, s=s: checked_share(n, s)) for n, s in review.analysts.items()],
    ]
    for step, check in checks:
        try:
            check()
        except DiscreetError as error:
            yield MissingAnswer(step, str(error))
    if review.dataset is None or review.table is None:
        yield MissingAnswer("names", "Name the dataset and its table.")


def checked_share(analyst: str, share: AnalystShare) -> dict[str, Fraction]:
    """Return the amounts of a share as discreet.toml will say them, or refuse it."""
    if not analyst.strip() or len(analyst) > 200 or not analyst.isprintable():
        raise InvalidInput("An analyst's name is 1 to 200 printable characters.")
    return amounts_of(share.epsilon, share.delta)


def amounts_of(epsilon: Amount, delta: Amount | None) -> dict[str, Fraction]:
    """Return an epsilon and the delta beside it, if one is given, as discreet.toml will say them."""
    found = {"epsilon": Epsilon.of(epsilon).value}
    return found if delta is None else found | {"delta": Delta.of(delta).value}


def settings_of(name: str, declared: ColumnReview) -> dict[str, Setting]:
    """Return the settings of a column as discreet.toml will say them, checked as it checks them."""
    if declared.hidden:
        return {"type": "text", "hidden": True}
    read = _BOUNDS.get(declared.type, str)
    settings: dict[str, Setting] = {"type": declared.type}
    for key in ("lower", "upper", "step"):
        value = getattr(declared, key)
        if value is not None:
            settings[key] = (_decimal if key == "step" else read)(value)
    if declared.values is not None:
        settings["values"] = tuple(declared.values)
    settings |= _spelling(declared)
    for key in ("missing", "constant", "immutable"):
        if getattr(declared, key):
            settings[key] = True
    try:
        column_of(name, ColumnShape.model_validate(settings), base=Path())
    except ValidationError:
        raise CatalogError("A bound is not of the column's type.") from None
    except CatalogError as error:
        said = error.message.removeprefix(f"column '{name}': ")
        raise CatalogError(said[:1].upper() + said[1:], hint=error.hint) from None
    return settings


def _spelling(declared: ColumnReview) -> dict[str, Setting]:
    """Return how the texts are read, as far as the owner said anything about it."""
    found: dict[str, Setting] = {}
    for key in ("format", "empty", "signs"):
        value = getattr(declared, key)
        if value:
            found[key] = value if isinstance(value, str) else tuple(value)
    if declared.same:
        found["same"] = {value: tuple(forms) for value, forms in declared.same.items()}
    for key in ("thousands", "decimal", "trim", "any_case"):
        if getattr(declared, key):
            found[key] = getattr(declared, key)
    return found


def _whole(value: int | float | str) -> Setting:
    exact = _decimal(value)
    if exact != exact.to_integral_value() or exact.adjusted() > 30:
        raise InvalidInput("The bounds of an integer are whole numbers.")
    return int(exact)


def _decimal(value: int | float | str) -> Decimal:
    try:
        exact = Decimal(str(value))
    except InvalidOperation:
        raise InvalidInput("A bound is not a number.") from None
    if not exact.is_finite() or not -40 < exact.adjusted() < 40:
        raise InvalidInput("A bound must be a number of ordinary size.")
    return exact


def _day(value: int | float | str) -> Setting:
    try:
        return dt.date.fromisoformat(str(value))
    except ValueError:
        raise InvalidInput("The bounds of a date are written as 2026-12-31.") from None


def _time(value: int | float | str) -> Setting:
    try:
        return dt.datetime.fromisoformat(str(value))
    except ValueError:
        raise InvalidInput(
            "The bounds of a timestamp are written as 2026-12-31T23:59:59."
        ) from None


_BOUNDS: dict[str, Callable[[int | float | str], Setting]] = {
    "integer": _whole,
    "number": _decimal,
    "date": _day,
    "timestamp": _time,
}
