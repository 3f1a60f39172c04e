"""Asks on a terminal whether the rows of a test file are public, where nobody has said so yet."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from discreet.tasks.bare_file import WrittenSource
    from discreet.tasks.model_test import HeldOutFile


def held_out(test: Path, source: WrittenSource, *, said: bool) -> HeldOutFile:
    """Return a test file with the owner's word on it; `said` is --test-public."""
    from discreet.tasks.model_test import HeldOutFile, check_held_out

    check_held_out(test)
    return HeldOutFile(test, said_public(test, source.base, said=said))


def said_public(test: Path, base: Path, *, said: bool) -> bool:
    """Return whether the owner declared these very rows public: said now or before, or asked on a terminal."""
    from discreet.tasks.model_test import declared_public

    def asked() -> bool:
        return typer.confirm(
            f"Are the rows of {test.name} public? Then the test is exact and free; otherwise it is "
            "charged to the people in them.",
            default=False,
            err=True,
        )

    watched = sys.stdin.isatty() and sys.stderr.isatty()
    return declared_public(test, base, said=said, ask=asked if watched else None)
