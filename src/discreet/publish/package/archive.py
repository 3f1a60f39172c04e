"""A zip file whose bytes follow from its members alone, written as a stream and hashed on the way."""

from __future__ import annotations

import hashlib
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, Self

from discreet.publish.zip_form import (
    DEFLATED,
    canonical_member,
    directory_end,
    directory_entry,
    local_header,
)

QUICK = 1
THOROUGH = 6
LARGE = 1 << 24
"""From this many bytes on, members are compressed quickly instead of thoroughly."""


class MemberStream(io.RawIOBase):
    """One member while it is written: packs, counts and hashes what passes."""

    def __init__(self, target: IO[bytes], level: int | None) -> None:
        self._target = target
        self._packer = None if level is None else zlib.compressobj(level, zlib.DEFLATED, -15)
        self._digest, self._packed_digest = hashlib.sha256(), hashlib.sha256()
        self.crc = self.size = self.packed = 0

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any, /) -> int:
        """Write all of `data`."""
        view = memoryview(data).cast("B")
        self._digest.update(view)
        self.crc, self.size = zlib.crc32(view, self.crc), self.size + len(view)
        self._put(view if self._packer is None else self._packer.compress(view))
        return len(view)

    def end(self) -> dict[str, Any]:
        """Write what is left, and return what the manifest says of what has passed."""
        said = {"sha256": self._digest.hexdigest(), "bytes": self.size}
        if self._packer is None:
            return said
        self._put(self._packer.flush())
        return said | {"packed_sha256": self._packed_digest.hexdigest()}

    def tell(self) -> int:
        """Return how many bytes were written."""
        return self.size

    def _put(self, packed: bytes | memoryview) -> None:
        if self._packer is not None:
            self._packed_digest.update(packed)
        self._target.write(packed)
        self.packed += len(packed)


class Archive:
    """A package that is being written to a file that can seek; `members` are those that are complete."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._entries, self._end = file, list[bytes](), 0
        self.members: dict[str, dict[str, Any]] = {}

    @contextmanager
    def member(self, name: str, *, expected: int = 0) -> Iterator[MemberStream]:
        """Yield a stream for the member `name`.

        `expected` is about how many bytes will come, as far as that is public; it only chooses how
        thoroughly they are compressed.
        """
        empty = canonical_member(name, 0, 0, 0)
        self._file.write(local_header(empty))
        level = QUICK if expected >= LARGE else THOROUGH
        stream = MemberStream(self._file, level if empty.method == DEFLATED else None)
        yield stream
        self.members[name] = stream.end()
        whole = canonical_member(name, stream.crc, stream.size, stream.packed)
        header = local_header(whole)
        self._file.seek(self._end)
        self._file.write(header)
        self._entries.append(directory_entry(whole, self._end))
        self._end += len(header) + whole.packed
        self._file.seek(self._end)

    def add(self, name: str, content: bytes) -> None:
        """Write a small member at once."""
        with self.member(name, expected=len(content)) as stream:
            stream.write(content)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Write the directory."""
        directory = b"".join(self._entries)
        self._file.write(directory)
        self._file.write(directory_end(len(self._entries), len(directory), self._end))
