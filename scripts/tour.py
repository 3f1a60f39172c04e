"""The lines that docs/tour.md links to: `make reference` writes them anew where code has moved.

A link there is [`name`](../src/discreet/FILE.py#LINE), where name is a function, class, method or constant of
the file; its line is looked up by that name, so a name that is gone fails instead of pointing elsewhere.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOUR = ROOT / "docs" / "tour.md"
LINK = re.compile(r"\[`([A-Za-z_.]+)`\]\(\.\./(src/discreet/[a-z_/]+\.py)#L[0-9]+\)")


def with_lines(text: str) -> str:
    """Return the tour with the line at which each name is defined today."""
    return LINK.sub(lambda link: f"[`{link[1]}`](../{link[2]}#L{line_of(link[2], link[1])})", text)


def line_of(file: str, name: str) -> int:
    """Return the line at which a file defines a name; a dot leads into a class."""
    nodes: list[ast.stmt] = ast.parse((ROOT / file).read_text(encoding="utf-8")).body
    line = 0
    for part in name.split("."):
        found = next((node for node in nodes if part in _defined(node)), None)
        if found is None:
            raise KeyError(f"{file} does not define {name}")
        line, nodes = found.lineno, getattr(found, "body", [])
    return line


def _defined(node: ast.stmt) -> set[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Assign(targets=targets):
            return {target.id for target in targets if isinstance(target, ast.Name)}
        case ast.AnnAssign(target=ast.Name(id=name)):
            return {name}
    return set()


if __name__ == "__main__":
    TOUR.write_text(with_lines(TOUR.read_text(encoding="utf-8")), encoding="utf-8")
