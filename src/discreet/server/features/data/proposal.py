"""What the server proposes for an upload, what a draft of it would lose and reveal. For the owner's eyes."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

from discreet.base.files import read_text
from discreet.base.schema import IMMUTABLE_WORDS, Column, IdentifierDomain, Table
from discreet.base.unit import PrivacyUnit
from discreet.curator.review import see_table
from discreet.data.catalog.catalog import Catalog
from discreet.data.catalog.domains import column_of
from discreet.data.catalog.edits import declared_settings
from discreet.data.catalog.file_shape import ColumnShape
from discreet.data.catalog.proposal import InitRequest, propose
from discreet.data.catalog.sources import Sources
from discreet.data.catalog.toml_text import ColumnProposal, Setting, TableProposal
from discreet.data.engines.base import Engine, EngineLimits
from discreet.data.engines.connect import connect
from discreet.errors import (
    DiscreetError,
    EngineFailed,
    InternalError,
    InvalidInput,
    TooManyRequests,
)
from discreet.server.features.data.review import ColumnReview, Review, dataset_of, settings_of
from discreet.server.features.data.uploads import UploadBounds, UploadStore

TABLE = "upload"
_one_at_a_time = threading.Lock()
"""A look takes a processor and memory for a while; the questions of analysts go on beside it."""


@lru_cache(maxsize=8)  # an uploaded file never changes, and every step of a review looks at it
def look(table: Path, *, unit: str | None, bounds: UploadBounds) -> TableProposal:
    """Return types and domains as the rows of `table` suggest them.

    `unit` is "row" or the person's column; None leaves open who is protected.

    Guarantee: none. Every list, bound and sentence depends on the rows; only the owner may see it.
    """
    with opened(table, bounds) as engine:
        latest = time.monotonic() + bounds.examine_seconds

        def in_time(_step: str) -> None:
            if time.monotonic() > latest:
                raise too_slow(bounds)

        try:
            sources, asked = Sources("duckdb:", {TABLE: table.name}), InitRequest.of(unit=unit)
            found = propose(engine, sources, asked, progress=in_time)
        except EngineFailed:
            raise too_slow(bounds) from None
    return found.tables[0]


@contextmanager
def opened(table: Path, bounds: UploadBounds) -> Iterator[Engine]:
    """Lend an engine that has the file as TABLE; one look at a time, within its bounds."""
    if not _one_at_a_time.acquire(timeout=30.0):
        raise TooManyRequests("Another file is being looked at.", hint="Try again in a minute.")
    try:
        with _engine(table, bounds) as engine:
            yield engine
    finally:
        _one_at_a_time.release()


@contextmanager
def _engine(table: Path, bounds: UploadBounds) -> Iterator[Engine]:
    limits = EngineLimits(memory_mb=bounds.memory_mb, threads=1, workers=1)
    engine = connect("duckdb:", {TABLE: table.name}, base=table.parent, limits=limits)
    # One query may have ten minutes of patience by itself: the whole has no more than its own.
    alarm = threading.Timer(bounds.examine_seconds, engine.cancel)
    alarm.daemon = True
    alarm.start()
    try:
        yield engine
    finally:
        alarm.cancel()
        engine.close()


def too_slow(bounds: UploadBounds) -> InvalidInput:
    """Return the refusal of a look that takes too long."""
    return InvalidInput(
        f"Looking at the file took more than {bounds.examine_seconds:,g} seconds, or more memory "
        "than the server gives to it.",
        hint="Send fewer rows or columns, or name the file in discreet.toml.",
    )


def proposal_json(table: TableProposal, *, file: str) -> dict[str, Any]:
    """Return the proposal with, for each column, what declaring it would reveal."""
    name = plain_name(file)
    people = [c.name for c in table.columns if c.type == "identifier"]
    return {
        "dataset": name,
        "table": name,
        "who": {
            "question": "Who is protected?",
            "row": "Every row is another person.",
            "columns": people,  # "All rows with one value here are of one person."
            "answer": table.unit,
            "warnings": list(table.warnings),
        },
        "suggested_max_rows": table.suggested_rows,
        "seen": list(table.seen),
        "columns": [_column(column) for column in table.columns],
    }


def _column(column: ColumnProposal) -> dict[str, Any]:
    settings = {key: value for key, value in column.settings.items() if key != "review"}
    domain = column_of(column.name, ColumnShape.model_validate(settings), base=Path()).domain
    return {
        "name": column.name,
        "type": column.type,
        "domain": domain.words(),
        "settings": {key: plain_setting(value) for key, value in settings.items()},
        "missing_rate": column.missing,
        "seen": list(column.seen),
        "reveals": reveals(column),
    }


def plain_setting(value: Setting) -> Any:
    """Return a setting as JSON has it."""
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Mapping):
        return {name: list(forms) for name, forms in value.items()}
    if isinstance(value, Decimal):
        return format(value, "f")  # as text: the exact decimal goes to the page and comes back
    return value if isinstance(value, bool | int | str) else value.isoformat()


def plain_name(file: str) -> str:
    """Return a name for a dataset that needs no quotes in SQL, after a file's name."""
    word = re.sub(r"[^0-9a-z]+", "_", file.partition(".")[0].lower()).strip("_")[:40] or "upload"
    return f"t_{word}" if word[0].isdigit() else word


def declared_json(catalog: Catalog, store: UploadStore, dataset: str) -> dict[str, Any]:
    """Return the columns of a dataset's one table with their settings, and the upload it reads."""
    found, table = catalog.dataset(dataset), one_table(catalog, dataset)
    if catalog.path is None:
        raise InternalError("a server's catalog is read from its file")
    text = read_text(catalog.path, encoding="utf-8-sig")
    settings = declared_settings(text, found.name, table.name)
    upload = next((u.id for u in store.all() if dataset_of(catalog, store, u) == found.name), None)
    unit = None if table.unit is None else table.unit.column
    proposals = [ColumnProposal(name, each) for name, each in settings.items() if name != unit]
    return {
        "dataset": found.name,
        "table": table.name,
        "unit": unit or "row",
        "upload": upload,
        "columns": [
            {
                "name": each.name,
                "type": each.type,
                "settings": {k: plain_setting(v) for k, v in each.settings.items()},
                "missing_rate": None,
                "seen": [],
                "reveals": reveals(each),
            }
            for each in proposals
        ],
    }


def one_table(catalog: Catalog, dataset: str) -> Table:
    """Return the table of a dataset that has no other, or refuse."""
    found = catalog.dataset(dataset).tables
    if len(found) != 1:
        raise InvalidInput(
            "This data set has several tables.", hint="Change it in discreet.toml by hand."
        )
    return found[0]


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
    if column.settings.get("immutable"):
        sentence += f" {IMMUTABLE_WORDS}"
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


def draft_losses(file: Path, review: Review, *, bounds: UploadBounds) -> dict[str, Any]:
    """Return for every column that can be read so far what its declaration loses and reveals."""
    columns = []
    for name, declared in review.columns.items():
        column = _declared_column(name, declared)
        if column is not None and name != review.unit:
            columns.append(column)
    person = None if review.unit in (None, "row") else review.unit
    if person is not None:
        spelled = review.columns.get(person)
        column = None if spelled is None else _declared_column(person, spelled)
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


def _declared_column(name: str, declared: ColumnReview) -> Column | None:
    """Return the column as drafted; None while it cannot be read, which the review says elsewhere."""
    if declared.hidden:
        return None
    try:
        shape = ColumnShape.model_validate(settings_of(name, declared))
        return column_of(name, shape, base=Path())
    except DiscreetError:
        return None
