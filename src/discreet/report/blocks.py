"""What a report is made of: sections of words, figures and grids, frozen and without a layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from discreet.errors import InternalError

GridCell: TypeAlias = str | int | float | None
"""One field of a grid; None is shown as a dash."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph. A warning is set apart by a rule and the word "Note"."""

    text: str
    warning: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart as a Vega-Lite specification; the caption says in words what it shows."""

    title: str
    spec: dict[str, Any]
    caption: str


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of text and numbers; `shares` names the columns shown as a percentage."""

    headers: tuple[str, ...]
    rows: tuple[tuple[GridCell, ...], ...]
    caption: str
    shares: frozenset[int] = field(default_factory=frozenset)

    def __post_init__(self) -> None:
        if any(len(row) != len(self.headers) for row in self.rows):
            raise InternalError("a row of a grid has more or fewer cells than there are headers")

    @classmethod
    def of(
        cls,
        headers: Sequence[str],
        rows: Sequence[Sequence[GridCell]],
        caption: str,
        *,
        shares: Sequence[int] = (),
    ) -> Grid:
        """Return a grid of any sequences."""
        return cls(tuple(headers), tuple(tuple(row) for row in rows), caption, frozenset(shares))


DocumentBlock: TypeAlias = Paragraph | Figure | Grid


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it."""

    title: str
    blocks: tuple[DocumentBlock, ...]


@dataclass(frozen=True, slots=True, repr=False)
class DocumentContents:
    """A title and sections. `warning` is repeated on every page and above every section."""

    title: str
    subtitle: str
    warning: str | None
    sections: tuple[Section, ...]
