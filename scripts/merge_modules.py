"""Merge modules into one and rewrite everybody who imports them.

    scripts/merge_modules.py --into discreet.work.publish.rehearse discreet.publish.notices discreet.work.publish.rehearse

The parts are written one after the other in the order given, under the docstring of the module that they are
merged into (or --doc). Names that two parts define or import differently are told, and nothing is written:
give one of them another name with --rename discreet.publish.notices:_measured=_measured_factor. So are cycles,
and imports in functions that stand there alone.

    scripts/merge_modules.py --into discreet.work.publish.price            # all modules of the folder work/publish/price
    scripts/merge_modules.py --dry --into discreet.work.publish.price      # what stands in the way

Not seen: modules that are named by parts of a text (commands, workers of child processes), folders of which
every file is registered (recipes), and pages that list folders (the map of CONTRIBUTING.md, the tour).
"""

from __future__ import annotations

import argparse
import ast
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CODE = ("src", "tests", "scripts", "benchmarks")
TEXTS = ("*.py", "*.ipynb", "*.md", "*.toml", "*.json", "*.html", "*.js", "*.mjs", "*.cfg", "*.yml", "Makefile")


@dataclass
class Edit:
    """Text between two places of a file, and what to write instead."""

    start: int
    end: int
    text: str


class Source:
    """The text of a module, its tree, and places in it by line and column."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = ast.parse(text)
        self._starts = [0]
        for line in text.encode().split(b"\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)
        self._bytes = text.encode()

    def at(self, line: int, column: int) -> int:
        """Return the place in bytes."""
        return self._starts[line - 1] + column

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return where a node begins and ends, in bytes."""
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno, node.end_col_offset)

    def edited(self, edits: Iterable[Edit]) -> str:
        """Return the text after all edits, none of which overlap."""
        out, last = [], 0
        for edit in sorted({(e.start, e.end, e.text) for e in edits}):
            out += [self._bytes[last : edit[0]], edit[2].encode()]
            last = edit[1]
        return b"".join([*out, self._bytes[last:]]).decode()

    def lines_of(self, node: ast.AST) -> tuple[int, int]:
        """Return the whole lines of a node, in bytes."""
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        return self._starts[first - 1], self._starts[node.end_lineno]


@dataclass
class Part:
    """A module to be merged: its imports, the names it defines, and its body without either."""

    name: str
    source: Source
    imports: list[ast.stmt] = field(default_factory=list)
    typing_imports: list[ast.stmt] = field(default_factory=list)
    doc: str = ""
    defined: dict[str, ast.stmt] = field(default_factory=dict)

    @classmethod
    def read(cls, name: str) -> Part:
        """Return a module by its dotted name."""
        part = cls(name, Source(file_of(name).read_text()))
        tree = part.source.tree
        part.doc = ast.get_docstring(tree, clean=False) or ""
        for node in tree.body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                part.imports.append(node)
            elif is_typing(node):
                part.typing_imports += node.body
            for defined in names_defined(node):
                part.defined.setdefault(defined, node)
        return part

    def body(self, edits: list[Edit]) -> str:
        """Return the text behind the imports, after these edits."""
        gone = [n for n in self.source.tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
        gone += [n for n in self.source.tree.body if is_typing(n)]
        first = self.source.tree.body[0] if self.source.tree.body else None
        if first is not None and isinstance(first, ast.Expr) and ast.get_docstring(self.source.tree):
            gone.append(first)
        spans = [Edit(*self.source.lines_of(node), "") for node in gone]
        kept = [e for e in edits if not any(s.start <= e.start < s.end for s in spans)]
        return self.source.edited([*spans, *kept]).strip("\n")


def is_typing(node: ast.stmt) -> bool:
    """Return whether a statement imports for type checkers alone."""
    return isinstance(node, ast.If) and ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}


