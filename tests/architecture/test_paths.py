"""Every file that a docstring, a comment or a document names is there, and every note by its number.

Notes and the changelog are history: what they name was there when they were written.
"""

from __future__ import annotations

import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]
NAMED = re.compile(
    r"(?<![\w./:<>{}*-])((?:(?:\.\./)+|\./)?(?:[\w-]+/)*[\w-]+\.(?:py|mjs|md))(?![\w./]|\()"
)
NOTE = re.compile(r"\b(?:notes?/|notes? )(\d{4})\b")
EXAMPLES = {
    *("FILE.py", "my.py", "x.py", "README.md", "SKILL.md"),
    *("report.md", "FOLDER/report.md", "FILE.md"),
    *("block.py", "../src/discreet/FILE.py", "../sql.md", "../src/x.py"),
}
"""Names that stand for any file, or for one of somebody else's."""


@cache
def files() -> frozenset[str]:
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    found = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return frozenset(name for name in found.split("\n") if (ROOT / name).is_file())


@cache
def endings() -> frozenset[str]:
    """Return every file's path, and what is left of it without its first folders."""
    parts = [PurePosixPath(name).parts for name in files()]
    return frozenset("/".join(each[i:]) for each in parts for i in range(len(each)))


@cache
def notes() -> frozenset[str]:
    return frozenset(path.name[:4] for path in (ROOT / "docs" / "notes").glob("[0-9]*.md"))


def is_there(named: str, file: str) -> bool:
    """Return whether a file that is named in another one exists, seen from there or from any folder."""
    if named in endings():
        return True
    near = (ROOT / file).parent / named
    return near.is_file() or near.resolve().is_file()


def said(file: str, text: str) -> Iterator[str]:
    """Yield the comments and docstrings of a module, or the whole of a document."""
    if not file.endswith(".py"):
        yield text
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT or (
            token.type == tokenize.STRING and token.string.lstrip("rR").startswith('"""')
        ):
            yield token.string


def gone(file: str, text: str) -> list[str]:
    """Return what a text names that does not exist."""
    if not NAMED.search(text) and not NOTE.search(text):
        return []  # most modules; nobody need tell their comments from their code
    words = "\n".join(said(file, text))
    missing = {name for name in NAMED.findall(words) if name not in EXAMPLES}
    found = [f"{file}: {name}" for name in sorted(missing) if not is_there(name, file)]
    numbers = sorted(set(NOTE.findall(words)) - notes())
    return found + [f"{file}: note {number}" for number in numbers]


def read_by_people() -> list[str]:
    folders = ("src/", "tests/", "scripts/", "benchmarks/")
    code = [name for name in files() if name.endswith(".py") and name.startswith(folders)]
    pages = [
        name
        for name in files()
        if name.endswith(".md") and not name.startswith("docs/notes/") and name != "CHANGELOG.md"
    ]
    return sorted(code + pages)


def test_every_file_that_is_named_is_there():
    broken = [each for file in read_by_people() for each in gone(file, (ROOT / file).read_text())]
    assert broken == []


def test_a_file_that_is_gone_is_found():
    """The broken twin: each was named once after it had been moved."""
    assert gone("src/discreet/privacy/kernel/sources.py", '"""As engine/types.py says."""')
    assert gone("docs/security.md", "tested in `unit/ask/release/test_planner.py`")
    assert gone("src/discreet/x.py", "# why: docs/notes/9999-nothing.md, note 9999")
    assert not gone("docs/sql.md", "see [how](notes/0108-a-quantile-among-equals.md)")
