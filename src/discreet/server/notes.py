"""Proof notes as pages: the same files that the documentation has, rendered here, offline."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from markupsafe import Markup

from discreet.errors import UnknownName

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
    inside = HERE / "note_files"
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
    from markdown_it import MarkdownIt  # when a note is first read, not when the server starts

    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    heading, _, rest = text.partition("\n")
    title = heading.removeprefix("#").strip().removeprefix(number).lstrip(": ").strip()
    tokens = parser.parse(rest)
    for token in tokens:
        _tamed(token)
        for inner in token.children or ():
            _tamed(inner)
    # Only our own parser's markup: its text is escaped, its attributes are those left by _tamed.
    body = Markup(parser.renderer.render(tokens, parser.options, {}))  # noqa: S704 see above
    return Note(number, title, body)


def _tamed(token: Any) -> None:
    """Take away styles, which the content policy forbids, and addresses that lead elsewhere."""
    token.attrs.pop("style", None)
    address = token.attrs.pop("href", None)
    if address is not None:
        match = _NAME.search(str(address))
        if match is not None:
            token.attrs["href"] = f"/notes/{match[1]}"
