"""Benchmarks and scripts run seldom: what they import from the house must be there all the same."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OUTSIDE = sorted([*ROOT.glob("benchmarks/**/*.py"), *ROOT.glob("scripts/*.py")])


@cache
def names_of(module: str) -> set[str]:
    """Return what stands at the top of a module, and the modules of a package."""
    place = ROOT / "src" / Path(*module.split("."))
    package = (
        place / "__init__.py"
    ).is_file()  # what is left of a folder may hold compiled files only
    file = place / "__init__.py" if package else place.with_suffix(".py")
    if not file.is_file():
        return set()
    found = {each.stem for each in place.glob("*")} if package else set()
    for node in ast.walk(ast.parse(file.read_text())):
        match node:
            case ast.ImportFrom(names=names) | ast.Import(names=names):
                found |= {alias.asname or alias.name for alias in names}
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.Constant(value=str(name)):
                found.add(name)  # a package that loads its names when they are asked for lists them
    return found


def missing(text: str) -> list[str]:
    imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    return [
        f"{node.module}.{alias.name}"
        for node in imports
        if node.module is not None and node.module.split(".")[0] == "discreet"
        for alias in node.names
        if alias.name not in names_of(node.module)
    ]


@pytest.mark.parametrize("file", OUTSIDE, ids=lambda file: file.name)
def test_what_is_imported_is_there(file):
    assert missing(file.read_text()) == []


def test_what_is_not_there_is_found():
    assert missing("from discreet.data.engines.postgres.session import copy_table")
    assert missing("from discreet.no_such_room import name")
