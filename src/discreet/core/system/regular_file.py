"""Reading regular files: a pipe, a device or a socket of that name is refused at once, not waited for."""

from __future__ import annotations

import errno
import io
import os
import stat
from pathlib import Path
from typing import BinaryIO


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
