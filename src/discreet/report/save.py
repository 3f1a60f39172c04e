"""A document as JSON, and onto the disk."""

from __future__ import annotations

import json
import math
import os
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

SUFFIXES = (".html", ".json")


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


def check_suffix(path: str | Path) -> Path:
    """Return the path of a report; refuse other endings before anything is spent."""
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise InvalidInput(
            f"A report cannot be written as '{target.suffix}'.", hint="Use .html or .json."
        )
    return target


def write(document: DocumentContents, path: str | Path) -> Path:
    """Return the path of the report after writing it; its ending says how.

    A document with a warning is for its writer alone: nobody else on the machine may read the file.
    """
    target = check_suffix(path)
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
