"""The function under audit, as its file describes it: neighbours, claim, and how it is called."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from discreet.attack.audit.features import Outputs, as_outputs
from discreet.errors import DiscreetError, InvalidInput

Pair = tuple[Any, Any]

DEFAULT_PAIRS: tuple[Pair, ...] = (
    ([1] * 10, [1] * 9),
    ([0] * 9 + [1], [0] * 9),
    ([0] * 10, [0] * 9),
)
"""Tried when a file names no neighbours: one person more or less among ten."""


@dataclass(frozen=True, slots=True)
class Canaries:
    """What one-run auditing needs: rows that are always in, rows that a coin puts in, and a score."""

    base: Sequence[Any]
    rows: Sequence[Any]
    score: Callable[[Any, Any], float]


@dataclass(frozen=True, slots=True)
class Target:
    """A mechanism: `sample(data, size)` gives that many independent outputs."""

    name: str
    function: Callable[..., Any]
    pairs: tuple[Pair, ...]
    guessed_pairs: bool
    epsilon: float | None = None
    delta: float = 0.0
    canaries: Canaries | None = None

    def sample(self, data: Any, size: int) -> Outputs:
        """Return independent outputs on `data`."""
        try:
            return self._sample(data, size)
        except DiscreetError:
            raise
        except Exception as error:  # noqa: BLE001 whatever the user's own function may raise
            raise InvalidInput(
                f"'{self.name}' could not be run: {type(error).__name__}: {error}",
                hint="A mechanism that fails on some inputs must return that as an output.",
            ) from None

    def _sample(self, data: Any, size: int) -> Outputs:
        if "size" in inspect.signature(self.function).parameters:  # one call gives many outputs
            found = as_outputs(self.function(data, size=size))
            if len(found) != size:
                raise InvalidInput(
                    f"'{self.name}' was asked for {size} outputs and returned {len(found)}.",
                    hint="With a parameter called size it must return that many, else leave it out.",
                )
            return found
        return as_outputs([self.function(data) for _ in range(size)])


def split_target(where: str) -> tuple[Path, str]:
    """Return file and function of "FILE.py:FUNCTION"."""
    path, _, name = where.rpartition(":")
    if not path or not name:
        raise InvalidInput(
            f"'{where}' does not name a function.",
            hint="Write FILE.py:FUNCTION, as in my.py:count.",
        )
    return Path(path), name


def load_target(where: str) -> Target:
    """Return the target that "FILE.py:FUNCTION" names, with what the file says about it.

    The file may define NEIGHBOURS (a pair, or a list of pairs), EPSILON and DELTA (the claim), and
    for one-run auditing BASE, CANARIES and score(output, canary).
    """
    path, name = split_target(where)
    module = _import(path)
    function = getattr(module, name, None)
    if not callable(function):
        raise InvalidInput(f"'{path}' has no function '{name}'.")
    given = getattr(module, "NEIGHBOURS", None)
    return Target(
        name=name,
        function=function,
        pairs=DEFAULT_PAIRS if given is None else _pairs(given),
        guessed_pairs=given is None,
        epsilon=_number(module, "EPSILON"),
        delta=_number(module, "DELTA") or 0.0,
        canaries=_canaries(module),
    )


def _import(path: Path) -> ModuleType:
    if not path.is_file():
        raise InvalidInput(f"There is no file '{path}'.")
    spec = importlib.util.spec_from_file_location(f"audited_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise InvalidInput(f"'{path}' is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent.resolve()))  # so that it finds its neighbours, as when run
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # noqa: BLE001 whatever the user's own file may raise
        raise InvalidInput(
            f"'{path}' cannot be imported: {type(error).__name__}: {error}"
        ) from None
    finally:
        sys.path.pop(0)
    return module


def _pairs(given: Any) -> tuple[Pair, ...]:
    pairs = tuple(given) if isinstance(given, list) else (given,)
    if not pairs or any(not isinstance(pair, tuple) or len(pair) != 2 for pair in pairs):
        raise InvalidInput("NEIGHBOURS must be a tuple of two inputs, or a list of such tuples.")
    return pairs


def _number(module: ModuleType, name: str) -> float | None:
    value = getattr(module, name, None)
    if value is None:
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InvalidInput(f"{name} must be a number.") from None


def _canaries(module: ModuleType) -> Canaries | None:
    rows, score = getattr(module, "CANARIES", None), getattr(module, "score", None)
    if rows is None or not callable(score):
        return None
    return Canaries(list(getattr(module, "BASE", ())), list(rows), score)
