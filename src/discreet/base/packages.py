"""Python packages: those that not everybody needs, and folders of code that can also be called.

An extra is imported when wanted, and named in one sentence when absent.

`discreet.attack("reconstruction")` calls a folder: Python sets `discreet.attack` to the folder as soon as anything in
it is imported, so the function of that name must be the folder itself.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

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


class CallableRoom(ModuleType):
    """A package whose call is the function of the same name on the menu of `discreet`."""

    task: str

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Return what the function of this name returns."""
        home = import_module("discreet")._HOMES[self.task]  # noqa: SLF001  # the menu is a table
        return getattr(import_module(home), self.task)(*arguments, **named)


def make_callable(package: str, task: str = "") -> None:
    """Let a package that is being imported be called: as the function of its own last name, or of this one."""
    room = sys.modules[package]
    room.__class__ = CallableRoom
    vars(room)["task"] = task or package.rpartition(".")[2]
