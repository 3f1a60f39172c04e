"""Small ideas that are written once: the names of arrays, and what puts marks around words in SQL."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import rooms

import discreet

HOUSE = Path(discreet.__file__).resolve().parent
ARRAYS = "base/arrays.py"
NAMED = {"bool": "Bits", "bool_": "Bits", "int64": "Integers", "float64": "Floats"}
"""What an array may hold, as numpy spells it, and the name that core has for such arrays."""


def own_arrays(root: Path) -> list[str]:
    """Return where a type of arrays that core names is spelled out, as an alias or in an annotation."""
    found = []
    for path, file in rooms.files(root):
        if file == ARRAYS or not any(
            word in path.read_text("utf-8") for word in ("NDArray", "dtype[")
        ):
            continue
        for node in ast.walk(rooms.parsed(path)):
            name = _held(node)
            if name in NAMED:
                found.append(f"{file}:{node.lineno} spells {NAMED[name]} of {ARRAYS}")
    return found


def _held(node: ast.AST) -> str:
    """Return what an `NDArray[...]` holds, or the `dtype[...]` of an ndarray."""
    if isinstance(node, ast.Subscript) and _last(node.value) in {"NDArray", "dtype"}:
        return _last(node.slice)
    return ""


QUOTING = "data/engines/dialects.py"
MARKS = {("'", "''"), ("'", "\\'"), ('"', '""'), ("`", "``")}
"""Marks within a word, and what SQL writes for them."""
MAY_QUOTE = re.compile("\\breplace\\(")


def own_quoting(root: Path) -> list[str]:
    """Return where a text or a name is made a part of SQL by hand."""
    return [
        f"{file}:{node.lineno} quotes by hand: {QUOTING} does"
        for path, file in rooms.files(root)
        if file != QUOTING and MAY_QUOTE.search(path.read_text("utf-8"))
        for node in ast.walk(rooms.parsed(path))
        if isinstance(node, ast.Call) and _constants(node) in MARKS
    ]


def _constants(call: ast.Call) -> tuple[object, ...]:
    """Return what a `.replace(...)` is called with, if these are constants."""
    if not (isinstance(call.func, ast.Attribute) and call.func.attr == "replace"):
        return ()
    return tuple(each.value for each in call.args if isinstance(each, ast.Constant))


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


CHECKS = {own_arrays: ARRAYS, own_quoting: QUOTING}
"""Each check, and the one file that may."""


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_each_idea_is_written_once(check):
    assert check(HOUSE) == []


BAD = {
    "an alias of arrays": (own_arrays, "Reals = npt.NDArray[np.float64]"),
    "an alias with its type": (own_arrays, "Mask: TypeAlias = NDArray[np.bool_]"),
    "an annotation": (own_arrays, "def f(x: list[npt.NDArray[np.int64]]):\n    pass"),
    "numpy's long form": (own_arrays, "x: np.ndarray[Any, np.dtype[np.int64]]"),
    "a text": (own_quoting, """x = "'" + value.replace("'", "''") + "'\""""),
    "a text for Spark": (own_quoting, r"""x = value.replace("\\", "\\\\").replace("'", "\\'")"""),
    "a name": (own_quoting, """x = '"' + name.replace('"', '""') + '"'"""),
    "a name for Spark": (own_quoting, "x = name.replace('`', '``')"),
}
GOOD = {
    "a second name that says more": (own_arrays, "Tally: TypeAlias = Integers"),
    "other arrays": (own_arrays, "Codes = npt.NDArray[np.int32]"),
    "any array": (own_arrays, "def f(x: npt.NDArray[Any], y: npt.ArrayLike):\n    pass"),
    "reading what is quoted": (own_quoting, """x = written[1:-1].replace('""', '"')"""),
    "another replacement": (own_quoting, """x = text.replace("'", " ")"""),
}


@pytest.mark.parametrize("what", [*BAD, *GOOD])
def test_the_check_sees_what_it_should(tmp_path, what):
    check, text = {**BAD, **GOOD}[what]
    for place in ("ask/plan/x.py", CHECKS[check]):
        path = tmp_path / place
        path.parent.mkdir(parents=True)
        path.write_text(text + "\n", encoding="utf-8")
    found = [each.partition(":")[0] for each in check(tmp_path)]
    assert found == (["ask/plan/x.py"] if what in BAD else [])
