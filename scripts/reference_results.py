"""Which classes the public functions hand out: found by their return annotations, for the Python reference."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from enum import Enum
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

INSIDE = tuple(
    f"discreet.{room}."
    for room in (
        "data.catalog",
        "base.numbers",
        "base.requests",
        "base.schema",
        "base.unit",
        "data.engines",
        "privacy.kernel",
        "work.learn.features",
        "work.learn.learners.dp_sgd",
        "work.learn.private_rows",
        "privacy.ledger",
        "privacy.noise",
        "ask.release.desk",
        "work.synth.encoding",
        "measure",
        "work.synth.models",
    )
)
"""What results hold but nobody needs to call: it may change at any time."""


def result_types(public: dict[str, Any]) -> dict[str, type]:
    """Return the classes that public functions and methods return, and their fields, by their path.

    What is public itself is left out: it has its place on the page already.
    """
    listed = {thing for thing in public.values() if inspect.isclass(thing)}
    found: dict[type, None] = {}
    waiting = [each for thing in public.values() for each in _returned(thing)]
    while waiting:
        kind = waiting.pop()
        if kind not in listed and kind not in found:
            found[kind] = None
            waiting += _returned(kind)
    held = {each for kind in (*listed, *found) for each in _fields(kind)}
    kinds = (found.keys() | held) - listed
    return {f"{kind.__module__}.{kind.__qualname__}": kind for kind in kinds}


def _returned(thing: Any) -> Iterator[type]:
    """Yield the classes of this package in the return annotations of a function, or of a class's methods."""
    if inspect.isclass(thing):
        for name, raw in inspect.getmembers_static(thing):
            if not name.startswith("_"):
                yield from _returned(_function_of(raw))
    elif inspect.isfunction(thing):
        yield from _named_in(thing.__annotations__.get("return", ""), thing.__module__)


def _fields(kind: type) -> Iterator[type]:
    for each in kind.__mro__:
        for name, annotation in vars(each).get("__annotations__", {}).items():
            if not name.startswith("_"):
                yield from _named_in(annotation, each.__module__)


def _named_in(annotation: Any, module: str) -> Iterator[type]:
    for word in re.findall(r"\w+", str(annotation)):
        meant = _meant(sys.modules[module], word)
        yield from (kind for kind in (meant, *get_args(meant)) if _is_result(kind))


def _function_of(raw: Any) -> Any:
    if isinstance(raw, classmethod | staticmethod):
        return raw.__func__
    if isinstance(raw, property):
        return raw.fget
    return getattr(raw, "func", raw)  # of a cached property


def _is_result(kind: Any) -> bool:
    if not inspect.isclass(kind) or issubclass(kind, Enum | Exception):
        return False
    room = f"{kind.__module__}."
    return room.startswith("discreet.") and not room.startswith(INSIDE)


def _meant(module: Any, word: str) -> Any:
    """Return what a name means in a module; some are imported for type checkers alone."""
    if hasattr(module, word):
        return getattr(module, word)
    home = _imported(module.__file__).get(word)
    return None if home is None else getattr(import_module(home), word, None)


@cache
def _imported(path: str) -> dict[str, str]:
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    return {
        alias.asname or alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("discreet")
        for alias in node.names
    }
