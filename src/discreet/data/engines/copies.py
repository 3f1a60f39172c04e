"""Stored canonical copies: the protocol of the SQL that makes one, its name, and labels of the content it was made from."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from discreet.base.files import write_first, write_whole
from discreet.data.engines.dialects import DIALECTS


class Recipe(Protocol):
    """How the rows of one source become canonical: SQL that the kernel writes and engines run."""

    @property
    def declared(self) -> str:
        """Return everything that canonical rows depend on besides the source's content."""
        ...

    @property
    def private(self) -> str | None:
        """Return the dataset whose people's rows these are; None where they are nobody's."""
        ...

    @property
    def people(self) -> tuple[str, ...]:
        """Return the engine's names of all tables with the same people; their types count."""
        ...

    def whole(self, types: Mapping[str, Mapping[str, str]]) -> bool:
        """Return whether these people go by integers, from the column types of `people`."""
        ...

    def check(self, types: Mapping[str, str]) -> None:
        """Refuse what a source of these column types cannot give."""
        ...

    @property
    def copy(self) -> bool:
        """Return whether the owner lets a database or cluster store the canonical rows."""
        ...

    @property
    def version(self) -> str | None:
        """Return the owner's word for the source's content, where there is one."""
        ...

    @property
    def owner(self) -> str:
        """Return the ledger that a stored copy belongs to."""
        ...

    def copied(self, types: Mapping[str, str], relation: str, dialect: str, *, whole: bool) -> str:
        """Return the SELECT whose result is stored where engines are shared: c0, ..., u and r."""
        ...

    def stored(self, types: Mapping[str, str], relation: str, *, salt: str, fits: bool) -> str:
        """Return the SELECT whose result is stored as the canonical rows; `fits`: they can be sorted in memory."""
        ...

    def foreseen(self, stored: str) -> Mapping[str, str]:
        """Return SELECTs of one number to be kept with `stored`: as it is asked, and as it is counted."""
        ...

    def dropped(self, types: Mapping[str, str], relation: str, *, stored: str) -> str:
        """Return the SELECT of how much the declarations leave out of `stored`: one row of counts."""
        ...


def private_of(tables: Mapping[str, Recipe]) -> dict[str, str | None]:
    """Return of each table the dataset whose people's rows it has; None where they are nobody's."""
    return {name: recipe.private for name, recipe in tables.items()}


@dataclass(frozen=True, slots=True)
class Canonical:
    """How the rows of a source become canonical, where a copy of them may be stored.

    `select` reads the engine's own relation of the source; `declared` is all that it follows from
    beside the source's content, where column types are a part of that. `version` is the owner's word
    for the content, where there is one; `owner` names the ledger that a stored copy belongs to.
    """

    select: str
    declared: str | None = None
    version: str | None = None
    owner: str = ""


def canonical_of(
    recipe: Recipe, name: str, relation: str, dialect: str, schema: Callable[[str], dict[str, str]]
) -> Canonical | None:
    """Return the copy to make of a table, None where the owner did not allow one.

    Refuses, in either case, what a source of these columns cannot give.
    """
    known = schema(name)
    recipe.check(known)
    if not recipe.copy:
        return None
    follows = DIALECTS[dialect].types_follow_rows
    whole = False
    if not follows:
        others = {other: schema(other) for other in recipe.people if other != name}
        whole = recipe.whole({name: known, **others} if recipe.people else {})
    select = recipe.copied(known, relation, dialect, whole=whole)
    declared = recipe.declared if follows else None
    return Canonical(select, declared, version=recipe.version, owner=recipe.owner)


def state_key(folder: Path) -> bytes:
    """Return the secret of a state folder, drawn now if it has none; two processes get the same one."""
    path = folder / "key"
    with contextlib.suppress(FileNotFoundError):
        return path.read_bytes()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return write_first(path, os.urandom(32))


class Remembered:
    """What was found at the last known state of each thing, over processes where there is a file."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._known: dict[str, list[str]] = {}
        if file is not None:
            with contextlib.suppress(OSError, ValueError):
                self._known = dict(json.loads(file.read_text()))

    def at(self, name: str, state: str) -> str | None:
        """Return what was found when the thing was in this state."""
        then, found = self._known.get(name, ["", ""])
        return found if then == state else None

    def remember(self, name: str, state: str, found: str) -> None:
        """Keep what was found in this state, in the place of an earlier one."""
        self._known[name] = [state, found]
        if self._file is not None:
            # Where the folder is full or gone it is found anew: whether anything is paid, the ledger says.
            with contextlib.suppress(OSError):
                write_whole(self._file, json.dumps(self._known).encode())


def combined(contents: Sequence[str]) -> str:
    """Return one hash for the contents of a table and of those that it reaches people over."""
    if len(contents) == 1:
        return contents[0]
    return hashlib.sha256("\n".join(contents).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class CopyName:
    """`family` is common to all copies of one source under one ledger; `whole` is one content's."""

    family: str
    whole: str


def copy_name(key: bytes, source: str, content: str, wanted: Canonical) -> CopyName:
    """Return the name of a stored copy.

    Guarantee: a keyed hash of the ledger, the source, its content and the declarations (which the
        SELECT spells out). So another ledger, another project with its own key, another content or
        another declaration never meets this name, and the name says nothing about the rows. Where types
        follow from rows, those of the present have no part in the name of rows that were stored.
    """
    family = _keyed(key, wanted.owner, source)[:16]
    made = wanted.select if wanted.declared is None else wanted.declared
    whole = _keyed(key, wanted.owner, source, content, made)[:40]
    return CopyName(f"c_{family}_", f"c_{family}_{whole}")


def _keyed(key: bytes, *parts: str) -> str:
    said = b"".join(len(p.encode()).to_bytes(8, "big") + p.encode() for p in parts)
    return hmac.new(key, said, hashlib.sha256).hexdigest()


class Labels(Mapping[str, str]):
    """Labels that are computed when first asked for: a declared version makes that never."""

    def __init__(self, names: Mapping[str, object], compute: Callable[[str], str]) -> None:
        self._names = dict.fromkeys(names)
        self._compute = compute
        self._known: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._known:
            self._known[name] = self._compute(name)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
