"""Files: written whole or not at all, and read only if they are regular.

Atomic writes: files that are there whole or not at all, whoever reads them and whatever is interrupted. Reading: a
pipe, a device or a socket of that name is refused at once, not waited for.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

_OWNER_ONLY = 0o600


def write_whole(
    path: Path,
    content: bytes | str,
    *,
    mode: int = _OWNER_ONLY,
    durable: bool = False,
    before: Callable[[], None] = lambda: None,
) -> None:
    """Replace a file at once: a reader finds all of the old content or all of the new.

    `durable`: when this returns, content and name are on the disk, also if the power fails then.
    `before` is called when the new content lies ready beside it; what it raises leaves the old.
    """
    beside = _beside(path, content, durable=durable)
    try:
        if mode != _OWNER_ONLY:
            beside.chmod(mode)
        before()
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    if durable:
        sync_folder(path.parent)


def write_in_place(path: Path, content: bytes) -> None:
    """Write over a small file where it lies: a full disk has room for that, as its block is there already.

    Durable. Readers may see old bytes beside new ones for a moment: for what `write_whole` cannot do.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.pwrite(descriptor, content, 0)
        os.ftruncate(descriptor, len(content))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def disk_is_full(error: OSError) -> bool:
    """Return whether something failed because there is no room, on the disk or in a quota of it."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def write_first(path: Path, content: bytes) -> bytes:
    """Return what the file holds: `content`, or what another process wrote before. Durable."""
    beside = _beside(path, content, durable=True)
    try:
        with contextlib.suppress(FileExistsError):
            os.link(beside, path)
    finally:
        beside.unlink()
    sync_folder(path.parent)
    return path.read_bytes()


def write_synced(path: Path, content: bytes) -> None:
    """Write a file in its place, readable by its owner only, and its content to the disk."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, _OWNER_ONLY)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(descriptor)


def sync_folder(folder: Path) -> None:
    """Make the names of the files in `folder` durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _beside(path: Path, content: bytes | str, *, durable: bool) -> Path:
    """Return a new file with this content in the same folder; only its owner may read it."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            if durable:
                file.flush()
                os.fsync(handle)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return Path(name)


def open_regular(path: Path, *, buffering: int = -1) -> BinaryIO:
    """Return a regular file opened for reading; OSError for anything else.

    Opened without waiting: a pipe in the place of a file would otherwise hold its reader for good.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file")
    return os.fdopen(descriptor, "rb", buffering)


def read_bytes(path: Path, *, most: int | None = None) -> bytes:
    """Return what a regular file holds; OSError (EFBIG) for one of more than `most` bytes, before it is read."""
    with open_regular(path) as file:
        if most is None:
            return file.read()
        if os.fstat(file.fileno()).st_size <= most:
            content = file.read(most + 1)
            if len(content) <= most:
                return content
    raise OSError(errno.EFBIG, "too large")


def read_text(path: Path, *, encoding: str = "utf-8") -> str:
    """Return the text of a regular file, with every line end as a line feed."""
    with open_regular(path) as file, io.TextIOWrapper(file, encoding=encoding) as text:
        return text.read()
