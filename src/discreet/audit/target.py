"""The function under audit, as its file describes it: neighbours, claim, and how it is called, here or in another Python.

Another environment's own Python runs it, and outputs come back as text.
The other side needs no package of ours: a few lines of the standard library are handed to it. Only plain
values cross (numbers, texts, lists, tables); whatever else comes back crosses as its `repr`.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from discreet.audit.features import Outputs, as_outputs
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


_WORKER = r"""
import importlib.util, inspect, json, sys
said, sys.stdout = sys.stdout, sys.stderr
path, name, pairs = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
def plain(x):
    if hasattr(x, "tolist"): x = x.tolist()
    if isinstance(x, dict): return {"t": [[plain(k), plain(v)] for k, v in x.items()]}
    if isinstance(x, (list, tuple)): return [plain(v) for v in x]
    if x is None or isinstance(x, (bool, int, float, str)): return x
    return repr(x)
def tell(x): said.write(json.dumps(x) + "\n"); said.flush()
try:
    sys.path.insert(0, sys.argv[4])
    spec = importlib.util.spec_from_file_location("audited", path)
    module = importlib.util.module_from_spec(spec); spec.loader.exec_module(module)
    function = getattr(module, name)
    given = getattr(module, "NEIGHBOURS", None)
    if given is not None: pairs = list(given) if isinstance(given, list) else [given]
    sized = "size" in inspect.signature(function).parameters
    number = lambda n: None if getattr(module, n, None) is None else float(getattr(module, n))
    tell({"pairs": [[repr(a), repr(b)] for a, b in pairs], "guessed": given is None,
          "epsilon": number("EPSILON"), "delta": number("DELTA")})
    for line in sys.stdin:
        pair, side, size = json.loads(line)
        data = pairs[pair][side]
        many = function(data, size=size) if sized else [function(data) for _ in range(size)]
        tell([plain(one) for one in (many.tolist() if hasattr(many, "tolist") else many)])
except Exception as error:
    tell({"error": type(error).__name__ + ": " + str(error)})
"""


@dataclass(frozen=True, slots=True)
class OtherInput:
    """One of two neighbours, which only the other side has; `words` is how it looks there."""

    pair: int
    side: int
    words: str

    def __repr__(self) -> str:
        return self.words


class OtherPython:
    """A running interpreter that samples one mechanism."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def hear(self) -> Any:
        """Return the next thing it says."""
        assert self._process.stdout is not None, "it was opened with pipes"
        line = self._process.stdout.readline()
        if not line:
            raise InvalidInput("The other Python ended before it answered.")
        found = json.loads(line)
        if isinstance(found, dict) and "error" in found:
            raise InvalidInput(f"The mechanism could not be run there: {found['error']}")
        return found

    def sample(self, data: OtherInput, size: int) -> Outputs:
        """Return independent outputs on one of its inputs."""
        assert self._process.stdin is not None, "it was opened with pipes"
        try:
            self._process.stdin.write(json.dumps([data.pair, data.side, size]) + "\n")
            self._process.stdin.flush()
        except OSError:
            raise InvalidInput("The other Python has ended.") from None
        return as_outputs([_opened(one) for one in self.hear()])


def _opened(one: Any) -> Any:
    if isinstance(one, dict):
        return {_key(key): _opened(value) for key, value in one["t"]}
    return [_opened(each) for each in one] if isinstance(one, list) else one


def _key(key: Any) -> Any:
    return tuple(_key(each) for each in key) if isinstance(key, list) else key


@contextmanager
def other_target(where: str, python: Path) -> Iterator[Target]:
    """Lend the target that "FILE.py:FUNCTION" names, run by another Python; it ends with the block."""
    path, name = split_target(where)
    if not path.is_file():
        raise InvalidInput(f"There is no file '{path}'.")
    pairs = json.dumps([list(pair) for pair in DEFAULT_PAIRS])
    command = [str(python), "-c", _WORKER, str(path), name, pairs, str(path.parent.resolve())]
    try:
        process = subprocess.Popen(  # noqa: S603  # what the user asked to run
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
    except OSError:
        raise InvalidInput(
            f"'{python}' cannot be run.", hint="Name a Python interpreter, as in .venv/bin/python."
        ) from None
    with process:
        try:
            yield _target(OtherPython(process), name)
        finally:
            process.kill()


def _target(other: OtherPython, name: str) -> Target:
    said = other.hear()
    pairs = tuple(
        (OtherInput(i, 0, first), OtherInput(i, 1, second))
        for i, (first, second) in enumerate(said["pairs"])
    )
    return Target(
        name=name,
        function=other.sample,
        pairs=pairs,
        guessed_pairs=said["guessed"],
        epsilon=said["epsilon"],
        delta=said["delta"] or 0.0,
    )
