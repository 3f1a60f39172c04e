"""Protocol of the canonical SQL that the kernel gives an engine, and whose rows they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


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
