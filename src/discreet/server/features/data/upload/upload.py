"""Take one upload in: received, examined, kept; or refused, with nothing left of it."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from discreet.catalog.read.sources import PARQUET_FILES
from discreet.errors import InvalidInput
from discreet.server.features.data.upload.examine import clean_copy
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
    ours = work / ("upload.parquet" if ending(file) in PARQUET_FILES else "upload.csv")
    received.rename(ours)
    columns = clean_copy(ours, work / TABLE, file=file, bounds=store.bounds)
    place = received.parent
    (work / TABLE).rename(place / TABLE)
    shutil.rmtree(work)
    return store.keep(place, file=file, columns=columns, digest=digest)
