"""A zip file whose bytes follow from its members alone, written as a stream and hashed on the way."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, Self

QUICK = 1
THOROUGH = 6
LARGE = 1 << 24
"""From this many bytes on, members are compressed quickly instead of thoroughly."""


class MemberStream(io.RawIOBase):
    """One member while it is written: counts and hashes what passes."""

    def __init__(self, target: IO[bytes]) -> None:
        self._target = target
        self._digest = hashlib.sha256()
        self._size = 0

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any, /) -> int:
        """Write all of `data`."""
        view = memoryview(data).cast("B")
        self._digest.update(view)
        self._target.write(view)
        self._size += len(view)
        return len(view)

    def tell(self) -> int:
        """Return how many bytes were written."""
        return self._size

    @property
    def written(self) -> dict[str, Any]:
        """Return what the manifest says of what has passed."""
        return {"sha256": self._digest.hexdigest(), "bytes": self._size}


class Archive:
    """A package that is being written; `members` are those that are complete."""

    def __init__(self, file: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(file, "w", allowZip64=True)
        self.members: dict[str, dict[str, Any]] = {}

    @contextmanager
    def member(
        self, name: str, *, expected: int = 0, packed: bool = False
    ) -> Iterator[MemberStream]:
        """Yield a stream for the member `name`; `packed` bytes are not compressed again.

        `expected` is about how many bytes will come, as far as that is public; it only chooses the
        compression and the width of the sizes.
        """
        # A member opened by its name alone is dated 1980: the same release is the same bytes.
        self._zip.compression = zipfile.ZIP_STORED if packed else zipfile.ZIP_DEFLATED
        self._zip.compresslevel = QUICK if expected >= LARGE else THOROUGH
        with self._zip.open(name, "w", force_zip64=expected >= LARGE) as target:
            stream = MemberStream(target)
            yield stream
        self.members[name] = stream.written

    def add(self, name: str, content: bytes) -> None:
        """Write a small member at once."""
        with self.member(name, expected=len(content)) as stream:
            stream.write(content)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Write the directory."""
        self._zip.close()
