"""What one kind of engine is: its SQL, which URLs are its own, how it is opened."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from discreet.core.path import FollowedPath
from discreet.engine.base import Engine, EngineLimits
from discreet.engine.declared import DeclaredCell
from discreet.engine.dialect.row import Dialect


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What an engine is opened with; see `discreet.engine.connect.connect`."""

    url: str
    sources: Mapping[str, str]
    base: Path
    state: Path | None
    limits: EngineLimits
    allow_superuser: bool
    encodings: Mapping[str, str]
    paths: Mapping[str, FollowedPath]
    cells: Mapping[str, tuple[DeclaredCell, ...]]


def _reached(_url: str, _sources: Mapping[str, str]) -> None:
    """Find nothing between the owner and files: they are looked at when they are opened."""


def _nowhere(_url: str, _source: str) -> str:
    """Return nothing: a file says by itself where it lies."""
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineKind:
    """One kind of engine; a driver is imported where an engine of its kind is opened."""

    schemes: tuple[str, ...]
    """What its URLs begin with."""
    dialect: Dialect
    opened: Callable[[Opening], Engine]
    files: bool
    """Whether its sources are files; otherwise they are tables of its own."""
    stores: bool = False
    """Whether it keeps the rows of every table that it holds, so that they can be read again."""
    in_file: bool = False
    """Whether a URL may name a database file, whose tables are sources too."""
    check_reach: Callable[[str, Mapping[str, str]], None] = _reached
    """Refuse what is between the owner and these tables."""
    address: Callable[[str, str], str] = _nowhere
    """Where a source lies, of what a URL says; "" for a file that says so itself. Never a secret."""
    leaves: str | None = None
    """What it leaves in the machine's folder for temporary files, if anything."""

    def database(self, url: str) -> str:
        """Return the database file that a URL names; "" where it names none."""
        return url.partition(":")[2] if self.in_file else ""
