"""What the server proposes for an upload, as JSON. For the owner's eyes: it is read from the rows."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

from discreet.catalog.declare.proposal import ColumnProposal, Setting, TableProposal
from discreet.catalog.propose.infer import propose
from discreet.catalog.propose.request import InitRequest
from discreet.catalog.read.domains import column_of
from discreet.catalog.read.file_shape import ColumnShape
from discreet.catalog.read.sources import Sources
from discreet.engine.base import Engine, EngineLimits
from discreet.engine.connect import connect
from discreet.errors import EngineFailed, InvalidInput, TooManyRequests
from discreet.server.features.data.review.reveal import reveals
from discreet.server.features.data.upload.limits import UploadBounds

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
