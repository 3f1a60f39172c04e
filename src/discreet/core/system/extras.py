"""Packages that not everybody needs: imported when wanted, named in one sentence when absent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from discreet.errors import MissingExtra


@contextmanager
def needs(package: str, *, extra: str) -> Iterator[None]:
    """Turn a failed import inside the block into the sentence that says what to install.

    >>> with needs("numpy", extra="lab"):
    ...     import numpy
    """
    try:
        yield
    except ImportError:
        raise MissingExtra(package, extra=extra) from None
