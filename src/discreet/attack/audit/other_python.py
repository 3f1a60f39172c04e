"""A mechanism that lives in another environment: its own Python runs it, outputs come back as text.

The other side needs no package of ours: a few lines of the standard library are handed to it. Only plain
values cross (numbers, texts, lists, tables); whatever else comes back crosses as its `repr`.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.attack.audit.features import Outputs, as_outputs
from discreet.attack.audit.target import DEFAULT_PAIRS, Target, split_target
from discreet.errors import InvalidInput

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
