"""`discreet.init(FILE)`: a discreet.toml proposed for the owner to review."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from discreet.catalog.propose.propose import InitRequest, propose_file, summary
from discreet.core.numbers import Delta, Epsilon, Number


def init(
    *files: str | Path,
    out: str | Path = "discreet.toml",
    epsilon: Number | Epsilon | None = None,
    delta: Number | Delta | None = None,
    unit: str | None = None,
    dataset: str | None = None,
    accept: bool = False,
    force: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Return what was proposed for these files or tables, after writing it as a discreet.toml."""
    wish = InitRequest(
        words=tuple(str(file) for file in files),
        out=Path(out),
        epsilon=None if epsilon is None else Epsilon.of(epsilon),
        delta=None if delta is None else Delta.of(delta),
        unit=unit,
        dataset=dataset,
        accept=accept,
        force=force,
    )
    return summary(propose_file(wish, progress=progress), Path(out))
