"""A whole report: what it is made of, shown in a notebook or written to a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from discreet.core.display.lines import ShownInLines, ShownLines, framed_page
from discreet.report.blocks import DocumentContents
from discreet.report.html import to_html
from discreet.report.save import write


@dataclass(frozen=True, slots=True, repr=False)
class Document(DocumentContents, ShownInLines):
    """A whole report. `warning` is repeated on every page and above every section.

    >>> Document("Town", "one row each", None, ()).title
    'Town'
    """

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        warning = [] if self.warning is None else [("warning", self.warning)]
        sections = ", ".join(section.title for section in self.sections)
        return [("report", self.title), ("about", self.subtitle), *warning, ("sections", sections)]

    def write(self, path: str | Path) -> Path:
        """Return the path after writing it there, as a .html or .json file."""
        return write(self, path)

    def _repr_html_(self) -> str:
        return framed_page(to_html(self))
