"""Take one upload in: received, examined, kept; or refused, with nothing left of it."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from discreet.engine.files import READABLE
from discreet.errors import InvalidInput
from discreet.server.features.data.upload.examine import clean_copy
from discreet.server.features.data.upload.plain import plain_upload
from discreet.server.features.data.upload.receive import receive_file
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
