"""The owner's review of an upload, and the one moment at which something about it becomes public."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import Field, StrictBool, StrictFloat, StrictInt, StrictStr, ValidationError

from discreet.base.numbers import Delta, Epsilon
from discreet.data.catalog.catalog import Catalog
from discreet.data.catalog.datasets import neighbours_of
from discreet.data.catalog.domains import column_of
from discreet.data.catalog.edits import with_section, with_share
from discreet.data.catalog.file_shape import ColumnShape
from discreet.data.catalog.toml_text import Setting, composed, dataset_lines, table_lines
from discreet.data.engines.connect import kind_of
from discreet.errors import (
    CatalogError,
    DiscreetError,
    InternalError,
    InvalidInput,
    RequestConflict,
)
from discreet.server.bodies import Body
from discreet.server.features.data.uploads import Upload, UploadStore
from discreet.server.workspace import Workspace, change

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


def confirm(
    workspace: Workspace, store: UploadStore, upload: Upload, review: Review
) -> dict[str, Any]:
    """Return what was declared, after it is in force: queries work from now on."""
    lacking = still_open(review, upload.columns)
    if lacking:
        first = lacking[0]
        where = f"Column '{first.column}': " if first.column else ""
        more = f" {len(lacking) - 1} more to answer." if len(lacking) > 1 else ""
        raise InvalidInput(f"{where}{first.sentence}{more}", hint=f"Step: {first.step}.")

    def edit(text: str, old: Catalog) -> str:
        return declared_text(text, old, store, upload, review, base=workspace.config.parent)

    new = change(workspace, edit).after
    return {
        "dataset": review.dataset,
        "table": review.table,
        "unit": review.unit,
        "analysts": sorted(review.analysts),
        "warnings": [w for w in new.warnings if f"'{review.dataset}'" in w] + _nobody(new, review),
    }


def declared_text(
    text: str, old: Catalog, store: UploadStore, upload: Upload, review: Review, *, base: Path
) -> str:
    """Return the text of discreet.toml with the reviewed table in it, all else as it was."""
    store.find(upload.id)  # an upload that has expired since is not declared
    _refuse_engine(old)
    _refuse_names(old, review)
    _refuse_twice(old, store, upload, review)
    source = Path(os.path.relpath(store.table(upload).resolve(), base.resolve())).as_posix()
    text = with_section(text, declaration(review, source=source))
    for analyst, share in review.analysts.items():
        text = with_share(text, analyst, review.dataset or "", checked_share(analyst, share))
    return text


def open_for(old: Catalog, review: Review) -> list[MissingAnswer]:
    """Return what is open about the names, which only the catalog can tell."""
    try:
        _refuse_names(old, review)
    except (CatalogError, InvalidInput) as error:
        return [MissingAnswer("names", str(error))]
    return []


def dataset_of(catalog: Catalog, store: UploadStore, upload: Upload) -> str | None:
    """Return the dataset that reads an upload, or None while it waits for its review."""
    table = os.path.realpath(store.table(upload))
    for dataset in catalog.datasets.values():
        if any(os.path.realpath(catalog.base / t.source) == table for t in dataset.tables):
            return dataset.name
    return None


def _refuse_engine(old: Catalog) -> None:
    if not kind_of(old.engine_url).files:
        raise CatalogError(
            "This server reads tables of a database, so it cannot serve uploaded files.",
            hint="Load the file into the database and declare the table in discreet.toml.",
        )


def _refuse_names(old: Catalog, review: Review) -> None:
    datasets = {name.lower() for name in (*old.datasets, *old.unfinished, *old.budgets)}
    if review.dataset is not None and review.dataset.lower() in datasets:
        raise InvalidInput(f"There is a dataset or budget '{review.dataset}'; choose another name.")
    tables = {t.name.lower() for d in old.datasets.values() for t in d.tables}
    tables |= {name.lower() for names in old.waiting.values() for name in names}
    if review.table is not None and review.table.lower() in tables:
        # Two tables of one name would break the questions that analysts ask today.
        raise InvalidInput(f"There is a table '{review.table}'; choose another name.")


def _refuse_twice(old: Catalog, store: UploadStore, upload: Upload, review: Review) -> None:
    taken = dataset_of(old, store, upload)
    if taken is not None:
        raise RequestConflict(f"This upload is confirmed already, as dataset '{taken}'.")
    was = store.retired().get(upload.digest)
    if was is not None and was.lower() != (review.dataset or "").lower():
        raise RequestConflict(
            f"The same file was in use as dataset '{was}'. A second budget for the same people "
            "would let them lose twice as much.",
            hint=f"Name it '{was}' again: what was spent then still counts.",
        )
    for other in store.all():
        same = other.digest == upload.digest and other.id != upload.id
        taken = dataset_of(old, store, other) if same else None
        if taken is not None:
            raise RequestConflict(
                f"The same file is in use as dataset '{taken}'. A second budget for the same people "
                "would let them lose twice as much.",
                hint=f"Ask '{taken}', or change its budget.",
            )


def _nobody(new: Catalog, review: Review) -> list[str]:
    if new.analysts and not review.analysts:
        return ["This catalog lists analysts and none of them has a share: nobody can ask yet."]
    return []


def declaration(review: Review, *, source: str) -> str:
    """Return the text that declares the reviewed table as a dataset of its own.

    It holds what the owner has written or confirmed, no comment and no number of the proposal.
    """
    if review.dataset is None or review.table is None or review.epsilon is None:
        raise InternalError("a review was declared before it was finished")
    delta = Delta.of(0 if review.delta is None else review.delta)
    promise = {
        "epsilon": Epsilon.of(review.epsilon).value,
        "delta": delta.value or None,
        "neighbours": neighbours_of(review.neighbours).value,
    }
    facts = {
        "source": source,
        "unit": review.unit or "",
        "max_rows": None if review.unit == "row" else review.max_rows,
    }
    columns = {}
    for name, declared in review.columns.items():
        person = {"type": "identifier", "hidden": False} if name == review.unit else {}
        columns[name] = settings_of(name, declared.model_copy(update=person))
    return composed(
        dataset_lines(review.dataset, promise),
        table_lines(review.dataset, review.table, facts, columns),
    )
