"""Where an attack is played: a town in a folder of its own, and a curator of it to ask."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from discreet.api import Curator
from discreet.api import open as open_curator
from discreet.examples import Town, town


@contextmanager
def staged(people: int, *, tables: Sequence[str], **more: int) -> Iterator[Town]:
    """Yield a town that exists until the block ends: its budget is nobody's but the attack's.

    `more` are seed and sizes, as `town` takes them.
    """
    with tempfile.TemporaryDirectory(prefix="discreet-attack-") as folder:
        yield town(people, folder=folder, tables=tables, **more)


@contextmanager
def curated(toml: Path, *, epsilon: float) -> Iterator[Curator]:
    """Yield the curator of a staged town after its owner set every dataset's total to `epsilon`."""
    text = toml.read_text(encoding="utf-8")
    toml.write_text(text.replace("epsilon = 1.0\n", f"epsilon = {epsilon!r}\n"), encoding="utf-8")
    with open_curator(toml) as curator:
        yield curator
