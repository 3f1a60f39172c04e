"""discreet.toml has one writer: text of it is composed, changed and put on disk in WRITER alone.

`testing` makes what it likes.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import rooms

import discreet

HOUSE = Path(discreet.__file__).resolve().parent
WRITER = ("data/catalog/toml_text.py", "data/catalog/edits.py", "data/catalog/writer.py")
SECTION = re.compile(
    r"^\[((engine|ledger|storage)\][ \t]*(#|$)|(datasets|budgets|analysts)\.)", re.MULTILINE
)
"""A heading that is a line, or begins one that a name goes on with; a sentence names one otherwise."""
MAY_HOLD = re.compile(r"\[(engine|ledger|storage|datasets|budgets|analysts)|\b(replace|sub)\(")
SETTING = re.compile(
    r'^[\s{]*(type|url|source|unit|epsilon|delta|max_rows) = ["\d{]?', re.MULTILINE
)
"""A setting that begins a text or one of its lines."""
NEVER = {"tomlkit", "tomli_w"}
ON_DISK = {"write_over"}


def hand_made(root: Path) -> list[str]:
    """Return where text of a discreet.toml is spelled out, replaced or written outside its one writer."""
    found = []
    for path, file in rooms.files(root):
        if file.startswith(WRITER) or rooms.room_of(file) == "testing":
            continue
        if MAY_HOLD.search(path.read_text(encoding="utf-8")):
            found += [f"{file}:{line} {what}" for line, what in _spelled(rooms.parsed(path))]
        for each in rooms.imports(path, file):
            if each.module == "discreet.data.catalog.writer" and each.name in ON_DISK:
                found.append(f"{file}:{each.line} writes the file itself")
            if each.module.partition(".")[0] in NEVER:
                found.append(f"{file}:{each.line} imports {each.module}")
    return found


def _spelled(tree: ast.Module) -> Iterator[tuple[int, str]]:
    told = {id(node) for node in _docstrings(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in told and SECTION.search(node.value):
                yield node.lineno, "spells a section"
        elif isinstance(node, ast.Call) and _replaces(node):
            yield node.lineno, "replaces a setting as text"


def _docstrings(tree: ast.Module) -> list[ast.Constant]:
    """Return texts that stand alone: what a docstring shows is no part of a file."""
    alone = (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr))
    return [value for value in alone if isinstance(value, ast.Constant)]


def _replaces(call: ast.Call) -> bool:
    if not (isinstance(call.func, ast.Attribute) and call.func.attr in {"replace", "sub"}):
        return False
    first = call.args[0] if call.args else None
    text = first.value if isinstance(first, ast.Constant) else None
    return isinstance(text, str) and (SETTING.search(text) or SECTION.search(text)) is not None


def test_nobody_else_writes_discreet_toml():
    assert hand_made(HOUSE) == []


BAD = {
    "a file composed": 'TEXT = "[engine]\\nurl = 1\\n"',
    "a section of names": 'def f(x):\n    return f"a\\n[datasets.{x}]\\nepsilon = 1"',
    "a list of lines": 'LINES = ["[analysts.ann]", "x"]',
    "a total replaced": 'def f(text):\n    return text.replace("epsilon = 1.0\\n", "epsilon = 2")',
    "a domain replaced": "def f(text):\n    return text.replace('type = \"text\"', '')",
    "the file on disk": "from discreet.data.catalog.writer import write_over",
    "another library": "import tomlkit",
}
GOOD = {
    "a sentence": 'HINT = "Add it under [engine] url, or as [datasets.NAME]."',
    "an example": 'def f():\n    """Read.\n\n    [engine]\n    """',
    "a refusal": 'SAID = "[storage] asks for encryption."',
    "another replacement": 'def f(text):\n    return text.replace("epsilon", "e")',
    "reading": "from discreet.data.catalog.writer import refuse_existing",
}


@pytest.mark.parametrize("what", [*BAD, *GOOD])
def test_the_check_sees_what_it_should(tmp_path, what):
    for place in ("tasks/x.py", *WRITER):
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text({**BAD, **GOOD}[what] + "\n", encoding="utf-8")
    found = [each.partition(":")[0] for each in hand_made(tmp_path)]
    assert found == (["tasks/x.py"] if what in BAD else [])
