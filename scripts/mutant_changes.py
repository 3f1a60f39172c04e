"""The small mistakes that scripts/mutants.py plants: which there are in a module, and how one is put in.

A mutant is one token changed: a comparison, an arithmetic or boolean operator, a number, a condition turned round, a
`raise` left out; decorators and annotations are left alone.
"""

from __future__ import annotations

import ast
import gc
import inspect
import json
import random
import types
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMPARED = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is"}  # fmt: skip
COMPUTED = {ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.FloorDiv: "*", ast.Div: "*", ast.Mod: "*", ast.LShift: ">>", ast.RShift: "<<", ast.Pow: "*"}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change: in which function, the how-manieth of its kind there, from what to what; and where that is today."""

    room: str
    file: str
    inside: str
    nth: int
    was: str
    now: str
    line: int = field(compare=False)
    column: int = field(compare=False)

    def as_key(self) -> str:
        """Return what names it whatever is written above it."""
        return json.dumps([self.file, self.inside, self.nth, self.was, self.now])


def mutants_of(room: str, path: Path) -> Iterator[Mutant]:
    """Yield every change of a module, in the order of its text."""
    text = path.read_text(encoding="utf-8")
    whole, starts = text.encode(), [0]
    for each in whole.splitlines(keepends=True):
        starts.append(starts[-1] + len(each))
    seen: Counter[tuple[str, str, str]] = Counter()
    name = path.relative_to(ROOT).as_posix()
    for inside, node, now in _placed(ast.parse(text), ""):
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        first = starts[node.lineno - 1] + node.col_offset
        was = whole[first : starts[node.end_lineno - 1] + node.end_col_offset].decode()
        if was and was != now:
            seen[inside, was, now] += 1
            yield Mutant(room, name, inside, seen[inside, was, now], was, now, node.lineno, node.col_offset)  # fmt: skip


def _placed(tree: ast.AST, inside: str) -> Iterator[tuple[str, ast.expr | ast.stmt, str]]:
    aside = {*getattr(tree, "decorator_list", ()), getattr(tree, "annotation", None), getattr(tree, "returns", None)}  # fmt: skip
    for node in ast.iter_child_nodes(tree):
        if node in aside:
            continue
        for target, now in _changes(node):
            yield inside, target, now
        named = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        yield from _placed(node, f"{inside}.{node.name}".strip(".") if named else inside)


def _changes(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    match node:
        case ast.Compare(ops=[op], left=left, comparators=[right]) if type(op) in COMPARED:
            yield node, f"{ast.unparse(left)} {COMPARED[type(op)]} {ast.unparse(right)}"
        case ast.BinOp(left=left, op=op, right=right) if type(op) in COMPUTED:
            if not isinstance(left, ast.Constant) or not isinstance(left.value, str):
                yield node, f"({ast.unparse(left)} {COMPUTED[type(op)]} {ast.unparse(right)})"
        case ast.BoolOp(op=op, values=values):
            word = " or " if isinstance(op, ast.And) else " and "
            yield node, "(" + word.join(f"({ast.unparse(v)})" for v in values) + ")"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield node, f"({ast.unparse(operand)})"
        case ast.Constant(value=bool() as value):
            yield node, str(not value)
        case ast.Constant(value=int() as value):
            yield node, str(value + 1)
        case ast.If(test=test):
            yield test, f"not ({ast.unparse(test)})"
        case ast.Raise():
            yield node, "pass"
        case _:
            return


def changed(text: str, mutant: Mutant) -> str:
    """Return a module with one mutant in it."""
    lines = text.encode().splitlines(keepends=True)
    start = sum(map(len, lines[: mutant.line - 1])) + mutant.column
    whole = text.encode()
    was = mutant.was.encode()
    assert whole[start : start + len(was)] == was, mutant
    return (whole[:start] + mutant.now.encode() + whole[start + len(was) :]).decode()


def drawn(room: str, count: int | None, seed: int) -> list[Mutant]:
    """Return the first `count` of a room's mutants in an order that the seed alone decides."""
    files = sorted((ROOT / "src" / "discreet" / "privacy" / room).rglob("*.py"))
    found = [mutant for path in files for mutant in mutants_of(room, path)]
    random.Random(f"{seed} {room}").shuffle(found)
    return found[:count]


def exchange(mutant: Mutant) -> bool:
    """Put a mistake into the functions of this process; False if it runs on import only."""
    path = ROOT / mutant.file
    text = path.read_text(encoding="utf-8")
    clean, wrong = (compile(each, str(path), "exec", dont_inherit=True) for each in (text, changed(text, mutant)))  # fmt: skip
    if not _same(clean, wrong, outside=True):
        return False
    both = zip(_functions(clean), _functions(wrong), strict=True)
    pairs = [(old, new) for old, new in both if not _same(old, new)]
    assert len(pairs) <= 1, mutant
    planted = not pairs
    gc.unfreeze()  # what the tests' conftest keeps out of the collector's sight is looked for, too
    for function in [each for each in gc.get_objects() if isinstance(each, types.FunctionType)]:
        for old, new in pairs:
            code = function.__code__
            if code.co_firstlineno == old.co_firstlineno and code.co_filename == str(path) and _same(code, old):  # fmt: skip
                function.__code__ = new
                planted = True
    return planted  # a generator of a module's own has run by now, and is no function


def _functions(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield the functions that importing a module makes, those of its classes among them."""
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from (each,) if each.co_flags & inspect.CO_OPTIMIZED else _functions(each)


def _same(one: types.CodeType, other: types.CodeType, *, outside: bool = False) -> bool:
    """Return whether two codes do the same; from outside, what their functions do counts for nothing."""
    if (one.co_code, one.co_names, len(one.co_consts)) != (other.co_code, other.co_names, len(other.co_consts)):  # fmt: skip
        return False
    for a, b in zip(one.co_consts, other.co_consts, strict=True):
        if isinstance(a, types.CodeType) and isinstance(b, types.CodeType):
            if not (outside and a.co_flags & inspect.CO_OPTIMIZED) and not _same(a, b, outside=outside):  # fmt: skip
                return False
        elif (type(a), repr(a)) != (type(b), repr(b)):
            return False
    return True