def names_defined(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement at the top of a module binds, but for imports."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Assign(targets=targets):
            for target in targets:
                yield from (n.id for n in ast.walk(target) if isinstance(n, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Name(id=name)):
            yield name
        case ast.If() | ast.Try() | ast.For() | ast.With():
            if not is_typing(node):
                for inner in ast.iter_child_nodes(node):
                    if isinstance(inner, ast.stmt):
                        yield from names_defined(inner)


def file_of(module: str) -> Path:
    """Return the file of a module of src."""
    return ROOT / "src" / (module.replace(".", "/") + ".py")


def bindings(node: ast.stmt, package: str) -> Iterator[tuple[str, tuple[str, str | None]]]:
    """Yield the names that an import binds, each with what it stands for."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.asname or alias.name.partition(".")[0], (alias.name, None)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, f"relative import in {package}"
        for alias in node.names:
            yield alias.asname or alias.name, (node.module or "", alias.name)


class Renamer:
    """Edits that give names of a module's top other names, and replace attributes of modules that are merged."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.edits: list[Edit] = []
        self.problems: list[str] = []

    def rename(self, old: str, new: str) -> None:
        """Rename every use of a global name."""
        if old == new:
            return
        for scope in ast.walk(self.source.tree):
            if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                for name in local_names(scope):
                    if name in {old, new}:
                        where = getattr(scope, "name", "lambda")
                        self.problems.append(f"{where} has a variable '{name}' ({old} -> {new})")
        for node in ast.walk(self.source.tree):
            if isinstance(node, ast.Name) and node.id == old:
                self.edits.append(Edit(*self.source.span(node), new))
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == old and node in self.source.tree.body:
                line = self.source.text.split("\n")[node.lineno - 1]
                column = len(line[: re.search(rf"\b{old}\b", line).start()].encode())
                start = self.source.at(node.lineno, column)
                self.edits.append(Edit(start, start + len(old), new))

    def unwrap(self, module: str) -> None:
        """Replace `module.name` by `name`."""
        for node in ast.walk(self.source.tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == module:
                self.edits.append(Edit(*self.source.span(node), node.attr))


def local_names(scope: ast.AST) -> set[str]:
    """Return names that a function binds by itself."""
    found = {arg.arg for arg in ast.walk(scope.args) if isinstance(arg, ast.arg)}
    declared = {n for g in ast.walk(scope) if isinstance(g, ast.Global) for n in g.names}
    for node in ast.walk(scope):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
    return found - declared


def modules_below(folder: str) -> list[str]:
    """Return the modules of a folder, those that others import before these."""
    names = sorted(f"{folder}.{p.stem}" for p in file_of(folder).with_suffix("").glob("*.py") if p.stem != "__init__")
    needs: dict[str, set[str]] = {}
    for name in names:
        trees = ast.walk(ast.parse(file_of(name).read_text()))
        said = [n for n in trees if isinstance(n, ast.ImportFrom) and n.module]
        needs[name] = {n.module for n in said} | {f"{n.module}.{a.name}" for n in said for a in n.names}
    out: list[str] = []

    def visit(name: str, way: tuple[str, ...]) -> None:
        for other in names:
            if other in needs[name] and other not in (*way, *out, name):
                visit(other, (*way, name))
        if name not in out:
            out.append(name)

    for name in names:
        visit(name, ())
    return out


def merge(into: str, names: list[str], renames: dict[str, dict[str, str]], doc: str | None, *, dry: bool = False) -> None:
    """Write the merged module, remove its parts, and rewrite everybody else."""
    parts = [Part.read(name) for name in names]
    merged = set(names)
    by_name = {part.name: part for part in parts}
    problems: list[str] = []
    bodies: list[str] = []
    imports: dict[str, tuple[str, str | None]] = {}
    lines: list[str] = []
    typing_lines: list[str] = []
    final: dict[str, str] = {}
    shapes: dict[str, str] = {}
    dropped: dict[str, set[str]] = defaultdict(set)

    for part in parts:
        for name, node in part.defined.items():
            new = renames.get(part.name, {}).get(name, name)
            if new in final and final[new] != part.name:
                if shapes.get(new) == ast.dump(node):
                    dropped[part.name].add(name)
                    continue
                problems.append(f"both define {new}: {final[new]} and {part.name}")
            final.setdefault(new, part.name)
            shapes.setdefault(new, ast.dump(node))

    for part in parts:
        renamer = Renamer(part.source)
        own = renames.get(part.name, {})
        for old, new in own.items():
            if old not in part.defined and old not in {n for i in part.imports for n, _ in bindings(i, part.name)}:
                problems.append(f"{part.name} has no {old}")
            renamer.rename(old, new)
        for kind, statements in (("", part.imports), ("typing", part.typing_imports)):
            for node in statements:
                for bound, (module, name) in bindings(node, part.name):
                    whole = module if name is None else f"{module}.{name}"
                    if name is None and module in merged:
                        problems.append(f"{part.name}: import {module}")
                    elif name is not None and whole in merged:
                        renamer.unwrap(bound)
                        continue
                    elif name is not None and module in merged:
                        target = renames.get(module, {}).get(name, name)
                        if name not in by_name[module].defined:
                            origin = dict(pair for i in by_name[module].imports for pair in bindings(i, module)).get(name)
                            problems.append(f"{part.name} imports {name} from {module}, which only imports it ({origin})")
                        renamer.rename(bound, target)
                        continue
                    stands = (module, name)
                    bound_as = own.get(bound, bound)
                    if bound_as in final:
                        problems.append(f"{part.name} imports {bound_as} from {module}, and {final[bound_as]} defines it")
                    if imports.setdefault(bound_as, stands) != stands and name is not None:
                        problems.append(f"{bound_as} is {imports[bound_as]} and {stands} (in {part.name})")
                    line = import_line(bound_as, module, name)
                    (typing_lines if kind else lines).append(line)
        for scope in ast.walk(part.source.tree):
            if isinstance(scope, ast.ImportFrom) and scope not in part.imports and scope not in part.typing_imports:
                if scope.module in merged or any(f"{scope.module}.{a.name}" in merged for a in scope.names):
                    gone = [a for a in scope.names if scope.module in merged or f"{scope.module}.{a.name}" in merged]
                    if len(gone) != len(scope.names):
                        problems.append(f"{part.name}:{scope.lineno} imports merged and other names")
                        continue
                    for alias in gone:
                        if scope.module in merged:
                            target = renames.get(scope.module, {}).get(alias.name, alias.name)
                            if (alias.asname or alias.name) != target:
                                renamer.rename(alias.asname or alias.name, target)
                        else:
                            renamer.unwrap(alias.asname or alias.name)
                    if any(getattr(block, "body", None) == [scope] for block in ast.walk(part.source.tree)):
                        problems.append(f"{part.name}:{scope.lineno} imports late, and there alone: a package that not all have?")
                    renamer.edits.append(Edit(*part.source.lines_of(scope), ""))
        for name in dropped[part.name]:
            renamer.edits = [
                e for e in renamer.edits
                if not (lambda s: s[0] <= e.start < s[1])(part.source.lines_of(part.defined[name]))
            ]
            renamer.edits.append(Edit(*part.source.lines_of(part.defined[name]), ""))
        problems += [f"{part.name}: {each}" for each in renamer.problems]
        bodies.append(part.body(renamer.edits))
    problems += ["a cycle: " + " -> ".join(each) for each in cycles(into, merged)]
    if problems:
        sys.exit("Nothing was written.\n" + "\n".join(dict.fromkeys(problems)))

    package = file_of(into).with_suffix("") / "__init__.py"
    text = doc or (by_name[into].doc if into in by_name else parts[0].doc)
    if doc is None and package.exists():
        text = ast.get_docstring(ast.parse(package.read_text()), clean=False) or text
    text = re.sub(r"\n*Imported by:.*?(?=\n\n|\Z)", "", text, flags=re.DOTALL).rstrip()
    text += "\n" if "\n" in text else ""
    typing = ""
    if set(typing_lines) - set(lines):
        only = sorted(set(typing_lines) - set(lines))
        lines.append("from typing import TYPE_CHECKING")
        typing = "\nif TYPE_CHECKING:\n" + "\n".join(f"    {line}" for line in only) + "\n"
    head = f'"""{text}"""\n\nfrom __future__ import annotations\n\n'
    kept = [line for line in dict.fromkeys(lines) if not line.startswith("from __future__")]
    whole = head + "\n".join(kept) + "\n" + typing + "\n\n" + "\n\n\n".join(b for b in bodies if b) + "\n"
    ast.parse(whole)
    if dry:
        return
    rewrite(into, names, renames)
    for name in names:
        if name != into:
            subprocess.run(["git", "rm", "-q", "-f", str(file_of(name))], cwd=ROOT, check=True)
    folder = file_of(into).with_suffix("")
    if folder.is_dir():
        left = [each for each in folder.rglob("*.py") if each.name != "__init__.py"]
        if left:
            sys.exit(f"{folder} is a folder with other modules: {[each.name for each in left]}")
        subprocess.run(["git", "rm", "-q", "-r", "-f", str(folder)], cwd=ROOT, check=True)
        shutil.rmtree(folder, ignore_errors=True)
    file_of(into).parent.mkdir(parents=True, exist_ok=True)
    file_of(into).write_text(whole)
    subprocess.run(["git", "add", str(file_of(into))], cwd=ROOT, check=True)


def cycles(into: str, merged: set[str]) -> list[list[str]]:
    """Return a way from the merged module over others back to it, by imports at the top of modules."""
    known = {}
    for path in (ROOT / "src" / "discreet").rglob("*.py"):
        name = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
        known[name] = path
    graph: dict[str, set[str]] = defaultdict(set)
    for name, path in known.items():
        if name.endswith("__main__"):
            continue
        here = into if name in merged else name
        for node in top_imports(path.read_text()):
            for module in imported(node, known):
                there = into if module in merged else module
                if there != here:
                    graph[here].add(there)
    before: dict[str, str] = {}
    queue = [into]
    while queue:
        each = queue.pop(0)
        for other in sorted(graph[each]):
            if other == into:
                way = [into, each]
                while way[-1] != into:
                    way.append(before[way[-1]])
                return [way[::-1]]
            if other not in before:
                before[other] = each
                queue.append(other)
    return []


@lru_cache(maxsize=4096)
def top_imports(text: str) -> list[ast.stmt]:
    """Return the imports at the top of a module, read once for each text: a plan of merges runs in one process."""
    return [node for node in ast.parse(text).body if isinstance(node, ast.Import | ast.ImportFrom)]


def imported(node: ast.stmt, known: dict[str, Path]) -> set[str]:
    """Return the modules that a statement at the top imports when it runs."""
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names if alias.name in known}
    if isinstance(node, ast.ImportFrom) and node.module:
        whole = {f"{node.module}.{alias.name}" for alias in node.names}
        return {each for each in whole if each in known} or ({node.module} & set(known))
    return set()


def exported(package: str, name: str) -> bool:
    """Return whether a package's __init__ binds a name itself, so that it is no module."""
    path = ROOT / "src" / package.replace(".", "/") / "__init__.py"
    if not path.exists():
        return False
    tree = ast.parse(path.read_text())
    found = {n for i in tree.body if isinstance(i, ast.Import | ast.ImportFrom) for n, _ in bindings(i, package)}
    return name in found | {n for node in tree.body for n in names_defined(node)}


def import_line(bound: str, module: str, name: str | None) -> str:
    """Return one import."""
    if name is None:
        return f"import {module}" + (f" as {bound}" if bound != module.partition(".")[0] else "")
    return f"from {module} import {name}" + (f" as {bound}" if bound != name else "")


def paths_of(name: str) -> tuple[str, str]:
    """Return how texts name the file of a module, and of a module of no package but the top."""
    path = name.removeprefix("discreet.").replace(".", "/")
    return f"{path}.py", path


def rewrite(into: str, names: list[str], renames: dict[str, dict[str, str]]) -> None:
    """Let everybody import from the merged module."""
    moved = [name for name in names if name != into]
    own = {file_of(name) for name in names}
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    files = [ROOT / each for each in listed.split("\0") if each]
    for path in files:
        if path in own or not path.is_file() or not any(path.match(kind) for kind in TEXTS):
            continue
        if path.name == "CHANGELOG.md" or "docs/notes" in path.as_posix():
            continue
        before = text = path.read_text()
        if not any(each in text for name in names for each in (name, name.rpartition(".")[0], *paths_of(name))):
            continue
        if path.suffix == ".py" and path.relative_to(ROOT).parts[0] in CODE:
            text = module_imports(text, set(names), renames, into)
        for name in moved:
            text = re.sub(rf"(?<![\w.]){re.escape(name)}(?!\w)", into, text)
            old, new = (each.removeprefix("discreet.").replace(".", "/") + ".py" for each in (name, into))
            text = re.sub(rf"(?<![\w/])((?:src/discreet/|discreet/)?){re.escape(old)}(?!\w)", rf"\g<1>{new}", text)
        if text != before:
            path.write_text(text)


def module_imports(text: str, merged: set[str], renames: dict[str, dict[str, str]], into: str) -> str:
    """Return a module that imports merged modules as such, or names of theirs that changed, rewritten."""
    source = Source(text)
    renamer = Renamer(source)
    parent, _, last = into.rpartition(".")
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.ImportFrom):
            continue
        spaces = " " * node.col_offset
        out = []
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"
            if whole in merged and not exported(node.module or "", alias.name):
                if alias.asname or whole == into:
                    line = f"from {parent} import {last}"
                    line += f" as {alias.asname}" if alias.asname not in {None, last} else ""
                else:
                    bound = {n.id for n in ast.walk(source.tree) if isinstance(n, ast.Name)} - {alias.name}
                    if last in bound or any(last in local_names(s) for s in ast.walk(source.tree) if isinstance(s, ast.FunctionDef | ast.Lambda)):
                        line = f"from {parent} import {last} as {alias.name}"
                    else:
                        line = f"from {parent} import {last}"
                        renamer.rename(alias.name, last)
                for old, new in renames.get(whole, {}).items():
                    for use in ast.walk(source.tree):
                        if isinstance(use, ast.Attribute) and isinstance(use.value, ast.Name) and use.value.id == (alias.asname or alias.name) and use.attr == old:
                            start, end = source.span(use)
                            renamer.edits.append(Edit(end - len(old), end, new))
                out.append(line)
            elif node.module in merged:
                new = renames.get(node.module, {}).get(alias.name, alias.name)
                if new != alias.name and alias.asname is None:
                    renamer.rename(alias.name, new)
                out.append(f"from {into} import {new}" + (f" as {alias.asname}" if alias.asname else ""))
            else:
                out.append(f"from {node.module} import {alias.name}" + (f" as {alias.asname}" if alias.asname else ""))
        plain = [f"from {node.module} import {a.name}" + (f" as {a.asname}" if a.asname else "") for a in node.names]
        if out != plain and node.level == 0:
            renamer.edits.append(Edit(*source.span(node), f"\n{spaces}".join(dict.fromkeys(out))))
    return source.edited(renamer.edits) if renamer.edits else text


def main() -> None:
    """Merge as told on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", required=True)
    parser.add_argument("--doc")
    parser.add_argument("--rename", action="append", default=[], help="MODULE:OLD=NEW")
    parser.add_argument("--dry", action="store_true", help="only say what stands in the way")
    parser.add_argument("parts", nargs="*")
    options = parser.parse_args()
    renames: dict[str, dict[str, str]] = defaultdict(dict)
    for each in options.rename:
        module, _, pair = each.partition(":")
        old, _, new = pair.partition("=")
        renames[module][old] = new
    merge(options.into, options.parts or modules_below(options.into), renames, options.doc, dry=options.dry)


if __name__ == "__main__":
    main()
