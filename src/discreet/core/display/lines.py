"""A result as a few named lines: short text for a terminal, an escaped table for a notebook.

What is shown was paid for or is public: no rows, and no line longer than a person reads.
"""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TypeAlias

from discreet.core.escape_text import visible

ShownLines: TypeAlias = Sequence[tuple[str, str]]
"""A name and what is said under it, in each line."""
LONGEST = 240
"""Characters of a line."""
MOST = 16
"""Lines; the rest is counted."""


class ShownInLines(ABC):
    """Prints as its `lines`, and is a table in a notebook."""

    __slots__ = ()

    @abstractmethod
    def lines(self) -> ShownLines:
        """Return what a person reads: a name and a sentence in each line."""

    def __repr__(self) -> str:
        return lines_text(shortened(self.lines()))

    def _repr_html_(self) -> str:
        return lines_html(shortened(self.lines()))


def shortened(lines: ShownLines) -> ShownLines:
    """Return at most `MOST` lines of at most `LONGEST` characters, control characters made visible."""
    kept = [(_cut(visible(name), 60), _cut(visible(said), LONGEST)) for name, said in lines[:MOST]]
    more = len(lines) - len(kept)
    return [*kept, ("...", f"{more:,} more")] if more else kept


def lines_text(lines: ShownLines) -> str:
    """Return lines with their names in front of them."""
    return "\n".join(f"{name:<12} {said}" for name, said in lines)


def lines_html(lines: ShownLines) -> str:
    """Return lines as a table for a notebook; every text in it is escaped."""
    rows = "".join(
        f"<tr><th>{html.escape(name)}</th><td>{html.escape(said)}</td></tr>" for name, said in lines
    )
    return f"<table>{rows}</table>"


def framed_page(page: str) -> str:
    """Return a whole HTML page for a notebook: inside a frame in which nothing runs."""
    shown = html.escape(page)
    return f'<iframe sandbox="" srcdoc="{shown}" width="100%" height="600"></iframe>'


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 3]}..."
