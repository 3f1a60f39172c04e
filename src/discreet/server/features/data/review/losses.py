"""What a draft of the review would do to the rows: cells lost with examples. For the owner's eyes."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from discreet.api.review import see_table
from discreet.catalog.read.domains import column_of
from discreet.catalog.read.file_shape import ColumnShape
from discreet.core.schema import Column, IdentifierDomain, Table
from discreet.core.unit import PrivacyUnit
from discreet.errors import DiscreetError, EngineFailed, InvalidInput
from discreet.server.features.data.review.proposal import TABLE, opened, too_slow
from discreet.server.features.data.review.review import ColumnReview, Review, settings_of
from discreet.server.features.data.upload.limits import UploadBounds


def draft_losses(file: Path, review: Review, *, bounds: UploadBounds) -> dict[str, Any]:
    """Return for every column that can be read so far what its declaration loses and reveals."""
    columns = []
    for name, declared in review.columns.items():
        column = _column(name, declared)
        if column is not None and name != review.unit:
            columns.append(column)
    person = None if review.unit in (None, "row") else review.unit
    if person is not None:
        spelled = review.columns.get(person)
        column = None if spelled is None else _column(person, spelled)
        columns.append(column or Column(person, IdentifierDomain()))
    if not columns:
        raise InvalidInput("Say first what the columns are.")
    table = Table(TABLE, file.name, PrivacyUnit(person), tuple(columns), max_rows=1)
    return dict(_seen(file, table, bounds))


@lru_cache(maxsize=32)  # an uploaded file never changes; a draft is looked at again and again
def _seen(file: Path, table: Table, bounds: UploadBounds) -> tuple[tuple[str, Any], ...]:
    try:
        with opened(file, bounds) as engine:
            return tuple(see_table(engine, TABLE, table).to_json().items())
    except EngineFailed:
        raise too_slow(bounds) from None


def _column(name: str, declared: ColumnReview) -> Column | None:
    """Return the column as drafted; None while it cannot be read, which the review says elsewhere."""
    if declared.hidden:
        return None
    try:
        shape = ColumnShape.model_validate(settings_of(name, declared))
        return column_of(name, shape, base=Path())
    except DiscreetError:
        return None
