"""A folder of code that can also be called: `discreet.attack("reconstruction")`.

Python sets `discreet.attack` to the folder as soon as anything in it is imported, so the function of
that name must be the folder itself.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class CallableRoom(ModuleType):
    """A package whose call is the function of its own name in `discreet.tasks`."""

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Return what the task of this name returns."""
        name = self.__name__.rpartition(".")[2]
        return getattr(import_module(f"discreet.tasks.{name}"), name)(*arguments, **named)


def make_callable(package: str) -> None:
    """Let a package that is being imported be called."""
    sys.modules[package].__class__ = CallableRoom
