"""From received bytes to one clean Parquet file, with a sentence for everything that can be wrong."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow.parquet as pq

from discreet.catalog.read.sources import check_file
from discreet.engine.files import PARQUET_FILES, column_names, delimiter
from discreet.errors import CatalogError, DiscreetError, InvalidInput, TooLarge
from discreet.server.features.data.upload.bounds import UploadBounds
from discreet.server.features.data.upload.examiner import MAX_NAME
from discreet.server.features.data.upload.plain import examined
from discreet.server.features.data.upload.receive import ending


def clean_copy(received: Path, target: Path, *, file: str, bounds: UploadBounds) -> tuple[str, ...]:
    """Return the columns of the clean copy of `received`, now at `target`.

    `file` is its name for people. What `received` holds is told by that name's ending.

    Guarantee: this process only reads the first line of a CSV file. Everything else is done by a
    child with bounds on memory, on time and on the size of every file that it writes.
    """
    parquet = ending(file) in PARQUET_FILES
    setup = {
        "path": str(received),
        "target": str(target),
        "parquet": parquet,
        "temporary": str(target.parent / "spill"),
        "memory_mb": bounds.memory_mb,
        "threads": 1,
        "rows": bounds.rows,
        "columns": bounds.columns,
        "cell": bounds.cell,
        "unpacked": bounds.unpacked,
    }
    if not parquet:
        setup |= _heading(received, file, bounds)
    problem = examined(setup, f"Reading '{file}'", bounds)
    if problem is not None:
        raise _refusal(problem, file, bounds)
    return tuple(pq.read_schema(target).names)


def _heading(received: Path, file: str, bounds: UploadBounds) -> dict[str, object]:
    """Return separator and column names of a CSV file, or refuse its first line."""
    with received.open("rb") as opened:
        line = opened.readline(bounds.heading + 1)
    if len(line) > bounds.heading:
        raise TooLarge(
            f"The first line of '{file}' is longer than {bounds.heading:,} bytes.",
            hint=f"It must hold the names of at most {bounds.columns:,} columns.",
        )
    try:
        check_file(received)
        return {"delimiter": delimiter(received), "names": column_names("", received)}
    except (InvalidInput, CatalogError) as error:
        said = error.message.replace(received.name, file)
        raise InvalidInput(said, hint=error.hint) from None
    except csv.Error:
        raise InvalidInput(f"The first line of '{file}' cannot be read as CSV.") from None


def _refusal(word: str, file: str, bounds: UploadBounds) -> DiscreetError:
    large = {
        "rows": f"'{file}' has more than {bounds.rows:,} rows.",
        "columns": f"'{file}' has more than {bounds.columns:,} columns.",
        "unpacked": f"'{file}' unpacks to more than {bounds.unpacked >> 20:,} MB.",
        "cell": f"'{file}' has a cell of more than {bounds.cell:,} bytes.",
    }
    wrong = {
        "empty": f"'{file}' has no columns.",
        "norows": f"'{file}' has column names but no rows.",
        "names": f"'{file}' has a column whose name is empty, longer than {MAX_NAME} letters or "
        "does not print.",
        "twins": f"'{file}' has two columns of the same name, or that differ only in case.",
    }
    if word in large:
        return TooLarge(large[word], hint="Send less, or name the file in discreet.toml.")
    if word in wrong:
        return InvalidInput(wrong[word], hint="Rename or add columns and send it again.")
    return InvalidInput(
        f"'{file}' cannot be read.",
        hint="Check that the file is whole, and that every line of a CSV file has as many cells as "
        "the first.",
    )
