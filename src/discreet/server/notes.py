"""Proof notes as pages: the same files that the documentation has, rendered here, offline."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markupsafe import Markup

from discreet.errors import UnknownName
from discreet.server.markdown import to_markup

HERE = Path(__file__).parent
_NAME = re.compile(r"(\d{4})-[a-z0-9-]+\.md")


@dataclass(frozen=True, slots=True)
class Note:
    """One note: its number, its title, and the rest as markup of our own making."""

    number: str
    title: str
    body: Markup


def notes_folder() -> Path:
    """Return where the notes lie: in the package, or in the repository that it runs from."""
    inside = HERE / "doc_files" / "notes"
    return inside if inside.is_dir() else HERE.parents[2] / "docs" / "notes"


@cache
def all_notes() -> dict[str, Note]:
    """Return every note by its number, in order; read once."""
    found = {}
    for path in sorted(notes_folder().glob("*.md")):
        match = _NAME.fullmatch(path.name)
        if match is not None:
            found[match[1]] = rendered(match[1], path.read_text(encoding="utf-8"))
    return found


def note(number: str) -> Note:
    """Return the note with this number."""
    found = all_notes().get(number)
    if found is None:
        raise UnknownName("There is no note with this number.", hint="See /notes for all of them.")
    return found


def rendered(number: str, text: str) -> Note:
    """Return a note from its Markdown.

    Guarantee: markup inside the text is shown as text; no picture, script or style leaves here, and
        a link leads to another note or is told as words, so that a page asks nobody else.
    """
    heading, _, rest = text.partition("\n")
    title = heading.removeprefix("#").strip().removeprefix(number).lstrip(": ").strip()
    return Note(number, title, to_markup(rest, _link))


def _link(address: str) -> str | None:
    """Return the page of another note; addresses that lead elsewhere have none."""
    match = _NAME.search(address)
    return None if match is None else f"/notes/{match[1]}"
