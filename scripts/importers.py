"""Who imports each folder of the package: the last sentence of its docstring, read off the code.

`make reference` writes the sentences; `tests/architecture/test_importers.py` compares them. A folder that nobody
imports by name needs none: it is found by its place, as a feature of the server or a lesson is.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[1] / "src" / "discreet"
PACKAGE = "discreet"
MANY = 8
"""From so many other rooms on, their names say nothing."""
WIDTH = 110

_SENTENCE = re.compile(r"Imported by:\s([^.]*)\.")
_CLAIMS = re.compile(
    r"\bimports? (it\b|them\b|this\b|from here)|\bimported by\b(?!:)", re.IGNORECASE
)
"""Other words for the same, which nothing would keep true."""
_NAMED = re.compile(r"""["']((?:discreet)?(?:\.\w+)+)(?::\w+)?["']""")
"""A module that is imported by its name, later or in another process; one with a dot before it is beside."""


def importers(root: Path) -> dict[str, list[str]]:
    """Return for each folder who imports it or what is in it: rooms, or folders of its own room."""
    files = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.py"))
    known = {_module(file) for file in files}
    found: dict[str, set[str]] = {_folder(f): set() for f in files if _folder(f)}
    for file in files:
        for module in _imported((root / file).read_text(encoding="utf-8"), _module(_folder(file))):
            while module and module not in known:
                module = module.rpartition(".")[0]
            for folder in _around(module, found):
                if not f"{_folder(file)}/".startswith(f"{folder}/"):
                    found[folder].add(_called(file, folder))
    return {folder: sorted(names) for folder, names in found.items()}


def sentence(folder: str, names: list[str]) -> str:
    """Return the sentence of a folder: every name, or that there are many rooms."""
    room = folder.split("/", maxsplit=1)[0]
    if len([name for name in names if name.split("/")[0] != room]) >= MANY:
        return "Imported by: many rooms."
    return f"Imported by: {', '.join(names)}." if names else ""


def wrong_sentences(root: Path) -> list[str]:
    """Return each folder whose docstring says something else of who imports it than the code does."""
    found = []
    for folder, names in importers(root).items():
        said = " ".join(_docstring(root / folder).split())
        told = _SENTENCE.search(said)
        if (told.group(0) if told else "") != sentence(folder, names):
            found.append(f"{folder}: {sentence(folder, names) or 'nobody imports it'}")
        if claim := _CLAIMS.search(said):
            found.append(f"{folder}: '{claim.group(0)}' is said in words that nothing keeps true")
    return found


def main() -> None:
    """Write the sentence of every folder."""
    for folder, names in importers(HOUSE).items():
        path = HOUSE / folder / "__init__.py"
        text, said = path.read_text(encoding="utf-8"), _docstring(HOUSE / folder)
        new = _rewritten(said, sentence(folder, names))
        if said != new:
            path.write_text(text.replace(f'"""{said}"""', f'"""{new}"""', 1), encoding="utf-8")


def _rewritten(said: str, wanted: str) -> str:
    kept = re.sub(rf"\n\n{_SENTENCE.pattern}\s*$", "", said).rstrip()
    if wanted:
        return f"{kept}\n\n{textwrap.fill(wanted, WIDTH, break_on_hyphens=False)}\n"
    return f"{kept}\n" if "\n" in kept else kept


def _docstring(folder: Path) -> str:
    tree = ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))
    return ast.get_docstring(tree, clean=False) or ""


def _imported(text: str, folder: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
    for name in _NAMED.findall(text):
        yield name if name.startswith(PACKAGE) else f"{folder}{name}"


def _around(module: str, folders: dict[str, set[str]]) -> list[str]:
    """Return the folders that a module stands in, and the one that it is."""
    parts = module.split(".")[1:] if module.startswith(f"{PACKAGE}.") else []
    return [name for n in range(len(parts)) if (name := "/".join(parts[: n + 1])) in folders]


def _called(file: str, folder: str) -> str:
    """Return how an importer is named: its room, or below the folder that both stand in."""
    own, theirs = file.split("/"), folder.split("/")
    shared = 0
    while shared < len(theirs) and own[shared] == theirs[shared]:
        shared += 1
    end = shared + 1 if shared + 1 < len(own) else max(shared, 1)
    return "/".join(own[:end]).removesuffix(".py").replace("__init__", PACKAGE)


def _module(file: str) -> str:
    named = f"{PACKAGE}/" + file.removesuffix(".py").removesuffix("/__init__")
    return named.rstrip("/").replace("/", ".")


def _folder(file: str) -> str:
    return file.rpartition("/")[0]


if __name__ == "__main__":
    main()
