"""Small ideas that are written once: the names of arrays."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import rooms

import discreet

HOUSE = Path(discreet.__file__).resolve().parent
ARRAYS = "core/arrays.py"
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


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def test_each_idea_is_written_once():
    assert own_arrays(HOUSE) == []


BAD = {
    "an alias of arrays": "Reals = npt.NDArray[np.float64]",
    "an alias with its type": "Mask: TypeAlias = NDArray[np.bool_]",
    "an annotation": "def f(x: list[npt.NDArray[np.int64]]):\n    pass",
    "numpy's long form": "x: np.ndarray[Any, np.dtype[np.int64]]",
}
GOOD = {
    "a second name that says more": "Tally: TypeAlias = Integers",
    "other arrays": "Codes = npt.NDArray[np.int32]",
    "any array": "def f(x: npt.NDArray[Any], y: npt.ArrayLike):\n    pass",
}


@pytest.mark.parametrize("what", [*BAD, *GOOD])
def test_the_check_sees_what_it_should(tmp_path, what):
    for place in ("plan/x.py", ARRAYS):
        path = tmp_path / place
        path.parent.mkdir(parents=True)
        path.write_text({**BAD, **GOOD}[what] + "\n", encoding="utf-8")
    found = [each.partition(":")[0] for each in own_arrays(tmp_path)]
    assert found == (["plan/x.py"] if what in BAD else [])
