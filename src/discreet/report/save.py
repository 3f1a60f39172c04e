"""A document as JSON, and onto the disk."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from discreet.errors import InvalidInput
from discreet.report.blocks import (
    DocumentBlock,
    DocumentContents,
    Figure,
    Grid,
    GridCell,
    Paragraph,
)
from discreet.report.html import to_html

REPORT_FILES = (".html", ".json")
OWN_FILES = (".toml", ".db")
"""What declarations and ledgers are called."""


def to_json(document: DocumentContents) -> dict[str, Any]:
    """Return the document as plain objects; every block says its kind."""
    return {
        "title": document.title,
        "subtitle": document.subtitle,
        "warning": document.warning,
        "sections": [
            {"title": section.title, "blocks": [_block(block) for block in section.blocks]}
            for section in document.sections
        ],
    }


def _block(block: DocumentBlock) -> dict[str, Any]:
    match block:
        case Paragraph():
            return {"kind": "words", **asdict(block)}
        case Figure():
            return {"kind": "figure", **asdict(block)}
        case Grid():
            return {
                "kind": "grid",
                "headers": list(block.headers),
                "rows": [[_finite(cell) for cell in row] for row in block.rows],
                "caption": block.caption,
            }


def _finite(cell: GridCell) -> GridCell:
    """JSON has no infinity and no NaN."""
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def check_target(
    path: str | Path, endings: Sequence[str] = (), *, apart: Iterable[str | Path | None] = ()
) -> Path:
    """Return the path if a file can be written there; refuse it before anything is paid or recorded.

    `endings` are those that the file may have, in any case; none: what it is called does not matter.
    `apart` are files of the same command that must stay: what is read, and what else is written.
    A declaration or a database (a ledger is one) is never replaced.
    """
    target = Path(path)
    _check_ending(target, endings)
    if target.is_dir():
        raise InvalidInput(f"'{target}' is a folder.")
    if any(other is not None and _same_file(target, Path(other)) for other in apart):
        raise InvalidInput(
            f"'{target}' is named twice: it would be replaced.", hint="Name another file to write."
        )
    # A ledger may not be there yet: it is made when the first charge is.
    if target.suffix.lower() in OWN_FILES or _is_database(target):
        raise InvalidInput(
            f"'{target}' is a declaration or a database, and is not replaced.",
            hint="Name another file to write.",
        )
    if target.exists():
        if not os.access(target, os.W_OK):
            raise InvalidInput(f"The file '{target}' cannot be written.")
        return target
    if not target.parent.is_dir():
        raise InvalidInput(f"There is no folder '{target.parent}' to write to.")
    try:
        tempfile.TemporaryFile(dir=target.parent).close()
    except OSError:
        raise InvalidInput(f"Nothing can be written to the folder '{target.parent}'.") from None
    return target


def _same_file(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve() or (
        one.exists() and other.exists() and one.samefile(other)
    )


def _is_database(target: Path) -> bool:
    try:
        with target.open("rb") as file:
            head = file.read(16)
    except OSError:
        return False
    return head == b"SQLite format 3\x00" or head[8:12] == b"DUCK"


def _check_ending(target: Path, endings: Sequence[str]) -> None:
    if not endings or target.suffix.lower() in endings:
        return
    *some, last = (f"a {ending}" for ending in endings)
    kinds = f"neither {', '.join(some)} nor {last}" if some else f"not {last}"
    known = " or ".join([", ".join(endings[:-1]), endings[-1]] if some else endings)
    raise InvalidInput(f"'{target.name}' is {kinds} file.", hint=f"Use {known}.")


def write(document: DocumentContents, path: str | Path) -> Path:
    """Return the path of the report after writing it; its ending says how.

    A document with a warning is for its writer alone: nobody else on the machine may read the file.
    """
    target = Path(path)
    _check_ending(target, REPORT_FILES)
    if target.suffix.lower() == ".json":
        text = json.dumps(to_json(document), indent=1, allow_nan=False) + "\n"
    else:
        text = to_html(document)
    try:
        _write(target, text, private=document.warning is not None)
    except OSError as error:
        raise InvalidInput(
            f"The report cannot be written to '{target}': {error.strerror}."
        ) from None
    return target


def _write(target: Path, text: str, *, private: bool) -> None:
    if private:
        target.unlink(missing_ok=True)  # an old file would keep its old permissions
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    handle = os.open(target, flags, 0o600 if private else 0o666)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
