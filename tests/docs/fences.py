"""Fenced examples in documents."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Fence:
    """One fenced example: where it stands, its language and its text."""

    file: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def fences(path: Path) -> list[Fence]:
    """Return the fenced examples of a document in order."""
    found: list[Fence] = []
    opened: tuple[int, str] | None = None
    lines: list[str] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith("```"):
            lines.append(line)
        elif opened is None:
            opened, lines = (number, line[3:].strip()), []
        else:
            found.append(Fence(path.name, opened[0], opened[1], "\n".join(lines)))
            opened = None
    return found


def marked(text: str, mark: str) -> str:
    """Return what stands between `<!-- mark -->` and `<!-- end -->`."""
    return re.search(rf"<!-- {mark} -->\n(.*?)<!-- end -->", text, re.DOTALL)[1]
