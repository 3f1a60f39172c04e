"""Uploads that nobody confirmed: private rows that serve nobody, so they do not stay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from discreet.catalog.declare.analysts import writing
from discreet.server.features.data.upload.store import UploadStore

HOUR = 3600.0


def expire(
    config: Path, store: UploadStore, *, hours: float, tell: Callable[[Sequence[str]], None]
) -> list[str]:
    """Return the ids of the uploads that were deleted: never confirmed, unseen for `hours`.

    `tell` hears of them first, so that nothing goes that is not written down.

    Guarantee: an upload whose id stands anywhere in discreet.toml is kept, even if the file does not
        read as a catalog just now; and none is confirmed meanwhile, because writers wait.
    """
    if not store.unseen(hours * HOUR):
        return []
    with writing(config):
        try:
            declared = config.read_bytes()
        except FileNotFoundError:
            declared = b""
        except OSError:
            return []  # nobody knows what is confirmed
        gone = [u for u in store.unseen(hours * HOUR) if u.id.encode() not in declared]
        if gone:
            tell([upload.id for upload in gone])
        for upload in gone:
            store.remove(upload)
    return [upload.id for upload in gone]
