"""Which names of src the product reaches, from the menu of the package, its commands and its pages.

An import alone reaches nothing in an `__init__`, so that a name that is only handed on there is found. Followed are names,
attributes of modules, and what strings name: a module, `module:name`, and the keys of a table of modules.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

Place = tuple[str, str]
"""A module and a name in it; the module itself where the name is empty."""

ASKED_BY_PYTHON = {"__getattr__", "__dir__"}

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign
_TELLING = (
    ast.Name,
    ast.Attribute,
    ast.Import,
    ast.ImportFrom,
    ast.Constant,
    ast.JoinedStr,
    ast.Dict,
)
_IMPORT = re.compile(r"from (discreet[\w.]*) import (\([^)]*\)|[^\n\"\\]+)")


class Module:
    """One file of src: what it defines, what its names stand for, and what runs when it is imported."""

    def __init__(self, root: Path, path: Path) -> None:
        """Read the file at `path`, whose packages begin at `root`."""
        self.path = path
        self.menu = path.name == "__init__.py"
        self.name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        tree = ast.parse(path.read_text("utf-8"))
        self.nodes = [node for node in ast.walk(tree) if isinstance(node, _TELLING)]
        self.defined: dict[str, list[Definition]] = {}
        self.runs: list[ast.AST] = []
        for node in _statements(tree.body):
            self._sort(node)

    def _sort(self, node: ast.stmt) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self.defined.setdefault(node.name, []).append(node)
                if any(self._registers(each) for each in node.decorator_list):
                    self.runs.append(ast.Name(node.name, ast.Load()))
            case ast.Assign() | ast.AnnAssign():
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = [to.id for to in targets if isinstance(to, ast.Name)]
                for name in names:
                    self.defined.setdefault(name, []).append(node)
                if len(names) < len(targets):
                    self.runs.append(node)
            case ast.Import() | ast.ImportFrom() if self.menu:
                pass
            case _:
                self.runs.append(node)

    def _registers(self, decorator: ast.expr) -> bool:
        """Return whether an object of ours is told of what it decorates: `router.get`, `app.command()`."""
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if not isinstance(called, ast.Attribute) or not isinstance(called.value, ast.Name):
            return False
        return called.value.id in self.defined

    @cached_property
    def stands_for(self) -> dict[str, set[Place]]:
        """Return what each imported name stands for, wherever in the file it is imported."""
        found: dict[str, set[Place]] = {}
        for node in self.nodes:
            for alias, place in self.imports(node):
                found.setdefault(alias, set()).add(place)
        return found

    def imports(self, node: ast.AST) -> Iterator[tuple[str, Place]]:
        """Return what an import calls by which name."""
        if isinstance(node, ast.ImportFrom):
            parts = self.name.split(".")[: None if self.menu else -1]
            above = parts[: len(parts) + 1 - node.level] if node.level else []
            home = ".".join([*above, *filter(None, [node.module])])
            yield from ((each.asname or each.name, (home, each.name)) for each in node.names)
        elif isinstance(node, ast.Import):
            for each in node.names:
                yield each.asname or each.name.partition(".")[0], (each.name, "")


class Reach:
    """What is reached from some places, in the files below `root`.

    `found_by_name` are looked for in modules that a string names.
    """

    def __init__(self, root: Path, found_by_name: set[str]) -> None:
        """Read all files."""
        read = (Module(root, path) for path in sorted(root.rglob("*.py")))
        self.modules = {module.name: module for module in read}
        self.found_by_name = found_by_name | {
            node.attr
            for module in self.modules.values()
            for node in module.nodes
            if isinstance(node, ast.Attribute) and _called(node.value) == "import_module"
        }
        self.reached: set[Place] = set()
        self._waiting: list[Place] = []

    def unreached(self, start: Iterable[Place]) -> list[str]:
        """Return modules and names that are not reached from `start`, as FILE:LINE NAME."""
        for place in start:
            self._reach(*place)
        while self._waiting:
            self._follow(*self._waiting.pop())
        return [
            f"{module.path}:{line} {name}"
            for module in self.modules.values()
            for line, name in self._left(module)
        ]

    def _left(self, module: Module) -> Iterator[tuple[int, str]]:
        if (module.name, "") not in self.reached:
            yield 1, "the whole module"
            return
        for name, nodes in module.defined.items():
            if (module.name, name) not in self.reached and not name.startswith("__"):
                yield nodes[0].lineno, name

    def _reach(self, home: str, name: str) -> None:
        inner = f"{home}.{name}"
        for place in ((inner, ""), (home, name)):
            if place[0] in self.modules and place not in self.reached:
                self.reached.add(place)
                self._waiting.append(place)

    def _follow(self, home: str, name: str) -> None:
        module = self.modules[home]
        if name:
            self._reach(home, "")
            for node in module.defined.get(name, ()):
                self._read(module, node)
            if name not in module.defined:
                for place in module.stands_for.get(name, ()):
                    self._reach(*place)
            return
        self._reach(home.rpartition(".")[0], "")
        for node in module.runs:
            self._read(module, node)
        for each in module.defined.keys() & ASKED_BY_PYTHON:
            self._reach(home, each)

    def _read(self, module: Module, tree: ast.AST) -> None:
        for node in ast.walk(tree):
            if not isinstance(node, _TELLING):
                continue
            match node:
                case ast.Name(name, ast.Load()):
                    if name in module.defined:
                        self._reach(module.name, name)
                    for place in module.stands_for.get(name, ()):
                        self._reach(*place)
                case ast.Attribute():
                    self._attribute(module, node)
                case ast.Import() | ast.ImportFrom():
                    for _, (home, name) in module.imports(node):
                        self._reach(home, "")
                        self._reach(f"{home}.{name}", "")
                case ast.Constant(str(text)):
                    self._text(text)
                case ast.JoinedStr(parts):
                    self._pattern(module, parts)
                case ast.Dict(keys, values):
                    for key, value in zip(keys, values, strict=True):
                        self._row(module, key, value)
                case _:
                    pass

    def _attribute(self, module: Module, node: ast.Attribute) -> None:
        names: list[str] = []
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            names.insert(0, inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name):
            for home, name in module.stands_for.get(inner.id, ()):
                here = f"{home}.{name}".rstrip(".")
                for each in names:
                    self._reach(here, each)
                    here = f"{here}.{each}"

    def _text(self, text: str) -> None:
        home, _, name = text.partition(":")
        if home in self.modules:
            self._reach(home, name)
            self._named(home)

    def _pattern(self, module: Module, parts: list[ast.expr]) -> None:
        """Reach the modules that an f-string may name: by the words of its own file, if any of them fits."""
        pieces = [str(part.value) if isinstance(part, ast.Constant) else None for part in parts]
        if not pieces or not (pieces[0] or "").startswith("discreet."):
            return
        words = {node.value for node in module.nodes if _is_text(node)}
        filled = {"".join(word if p is None else p for p in pieces) for word in words}
        pattern = "".join(r"\w+" if piece is None else re.escape(piece) for piece in pieces)
        fitting = [name for name in self.modules if re.fullmatch(pattern, name)]
        for name in (filled & self.modules.keys()) or fitting:
            self._named(name)

    def _named(self, home: str) -> None:
        """Reach a module that was found by its name, and in it what is looked for by name."""
        self._reach(home, "")
        for each in self.found_by_name & self.modules[home].defined.keys():
            self._reach(home, each)

    def _row(self, module: Module, key: ast.expr | None, value: ast.expr) -> None:
        """Reach NAME in MODULE for a row `NAME: ... "MODULE" ...`, full or within the package of the file."""
        if not _is_text(key):
            return
        for node in ast.walk(value):
            if _is_text(node):
                package = module.name.rpartition(".")[0]
                for home in (
                    node.value,
                    f"{package}.{node.value.lstrip('.')}",
                    f"discreet.server.{node.value}",
                ):
                    if home in self.modules:
                        self._reach(home, key.value)
                        self._named(home)


def named_in(pages: Iterable[Path]) -> Iterator[Place]:
    """Return what documents import from the package."""
    for page in pages:
        for home, names in _IMPORT.findall(page.read_text("utf-8")):
            for name in re.findall(r"(\w+)(?: as \w+)?", re.sub(r"#.*|\\n|\"", "", names)):
                yield home, name


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        if isinstance(node, ast.If | ast.Try):
            if isinstance(node, ast.If):
                yield ast.Expr(node.test)
            handled = [part for each in getattr(node, "handlers", []) for part in each.body]
            yield from _statements([*node.body, *handled, *node.orelse])
        else:
            yield node


def _called(node: ast.expr) -> str:
    if not isinstance(node, ast.Call):
        return ""
    return getattr(node.func, "id", "") or getattr(node.func, "attr", "")


def _is_text(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
