"""Functions, methods and classes of src that nothing in src uses: `make lint` fails on a new one.

What only tests use is no product. Names that are called from outside are listed below, with why.
"""

from __future__ import annotations

import ast
import gc
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from vulture.core import Vulture

ROOT = Path(__file__).resolve().parent.parent
CALLED_BY_FRAMEWORKS = [
    "@router.*",
    "@app.command*",
    "@app.callback*",
    "@property",
]
NAMES = {
    "Python and notebooks call them": {
        "__getattr__", "__dir__", "__format__", "__reduce_ex__", "__init_subclass__", "__deepcopy__", "_repr_html_",
        "_repr_mimebundle_", "readinto", "writable",
    },
    "asyncio calls them": {
        "connection_made", "data_received", "eof_received", "connection_lost", "pause_writing",
        "resume_writing",
    },
    "urllib calls them": {"redirect_request", "http_open", "https_open"},
    "scikit-learn's habits": {
        "predict_proba", "set_params", "fit_transform", "inverse_transform", "score",
    },
    "commands, found by the name of their module": {"demo", "synth", "completion", "course"},
    "a template of children calls it, in the module that it is told": {"prepare"},
    "accountants and mechanisms for Python users": {
        "PldAccountant", "total_delta", "zcdp", "renyi", "SparseVector", "above_threshold",
        "permute_and_flip_rows", "report_noisy_max_rows", "coin_epsilon", "appearance_bounds",
        "coverage", "joint_half_width", "joint_failure",
    },
    "devices of Python users, and kits of the tests": {
        "to_cbor", "words_for", "squared_error", "left_over",
        "contains", "with_facts",
    },
}  # fmt: skip
FOUND_BY_NAME = {"make", "compare", "NEIGHBOURS"}
"""Of the modules that a child process runs, and of a file that is audited."""


def unused() -> list[str]:
    """Return every definition that nothing uses, as FILE:LINE name."""
    known = [name for names in NAMES.values() for name in sorted(names)]
    judge = Vulture(ignore_names=known, ignore_decorators=CALLED_BY_FRAMEWORKS)
    judge.scavenge([str(ROOT / "src")])
    found = [*judge.unused_funcs, *judge.unused_methods, *judge.unused_classes]
    return sorted(
        f"{item.filename.relative_to(ROOT)}:{item.first_lineno} {item.name}" for item in found
    )


def alone() -> list[str]:
    """Return what its module names once and nobody imports: others of the same name hide it from `unused`."""
    modules = {path: path.read_text("utf-8") for path in sorted((ROOT / "src").rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in modules.items()}
    nodes = [node for tree in trees.values() for node in ast.walk(tree)]
    imported = {
        (node.module, name.name)
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    reached = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    known = reached.union(*NAMES.values()) | FOUND_BY_NAME
    return [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path, tree in trees.items()
        for name, line in _defined(tree)
        if name not in known
        and (_module(path), name) not in imported
        and len(re.findall(rf"\b{name}\b", modules[path])) == 1
    ]


def _defined(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if not node.decorator_list:
                yield node.name, node.lineno
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for to in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(to, ast.Name) and not to.id.startswith("__"):
                    yield to.id, node.lineno


def _module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")


def main() -> int:
    """Print what is dead; return 1 if anything is."""
    gc.disable()  # a million nodes, none of them garbage: a quarter of the time
    found = [*unused(), *alone()]
    for line in found:
        print(f"{line}: nothing uses it")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
