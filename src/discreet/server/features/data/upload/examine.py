"""Take one upload in: received, examined and kept as one clean Parquet file.

Or it is refused with a sentence, and nothing of it is left.
"""

from __future__ import annotations

import csv
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pyarrow.parquet as pq
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from discreet.catalog.read.sources import check_file
from discreet.engine.files import PARQUET_FILES, READABLE, column_names, delimiter
from discreet.errors import CatalogError, DiscreetError, InvalidInput, TooLarge
from discreet.server.features.data.upload.examiner import MAX_NAME
from discreet.server.features.data.upload.limits import UploadBounds
from discreet.server.features.data.upload.plain import examined, plain_upload
from discreet.server.features.data.upload.receive import ending, receive_file
from discreet.server.features.data.upload.store import TABLE, Upload, UploadStore


async def take_in(stream: AsyncIterator[bytes], *, content_type: str, store: UploadStore) -> Upload:
    """Return the upload that the body of a request holds, kept for review."""
    with store.receiving() as place:
        received = place / "received"
        try:
            file, digest = await receive_file(
                stream, content_type=content_type, target=received, bounds=store.bounds
            )
        except ClientDisconnect:
            raise InvalidInput("The upload was broken off.") from None
        return await run_in_threadpool(_examined, store, received, file, digest)


def _examined(store: UploadStore, received: Path, file: str, digest: str) -> Upload:
    work = received.with_name("work")
    work.mkdir()
    # Of the sender's name only endings that we know, which say how the file is read.
    known = [s.lower() for s in Path(file).suffixes[-2:] if s.lower() in READABLE]
    ours = work / f"upload{''.join(known)}"
    received.rename(ours)
    plain = plain_upload(ours, file=file, bounds=store.bounds)
    columns = clean_copy(plain.path, work / TABLE, file=file, bounds=store.bounds)
    place = received.parent
    (work / TABLE).rename(place / TABLE)
    shutil.rmtree(work)
    return store.keep(place, file=file, columns=columns, digest=digest, plain=plain)


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
